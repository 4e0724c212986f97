"""The measurement of ``tools/bench.py kernels`` compares matrices that agree."""

from __future__ import annotations

import numpy as np
import pytest

from spgnn_dgl.bench.kernels import _row, our_matrix, their_matrix
from tests.conftest import random_dataset


@pytest.mark.parametrize("name", ["wl", "sp", "pk"])  # GraKeL's rw counts other pairs, see its test
def test_what_is_timed_is_the_same_matrix(name: str) -> None:
    pytest.importorskip("grakel")
    data = random_dataset(6, num_labels=3)
    data = data[data.edge_counts > 0]  # where there is no path, GraKeL's sp divides by zero
    # the two draw pk's hash on their own, so that single distributions fall together in one and not in the other
    atol = 0.2 if name == "pk" else 1e-6
    np.testing.assert_allclose(our_matrix(data, name), their_matrix(data, name)(), atol=atol)


def test_a_row_has_both_times_and_their_ratio() -> None:
    pytest.importorskip("grakel")
    row = _row(random_dataset(4, num_labels=2), "rw", rounds=1)
    assert row.what.endswith("the matrix of rw")
    assert row.theirs.startswith("GraKeL")
    assert row.ratio > 0
