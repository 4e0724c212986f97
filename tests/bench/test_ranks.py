"""Ranks against one: medians of all epochs but the first of each training."""

from __future__ import annotations

import pytest

from spgnn_dgl.bench import ranks


@pytest.mark.parametrize(("several", "holds"), [(170.0, True), (169.0, False)])
def test_rates_are_compared_without_the_first_epochs(monkeypatch, tmp_path, several, holds):
    def rates(home, count, epochs, batch_size):
        rate = 100.0 if count == 1 else several
        return [(9999.0, 9999.0)] + [(rate, 2 * rate)] * (epochs - 1)

    monkeypatch.setattr(ranks, "rates_of_epochs", rates)
    rows = list(ranks.measure(tmp_path, rounds=2, epochs=3))
    assert [row.ratio for row in rows] == [pytest.approx(several / 100)] * 4
    assert {row.holds for row in rows} == {holds}
    assert (rows[0].ours, rows[0].theirs) == (f"{several:.0f}/s", "100/s")
    assert (rows[1].ours, rows[1].theirs) == (f"{2 * several:.0f}/s", "200/s")
    assert "batches of 100" in rows[2].what
