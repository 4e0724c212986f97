"""Which nodes stay: against a loop over graphs, at ties, and under renumbering."""

from __future__ import annotations

import math

import networkx as nx
import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from spgnn_dgl.data.readers.graphs import as_dataset
from spgnn_dgl.errors import OptionError
from spgnn_dgl.nn.pool import SAGPool, top_nodes

RATIOS = [0.1, 0.5, 0.55, 0.7, 1.0]


@settings(max_examples=100, deadline=None)
@given(st.lists(st.integers(1, 12), min_size=1, max_size=6), st.sampled_from(RATIOS), st.integers(0, 9999))
def test_the_largest_scores_of_each_graph_stay(sizes, ratio, seed):
    scores = np.random.default_rng(seed).permutation(sum(sizes)).astype(np.float32)  # no ties
    expected = []
    for part in np.split(scores, np.cumsum(sizes)[:-1]):
        share = round(ratio * 100) * len(part)  # exact: in hundredths
        kept = np.sort(part)[-math.ceil(share / 100) :]
        expected.extend(np.isin(part, kept))
    given_scores = torch.from_numpy(scores)
    for ties in ("keep", "cut"):
        got = top_nodes(given_scores, given_scores.unsqueeze(1), torch.tensor(sizes), ratio, ties)
        assert got.tolist() == expected


def test_ties_at_the_cut():
    score = torch.tensor([1.0, 3.0, 1.0, 1.0, 1.0])
    rows = torch.tensor([[0.0], [0.0], [5.0], [1.0], [2.0]])
    sizes = torch.tensor([5])
    assert top_nodes(score, rows, sizes, 0.4).tolist() == [True] * 5
    cut = top_nodes(score, rows, sizes, 0.4, "cut")
    assert int(cut.sum()) == 2
    order = torch.tensor([3, 0, 4, 2, 1])  # the same nodes under other numbers: the same node wins the tie
    assert torch.equal(top_nodes(score[order], rows[order], sizes, 0.4, "cut"), cut[order])


def test_scores_that_differ_by_rounding_tie():
    score = torch.tensor([100.0, 100.00001, 50.0])
    assert top_nodes(score, score.unsqueeze(1), torch.tensor([3]), 1 / 3).tolist() == [True, True, False]


def test_a_ring_is_never_cut():
    """All nodes of a ring are alike: two of four are a pair of neighbours or of opposites, as the numbers happen."""
    ring = nx.cycle_graph(4)
    graph = as_dataset([ring], [0]).batch([0])
    Z = torch.ones(4, 3)
    torch.manual_seed(0)
    smaller, kept = SAGPool(3, 0.5)(graph, Z)
    assert (smaller.num_nodes(), smaller.num_edges(), len(kept)) == (4, 8, 4)
    smaller, kept = SAGPool(3, 0.5, "cut")(graph, Z)
    assert (smaller.num_nodes(), len(kept)) == (2, 2)


@pytest.mark.parametrize("ratio", [0.0, -1.0, 1.5])
def test_a_ratio_is_a_share(ratio):
    with pytest.raises(OptionError, match="above 0 and at most 1"):
        SAGPool(3, ratio)


def test_an_unknown_treatment_of_ties_is_refused():
    with pytest.raises(OptionError, match="known: keep, cut"):
        SAGPool(3, 0.5, "drop")
