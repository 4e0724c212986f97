"""Bags of substructures against networkx and plain loops."""

from __future__ import annotations

import itertools
from collections import Counter

import networkx as nx
import numpy as np
import pytest

from spgnn_dgl.data.readers.graphs import as_dataset
from spgnn_dgl.data.store import GraphDataset
from spgnn_dgl.data.substructures.words import (
    Words,
    count_matrices,
    counts_in,
    gram,
    graphlet_counts,
    path_words,
    stack_words,
    vocabulary_of,
    wl_words,
)
from tests.conftest import random_dataset


def as_networkx(data: GraphDataset, index: int) -> nx.DiGraph:
    graph = data[index][0]
    out = nx.DiGraph()
    out.add_nodes_from((v, {"label": label}) for v, label in enumerate(graph.ndata["label"].tolist()))
    out.add_edges_from(zip(*(ends.tolist() for ends in graph.edges())))
    return out


def plain_gram(bags: list[Counter]) -> np.ndarray:
    return np.array([[sum(a[w] * b[w] for w in a) for b in bags] for a in bags], dtype=np.float64)


@pytest.mark.parametrize("labels", ["labels", "constant"])
def test_path_words_count_shortest_paths(labels: str) -> None:
    data = random_dataset(15, 5, max_nodes=10, num_labels=3)
    bags = []
    for i in range(len(data)):
        graph, bag = as_networkx(data, i), Counter()
        for u, lengths in nx.all_pairs_shortest_path_length(graph):
            for v, length in lengths.items():
                if u != v:
                    ends = (graph.nodes[u]["label"], graph.nodes[v]["label"]) if labels == "labels" else ()
                    bag[(*ends, length)] += 1
        bags.append(bag)
    (counts,) = count_matrices(path_words(data, labels=labels))
    np.testing.assert_array_equal((counts @ counts.T).toarray(), plain_gram(bags))


def test_path_words_of_graphs_without_edges() -> None:
    words = path_words(as_dataset([nx.empty_graph(1), nx.empty_graph(3)], [0, 1]))
    assert words.num_graphs == 2
    assert len(words.keys) == 0
    assert count_matrices(words)[0].shape == (2, 0)


@pytest.mark.parametrize("directed", [False, True])
def test_graphlets_are_counted_as_by_enumeration(directed: bool) -> None:
    data = random_dataset(20, 8, max_nodes=9, directed=directed)
    expected = np.zeros((len(data), 4))
    for i in range(len(data)):
        graph = nx.Graph(as_networkx(data, i))
        for three in itertools.combinations(graph, 3):
            expected[i, graph.subgraph(three).number_of_edges()] += 1
    np.testing.assert_array_equal(graphlet_counts(data), expected)


def test_graphlets_of_a_dense_graph() -> None:
    counts = graphlet_counts(as_dataset([nx.complete_graph(30), nx.star_graph(29)], [0, 1]))
    assert counts.tolist() == [[0, 0, 0, 4060], [3654, 0, 406, 0]]


def test_gram_is_the_product_of_counts() -> None:
    rng = np.random.default_rng(0)
    words = Words(40, rng.integers(0, 40, 3000), rng.zipf(1.4, (3000, 1)).astype(np.uint64) * [[1, 0]], np.ones(3000))
    words = Words(40, words.graphs, words.keys.astype(np.uint64), words.counts)
    (counts,) = count_matrices(words)
    frequencies = np.diff(counts.tocsc().indptr)
    assert (frequencies > 5).any()  # both ways of multiplying are taken
    assert (frequencies <= 5).any()
    np.testing.assert_array_equal(gram(counts, counts), counts.toarray() @ counts.toarray().T)
    np.testing.assert_array_equal(gram(counts[:7], counts[7:]), counts[:7].toarray() @ counts[7:].toarray().T)


def test_two_datasets_share_columns(tiny: GraphDataset) -> None:
    left, right = count_matrices(wl_words(tiny[:5], 1)[1], wl_words(tiny[5:], 1)[1])
    (whole,) = count_matrices(wl_words(tiny, 1)[1])
    np.testing.assert_array_equal(left.toarray(), whole[:5].toarray())
    np.testing.assert_array_equal(right.toarray(), whole[5:].toarray())


def test_counts_in_a_vocabulary_leave_other_words_out(tiny: GraphDataset) -> None:
    words = wl_words(tiny, 1)[1]
    vocabulary = vocabulary_of(words)
    (whole,) = count_matrices(words)
    np.testing.assert_array_equal(counts_in(vocabulary, words).toarray(), whole.toarray())
    np.testing.assert_array_equal(counts_in(vocabulary[::-2], words).toarray(), whole.toarray()[:, ::-2])
    assert counts_in(vocabulary[:0], words).shape == (len(tiny), 0)


def test_stacked_words_are_the_words_of_all_parts(tiny: GraphDataset) -> None:
    parts = wl_words(tiny, 2)
    (whole,) = count_matrices(stack_words(parts))
    separate = [count_matrices(part)[0] for part in parts]
    np.testing.assert_array_equal((whole @ whole.T).toarray(), sum((c @ c.T).toarray() for c in separate))
    assert len(vocabulary_of(*parts)) == whole.shape[1]
