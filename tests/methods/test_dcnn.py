"""DCNN: its options."""

from __future__ import annotations

import pytest

from spgnn_dgl.errors import OptionError
from spgnn_dgl.methods import make_method
from tests.conftest import random_dataset


def test_weights_per_hop_and_feature():
    data = random_dataset(10)
    method = make_method("dcnn", {"epochs": 1, "hops": 3, "pool": "sum"}).fit(data)
    assert tuple(method.net.W.shape) == (3, method.policy.spec.dim)
    assert method.net.pool == "sum"
    assert make_method("dcnn").pool == "mean"


@pytest.mark.parametrize("options", [{"hops": 0}, {"pool": "max"}])
def test_wrong_options_are_refused(options):
    with pytest.raises(OptionError, match="was given"):
        make_method("dcnn", options)
