"""Training options that cannot be."""

from __future__ import annotations

import pytest

from spgnn_dgl.errors import OptionError
from spgnn_dgl.training import TrainingOptions


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"epochs": 0}, "epochs=0"),
        ({"batch_size": 0}, "batch_size=0"),
        ({"lr": -1.0}, "lr=-1.0"),
        ({"lr": float("nan")}, "lr=nan"),
        ({"weight_decay": -0.1}, "weight_decay=-0.1"),
        ({"clip": 0}, "clip=0"),
        ({"schedule": "cosinus"}, "constant, cosine, step"),
        ({"device": "tpu"}, "auto, cpu, cuda"),
        ({"threads": 0}, "threads=0"),
    ],
)
def test_impossible_options_are_refused(options, message):
    with pytest.raises(OptionError, match=message):
        TrainingOptions(**options)
