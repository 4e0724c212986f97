"""The runs test against all orders there are."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy.stats import norm

from spgnn_dgl.data.audit.order import label_order


@pytest.mark.parametrize("counts", [(3, 4), (2, 2, 3), (1, 6), (1, 1, 1, 4)])
def test_expectation_and_spread_are_those_over_all_orders(counts):
    labels = np.repeat(np.arange(len(counts)), counts)
    orders = np.array(sorted(set(itertools.permutations(labels.tolist()))))  # each order of equal chance
    runs = 1 + (orders[:, 1:] != orders[:, :-1]).sum(axis=1)
    for order, found in zip(orders[:: max(1, len(orders) // 7)], runs[:: max(1, len(orders) // 7)]):
        result = label_order(order)
        assert result.runs == found
        assert result.expected == pytest.approx(runs.mean())
        assert result.score == pytest.approx((found - runs.mean()) / runs.std())
        assert result.p == pytest.approx(2 * norm.sf(abs(result.score)))


def test_sorted_classes_are_told_from_shuffled_ones():
    labels = np.repeat([0, 1, 2], 50)
    assert label_order(labels).p < 1e-10
    assert label_order(labels).score < 0
    assert label_order(np.tile([0, 1, 2], 50)).score > 5
    shuffled = [label_order(np.random.default_rng(seed).permutation(labels)).p for seed in range(200)]
    assert 0.02 < np.mean(np.array(shuffled) < 0.1) < 0.2  # a tenth, give or take


@pytest.mark.parametrize("labels", [[0], [1, 1, 1], [0, 1]])
def test_where_there_is_one_number_of_runs_only(labels):
    assert label_order(np.array(labels)) is None
