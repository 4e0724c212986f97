"""Removing and keeping nodes: the graphs against networkx, the outcomes against a model that is written down."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
import torch

from spgnn_dgl.errors import DatasetError, OptionError
from spgnn_dgl.explain.faithfulness import faithfulness, highest, keep_nodes
from tests.conftest import random_dataset
from tests.explained import dataset, motif_data, motif_subject, path, written_subject


def as_networkx(data, graph):
    batch = data.batch([graph])
    made = nx.Graph()
    made.add_nodes_from((v, {"label": int(code)}) for v, code in enumerate(batch.ndata["label"]))
    made.add_edges_from(zip(*(ends.tolist() for ends in batch.edges())))
    return made


@pytest.mark.parametrize("seed", range(3))
def test_kept_nodes_make_the_induced_graphs_of_networkx(seed):
    data = random_dataset(10, seed)[np.array([7, 2, 2, 5])]  # a view, with a graph twice
    keep = np.random.default_rng(seed).random(int(data.node_counts.sum())) < 0.6
    smaller = keep_nodes(data, keep)
    for graph, mask in enumerate(np.split(keep, np.cumsum(data.node_counts)[:-1])):
        nodes = np.flatnonzero(mask) if mask.any() else np.array([0])
        expected = nx.convert_node_labels_to_integers(as_networkx(data, graph).subgraph(nodes), ordering="sorted")
        found = as_networkx(smaller, graph)
        assert found.edges == expected.edges
        assert dict(found.nodes(data="label")) == dict(expected.nodes(data="label"))
    np.testing.assert_array_equal(smaller.labels, data.labels)
    np.testing.assert_array_equal(
        keep_nodes(motif_data(), np.ones(len(motif_data().arrays.truth), bool)).arrays.truth, motif_data().arrays.truth
    )


@pytest.mark.parametrize(
    ("size", "share", "expected"), [(1, 0.5, 1), (2, 0.9, 1), (10, 0.05, 1), (10, 0.5, 5), (37, 0.2, 7)]
)
def test_the_share_is_rounded_and_never_none_or_all(size, share, expected):
    score = np.random.default_rng(0).random(size)
    chosen = highest(score, share, np.random.default_rng(0))
    assert chosen.sum() == expected
    if size > 1:
        assert score[chosen].min() > score[~chosen].max()


def test_ties_are_broken_by_chance():
    chosen = [highest(np.zeros(50), 0.1, np.random.default_rng(seed)).tolist() for seed in range(2)]
    assert chosen[0] != chosen[1]


def reading_a_label():
    """Paths of ten nodes, one of them X in class 1; the model finds it, and reads nothing else."""
    letters = "".join("C" * 4 + ("X" if label else "C") + "C" * 5 for label in [0, 1] * 6)
    data = dataset([path(10)] * 12, [0, 1] * 6, node_labels=letters)
    x = data.meta.node_label_names.index("label X")

    def importance(graph):
        return (graph.ndata["label"] == x).float().numpy()[None]

    def predict(graph):
        return [0.1, 0.9] if (graph.ndata["label"] == x).any() else [0.8, 0.2]

    return written_subject(data, importance, k=3, predict=predict)


def test_a_model_that_pools_what_it_reads_is_faithful():
    found = faithfulness(reading_a_label(), shares=(0.1,), explainers=("pooled", "degree"))
    outcome = {(o.explainer, o.operation): o for o in found.outcomes}
    assert found.accuracy.mean == 1.0
    assert found.probability.mean == pytest.approx(0.85)
    # without the X every graph looks like class 0; alone, the X carries class 1
    removed, kept = outcome["pooled", "removed"], outcome["pooled", "kept"]
    assert removed.accuracy.mean == 0.5
    assert removed.probability.mean == pytest.approx((0.8 + 0.2) / 2)
    assert kept.accuracy.mean == 1.0
    # chance takes the X in a tenth of the cases
    assert outcome["random", "removed"].accuracy.mean > 0.8
    assert removed.against_random.high < 0
    assert kept.against_random.low > 0
    assert removed.against_random.mean == pytest.approx(0.5 - outcome["random", "removed"].accuracy.mean)


def test_every_share_operation_and_explainer_is_measured_on_a_real_model():
    subject = motif_subject()
    found = faithfulness(subject, shares=(0.1, 0.5))
    assert {(o.explainer, o.operation, o.share) for o in found.outcomes} == {
        (name, operation, share)
        for name in ("pooled", "random", "degree", "saliency")
        for operation in ("removed", "kept")
        for share in (0.1, 0.5)
    }
    right = subject.probabilities().argmax(axis=1) == subject.labels
    assert found.accuracy.mean == pytest.approx(right.mean())
    for outcome in found.outcomes:
        assert outcome.accuracy.n == 15
        assert 0 <= outcome.accuracy.low <= outcome.accuracy.mean <= outcome.accuracy.high <= 1
    again = faithfulness(subject, shares=(0.1, 0.5))
    assert again == found


def test_graphs_without_a_class_and_impossible_shares_are_refused():
    with pytest.raises(OptionError, match=r"a share of 1\.5"):
        faithfulness(motif_subject(), shares=(1.5,))
    data = dataset([path(3), path(4)], [0, 1])
    subject = written_subject(data, lambda g: torch.zeros(1, g.num_nodes()), k=2)
    data.arrays.labels[1] = -1
    with pytest.raises(DatasetError, match="graph 1 has no class"):
        faithfulness(subject)
