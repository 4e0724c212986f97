"""Ranks against one: medians over rounds in which both take their turn."""

from __future__ import annotations

import numpy as np
import pytest

from spgnn_dgl.bench import ranks


@pytest.mark.parametrize(("several", "holds"), [(170.0, True), (169.0, False)])
def test_medians_are_compared_by_the_clock_and_by_processor_time(monkeypatch, tmp_path, several, holds):
    usual = [[100.0, 200.0], [several, 2 * several], [190.0, 380.0]]
    odd = [[1.0, 1.0], [9999.0, 9999.0], [0.1, 0.1]]
    monkeypatch.setattr(ranks, "turns", lambda *how: np.array([usual, odd, usual]))
    rows = list(ranks.measure(tmp_path))
    assert [row.ratio for row in rows] == [pytest.approx(several / 100), pytest.approx(several / 100), 1.9] * len(
        ranks.BATCHES
    )
    assert [row.holds for row in rows] == [holds, holds, None] * len(ranks.BATCHES)
    assert (rows[0].ours, rows[0].theirs) == (f"{several:.0f}/s", "100/s")
    assert (rows[1].ours, rows[1].theirs) == (f"{2 * several:.0f}/s", "200/s")
    assert "batches of 100" in rows[3].what
