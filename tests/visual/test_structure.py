"""Graphs as drawings need them."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest

from spgnn_dgl.errors import OptionError
from spgnn_dgl.visual.structure import neighbourhood, node_texts, structure_of
from tests.conftest import random_dataset
from tests.explained import dataset, path, star


@pytest.mark.parametrize("directed", [False, True])
def test_edges_are_each_there_once(directed):
    data = random_dataset(10, directed=directed)
    for index in (0, 3, 9):
        source, target = data[index][0].edges()
        expected = {frozenset(edge) for edge in zip(source.tolist(), target.tolist())}
        found = structure_of(data, index)
        assert {frozenset(edge) for edge in found.edges.tolist()} == expected
        assert len(found.edges) == len(expected)
        assert found.num_nodes == found.total == data.node_counts[index]


def test_a_view_counts_its_own_graphs():
    data = random_dataset(10)
    np.testing.assert_array_equal(structure_of(data[np.array([4, 7])], 1).edges, structure_of(data, 7).edges)


def grid(side=30):
    graph = nx.convert_node_labels_to_integers(nx.grid_2d_graph(side, side))
    return dataset([(side * side, list(graph.edges())), path(2)])


def test_a_neighbourhood_has_the_wanted_nodes_and_what_is_next_to_them():
    whole = structure_of(grid(), 0)
    part = neighbourhood(whole, [450, 10], 60)
    assert part.num_nodes == 60
    assert part.total == 900
    assert part.size == "60 of 900 nodes"
    graph = nx.Graph(whole.edges.tolist())
    near = set()
    for node in (450, 10):
        near |= set(nx.single_source_shortest_path_length(graph, node, cutoff=2))
    assert near <= set(part.nodes.tolist())
    expected = {frozenset(e) for e in graph.subgraph(part.nodes.tolist()).edges()}
    assert {frozenset(part.nodes[list(e)].tolist()) for e in part.edges} == expected


def test_a_hub_does_not_take_more_than_the_limit():
    whole = structure_of(dataset([star(5000), path(2)]), 0)
    part = neighbourhood(whole, np.arange(5001), 100)
    assert part.num_nodes == 100
    assert 0 in part.nodes


def test_a_small_graph_is_its_own_neighbourhood():
    whole = structure_of(grid(4), 0)
    assert neighbourhood(whole, [3], 16) is whole
    assert whole.size == "16 nodes"


def test_texts():
    data = dataset([path(3), path(2)], node_labels="CNOCC", symbols=True)
    assert node_texts(data, 0, "symbols") == ["C", "N", "O"]
    assert node_texts(data, 1, "ids") == ["0", "1"]
    assert node_texts(data, 1, "none") == ["", ""]
    with pytest.raises(OptionError, match="Did you mean 'symbols'"):
        node_texts(data, 0, "symbol")
    with pytest.raises(OptionError, match="have no labels"):
        node_texts(dataset([path(3), path(2)]), 0, "symbols")
