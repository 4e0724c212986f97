"""Substructures that occur together, against networkx."""

from __future__ import annotations

import itertools
from collections import Counter

import networkx as nx
import numpy as np
import pytest

from spgnn_dgl.data.readers.graphs import as_dataset
from spgnn_dgl.data.store import GraphDataset
from spgnn_dgl.data.substructures import corpus
from spgnn_dgl.data.substructures.corpus import BASES
from spgnn_dgl.data.substructures.wl import wl_keys
from spgnn_dgl.data.substructures.words import count_matrices
from spgnn_dgl.errors import DatasetError
from tests.conftest import random_dataset


def bags(base: str, data: GraphDataset, seed: int = 0) -> list[Counter]:
    """The sentences of a base as bags of keys."""
    keys, ends = BASES[base].sentences(data, "labels", 1, np.random.default_rng(seed))
    assert (ends[-1] if len(ends) else 0) == len(keys)
    return [Counter(map(tuple, piece.tolist())) for piece in np.split(keys, ends[:-1])]


def as_networkx(data: GraphDataset, index: int) -> nx.Graph:
    graph, out = data[index][0], nx.Graph()
    out.add_nodes_from((v, {"label": label}) for v, label in enumerate(graph.ndata["label"].tolist()))
    out.add_edges_from(zip(*(ends.tolist() for ends in graph.edges())))
    return out


def test_subtrees_of_a_graph_and_height_are_a_sentence(tiny: GraphDataset) -> None:
    expected = []
    rounds = wl_keys(tiny, 1)
    offsets = tiny.arrays.node_offsets
    for graph in range(len(tiny)):
        for keys in rounds:
            expected.append(Counter(map(tuple, keys[offsets[graph] : offsets[graph + 1]].tolist())))
    assert bags("wl", tiny) == expected


def test_shortest_paths_from_a_node_are_a_sentence(tiny: GraphDataset) -> None:
    expected = []
    for graph in (as_networkx(tiny, i) for i in range(len(tiny))):
        for source in graph:
            lengths = nx.single_source_shortest_path_length(graph, source)
            label = graph.nodes[source]["label"]
            bag = Counter((label, graph.nodes[v]["label"], n) for v, n in lengths.items() if v != source)
            expected += [bag] if bag else []
    ours = bags("sp", tiny)
    assert len(ours) == len(expected)
    same_word: dict = {}
    for mine, theirs in zip(ours, expected):  # the same counts, by one renaming of all words
        assert sorted(mine.values()) == sorted(theirs.values())
        for key in mine:
            same_word.setdefault(key, set(theirs)).intersection_update(theirs)
    assert all(len(names) >= 1 for names in same_word.values())
    assert len(same_word) == len(set().union(*expected))


@pytest.mark.parametrize("directed", [False, True])
def test_graphlets_are_paths_and_triangles_with_labels(directed: bool) -> None:
    data = random_dataset(15, 4, max_nodes=8, num_labels=2, directed=directed)
    expected = []
    for graph in (as_networkx(data, i) for i in range(len(data))):
        bag: Counter = Counter()
        for three in itertools.combinations(graph, 3):
            part = graph.subgraph(three)
            labels = nx.get_node_attributes(part, "label")
            if part.number_of_edges() == 3:
                bag["triangle", tuple(sorted(labels.values()))] += 1
            elif part.number_of_edges() == 2:
                centre = next(v for v in part if part.degree(v) == 2)
                bag["path", labels[centre], tuple(sorted(labels[v] for v in part if v != centre))] += 1
        expected.append(bag)
    gram = np.array([[sum(a[w] * b[w] for w in a) for b in expected] for a in expected])
    (counts,) = count_matrices(BASES["graphlet"].words(data, "labels", 0))
    np.testing.assert_allclose((counts @ counts.T).toarray(), gram, atol=1e-9)
    assert gram.sum() > 0


def test_graphlets_with_the_same_centre_are_a_sentence() -> None:
    star = as_dataset([nx.star_graph(3), nx.complete_graph(3)], [0, 1])
    keys, ends = BASES["graphlet"].sentences(star, "constant", 0, np.random.default_rng(0))
    assert ends.tolist() == [3, 4, 5, 6]  # three paths at the hub; one triangle at each node
    assert len({tuple(key) for key in keys[:3].tolist()}) == 1
    assert len({tuple(key) for key in keys.tolist()}) == 2


def test_graphs_without_substructures_have_no_sentence() -> None:
    data = as_dataset([nx.empty_graph(3), nx.path_graph(2)], [0, 1])
    assert BASES["graphlet"].words(data, "constant", 0).counts.sum() == 0
    keys, ends = BASES["graphlet"].sentences(data, "constant", 0, np.random.default_rng(0))
    assert (len(keys), len(ends)) == (0, 0)
    assert len(BASES["sp"].sentences(data, "constant", 0, np.random.default_rng(0))[1]) == 2


def test_long_sentences_are_samples(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(corpus, "LONGEST", 4)
    monkeypatch.setattr(corpus, "SOURCES", 3)
    data = as_dataset([nx.path_graph(50), nx.path_graph(3)], [0, 1])
    rng = np.random.default_rng(0)
    assert BASES["wl"].sentences(data, "constant", 0, rng)[1].tolist() == [4, 7]
    assert BASES["sp"].sentences(data, "constant", 0, rng)[1].tolist() == [4, 8, 12, 14, 16, 18]


def test_too_many_graphlets_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(corpus, "MOST_WEDGES", 10)
    with pytest.raises(DatasetError, match="Use base='wl'"):
        BASES["graphlet"].words(as_dataset([nx.complete_graph(9), nx.path_graph(2)], [0, 1]), "constant", 0)
