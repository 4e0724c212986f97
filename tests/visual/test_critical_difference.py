"""The critical-difference diagram joins exactly what the difference does not separate."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from spgnn_dgl.evaluation.statistics import Ranking
from spgnn_dgl.visual.critical_difference import critical_difference, groups


def ranking(ranks, difference=1.0):
    names = tuple(f"m{i}" for i in range(len(ranks)))
    return Ranking(names, tuple(ranks), 5, 0.01, difference)


@given(st.lists(st.floats(1, 8), min_size=2, max_size=8), st.floats(0.1, 4))
def test_pairs_are_joined_exactly_where_they_are_closer_than_the_difference(ranks, difference):
    spans = groups(ranking(ranks, difference))
    for i, first in enumerate(ranks):
        for second in ranks[i + 1 :]:
            low, high = min(first, second), max(first, second)
            joined = any(start <= low and high <= end for start, end in spans)
            assert joined == (high - low < difference)


@given(st.lists(st.floats(1, 8), min_size=2, max_size=8, unique=True), st.floats(0.1, 4))
def test_no_bar_lies_inside_another(ranks, difference):
    spans = groups(ranking(ranks, difference))
    assert all(a == b or not (b[0] <= a[0] and a[1] <= b[1]) for a in spans for b in spans)


def test_every_method_is_named_with_its_rank_and_best_is_left():
    figure = critical_difference(ranking([2.5, 1.0, 4.0, 2.6], 0.5))
    texts = {text.get_text(): text for text in figure.axes[0].texts}
    for name, rank in zip(("m0", "m1", "m2", "m3"), (2.5, 1.0, 4.0, 2.6)):
        assert f"{name} ({rank:.2f})" in texts
    assert texts["m1 (1.00)"].get_position()[0] < texts["m2 (4.00)"].get_position()[0]
    bars = [line for line in figure.axes[0].lines if line.get_linewidth() == 4]
    assert len(bars) == 1
    np.testing.assert_allclose(bars[0].get_xdata(), [2.47, 2.63])
