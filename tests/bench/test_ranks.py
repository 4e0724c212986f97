"""Ranks against one: medians of all epochs but the first of each training."""

from __future__ import annotations

import pytest

from spgnn_dgl.bench import ranks


@pytest.mark.parametrize(("several", "holds"), [(170.0, True), (169.0, False)])
def test_rates_are_compared_without_the_first_epochs(monkeypatch, tmp_path, several, holds):
    monkeypatch.setattr(
        ranks, "rates_of_epochs", lambda home, count, epochs: [9999.0] + [100.0 if count == 1 else several] * epochs
    )
    (row,) = ranks.measure(tmp_path, rounds=2, epochs=3)
    assert row.ratio == pytest.approx(several / 100)
    assert row.holds is holds
    assert (row.ours, row.theirs) == (f"{several:.0f}/s", "100/s")
