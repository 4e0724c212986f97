"""The measurement of ``tools/bench.py sums`` compares sums that agree."""

from __future__ import annotations

import torch

from spgnn_dgl.bench.sums import _row, batch, candidates
from tests.conftest import random_dataset


def test_what_is_timed_are_the_same_sums() -> None:
    data = random_dataset(20)
    Y = torch.randn(batch(data).num_nodes(), 4)
    for what, (ours, theirs) in candidates(data).items():
        torch.testing.assert_close(ours(Y), theirs(Y), msg=what)


def test_a_row_has_both_times_and_their_ratio() -> None:
    data = random_dataset(20)
    row = _row("sums", data, candidates(data)["sums over graphs"], rounds=1)
    assert row.theirs.startswith("DGL")
    assert row.ratio > 0
