"""The embedded sets: what MOTIFS promises is checked with networkx, what DIGITS promises with the images."""

from __future__ import annotations

from collections import Counter

import networkx as nx
import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.model_selection import cross_val_score
from sklearn.svm import SVC

from spgnn_dgl.data.builtin import MOTIFS, digits, motifs
from spgnn_dgl.data.catalogue import DATASETS
from spgnn_dgl.data.store import GraphDataset
from spgnn_dgl.errors import OptionError


@pytest.fixture(scope="module")
def planted() -> GraphDataset:
    return motifs(num_graphs=60, seed=3)


@pytest.fixture(scope="module")
def pixels() -> GraphDataset:
    return digits()


def as_networkx(data: GraphDataset, i: int) -> nx.Graph:
    graph, _ = data[i]
    made = nx.Graph()
    made.add_nodes_from(range(graph.num_nodes()))
    made.add_edges_from(zip(*(ends.tolist() for ends in graph.edges())))
    return made


def test_the_motifs_have_equal_counts_and_two_of_them_equal_degrees():
    graphs = [nx.Graph(edges) for edges in MOTIFS.values()]
    assert {(g.number_of_nodes(), g.number_of_edges()) for g in graphs} == {(6, 8)}
    degrees = [sorted(dict(g.degree()).values()) for g in graphs]
    assert degrees[0] == degrees[1] != degrees[2]
    assert all(nx.is_biconnected(g) for g in graphs)


def test_the_truth_is_the_motif_of_the_class_and_nothing_else_is(planted):
    named = [nx.Graph(edges) for edges in MOTIFS.values()]
    for i in range(len(planted)):
        graph, label = planted[i]
        whole = as_networkx(planted, i)
        truth = np.flatnonzero(graph.ndata["truth"].numpy())
        assert nx.is_isomorphic(whole.subgraph(truth), named[int(label)])
        # the motifs are 2-connected, and every other block of the graph is an edge or one cycle
        others = [block for block in nx.biconnected_components(whole) if block != set(truth.tolist())]
        assert all(whole.subgraph(block).number_of_edges() <= len(block) for block in others)
        assert nx.is_connected(whole)


def test_classes_cannot_be_told_by_their_counts(planted):
    for counts in (planted.node_counts, planted.edge_counts):
        per_class = [Counter(counts[planted.labels == c].tolist()) for c in range(3)]
        assert per_class[0] == per_class[1] == per_class[2]


def test_the_motif_is_not_told_by_node_numbers(planted):
    first_nodes = np.array([planted[i][0].ndata["truth"][:6].float().mean() for i in range(len(planted))])
    assert 0.1 < first_nodes.mean() < 0.6  # 6 of 20 nodes are the motif


def weisfeiler_lehman_histograms(data: GraphDataset, rounds: int) -> np.ndarray:
    """Counts of 1-WL colours after each round, starting from the degrees."""
    columns: dict[tuple, int] = {}
    rows = []
    for i in range(len(data)):
        graph = as_networkx(data, i)
        colour = {node: (degree,) for node, degree in graph.degree()}
        found = Counter(colour.values())
        for _ in range(rounds):
            colour = {v: (colour[v], tuple(sorted(colour[u] for u in graph[v]))) for v in graph}
            found.update(colour.values())
        rows.append({columns.setdefault(c, len(columns)): n for c, n in found.items()})
    histogram = np.zeros((len(data), len(columns)))
    for i, row in enumerate(rows):
        histogram[i, list(row)] = list(row.values())
    return histogram


def test_neighbourhoods_tell_the_classes_but_degrees_do_not():
    data = motifs()
    degrees = weisfeiler_lehman_histograms(data, rounds=0)
    colours = weisfeiler_lehman_histograms(data, rounds=2)
    assert cross_val_score(SVC(C=10), degrees, data.labels, cv=5).mean() < 0.7
    kernel = SVC(kernel="linear")
    assert cross_val_score(kernel, np.minimum(colours, 1), data.labels, cv=5).mean() > 0.85


def test_seed_and_size():
    assert motifs(num_graphs=6, seed=5).fingerprint == motifs(num_graphs=6, seed=5).fingerprint
    assert motifs(num_graphs=6, seed=5).fingerprint != motifs(num_graphs=6, seed=6).fingerprint
    large = motifs(num_graphs=10, nodes=60)
    assert len(large) == 10
    assert large.node_counts.min() >= 55
    assert large.node_counts.max() <= 65


@pytest.mark.parametrize("wrong", [{"num_graphs": 2}, {"nodes": 15}])
def test_sizes_that_cannot_be(wrong):
    with pytest.raises(OptionError, match="give at least"):
        motifs(**wrong)


def test_the_defaults_are_registered():
    data = DATASETS.get("motifs")()
    assert (len(data), data.num_classes) == (300, 3)
    assert 15 <= data.node_counts.min() <= data.node_counts.max() <= 25
    assert data.num_node_labels == 0
    assert "DIGITS" in DATASETS


def test_digits_are_the_inked_pixels(pixels):
    bunch = load_digits()
    assert len(pixels) == 1797
    assert pixels.labels.tolist() == bunch.target.tolist()
    assert pixels.meta.class_names == tuple("0123456789")
    assert pixels.node_counts.tolist() == (bunch.images > 0).sum(axis=(1, 2)).tolist()


@pytest.mark.parametrize("i", [0, 7, 1796])
def test_a_digit_against_a_plain_loop(pixels, i):
    image = load_digits().images[i]
    nodes = [(r, c) for r in range(8) for c in range(8) if image[r, c] > 0]
    near = {
        (a, b)
        for a, (r, c) in enumerate(nodes)
        for b, (s, d) in enumerate(nodes)
        if a != b and abs(r - s) <= 1 and abs(c - d) <= 1
    }
    graph, label = pixels[i]
    assert int(label) == load_digits().target[i]
    assert set(zip(*(ends.tolist() for ends in graph.edges()))) == near
    expected = [[r / 7, c / 7, image[r, c] / 16] for r, c in nodes]
    np.testing.assert_allclose(graph.ndata["attr"].numpy(), expected, rtol=1e-6)
    names = [pixels.meta.node_label_names[code] for code in graph.ndata["label"].tolist()]
    for (r, c), name in zip(nodes, names):
        low, high = map(int, name.removeprefix("intensity ").split("–"))
        assert low <= image[r, c] <= high
