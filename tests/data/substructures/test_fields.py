"""Receptive fields against networkx, and under another numbering of the nodes."""

from __future__ import annotations

import sys
from pathlib import Path

import networkx as nx
import numpy as np
import pytest

from spgnn_dgl.data.readers.graphs import as_dataset
from spgnn_dgl.data.store import GraphDataset
from spgnn_dgl.data.substructures.fields import canonical_places, receptive_fields
from spgnn_dgl.errors import MissingExtraError
from tests.conftest import random_dataset

igraph = pytest.importorskip("igraph")
SMALL = {"width": 6, "size": 4, "height": 2}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SPGNN_CACHE", str(tmp_path))
    return tmp_path / "derived"


def as_networkx(data: GraphDataset, index: int) -> nx.Graph:
    graph, out = data[index][0], nx.Graph()
    out.add_nodes_from((v, {"label": label}) for v, label in enumerate(graph.ndata["label"].tolist()))
    out.add_edges_from(zip(*(ends.tolist() for ends in graph.edges())))
    return out


def permuted(graph: nx.Graph, seed: int) -> nx.Graph:
    order = np.random.default_rng(seed).permutation(len(graph)).tolist()
    out = nx.Graph()
    out.add_nodes_from((order[v], graph.nodes[v]) for v in sorted(graph, key=order.__getitem__))
    out.add_edges_from((order[u], order[v]) for u, v in graph.edges)
    return out


def test_a_field_has_the_nearest_nodes_by_distance(tiny: GraphDataset) -> None:
    fields = receptive_fields(tiny, "labels", **SMALL)
    for index in range(len(tiny)):
        graph = as_networkx(tiny, index)
        roots = fields[index, :, 0]
        assert (roots >= 0).sum() == min(6, len(graph))
        assert len(set(roots[roots >= 0].tolist())) == min(6, len(graph))
        for field in fields[index][roots >= 0]:
            nodes = field[field >= 0].tolist()
            reach = nx.single_source_shortest_path_length(graph, nodes[0])
            distances = [reach[v] for v in nodes]
            assert len(set(nodes)) == len(nodes) == min(4, len(reach))
            assert distances == sorted(reach.values())[: len(nodes)]


def test_nodes_of_many_walks_come_first() -> None:
    data = as_dataset([nx.star_graph(5), nx.path_graph(5)], [0, 1])
    fields = receptive_fields(data, "degree", **SMALL)
    assert fields[0, 0, 0] == 0  # the hub
    assert fields[1, 0, 0] == 2  # the middle


@pytest.mark.parametrize("kind", ["labels", "degree"])
def test_another_numbering_gives_the_same_fields(kind: str) -> None:
    data = random_dataset(20, 11, max_nodes=10, num_labels=2)
    graphs = [as_networkx(data, i) for i in range(len(data))] + [nx.petersen_graph(), nx.complete_graph(7)]
    for graph in graphs[-2:]:
        nx.set_node_attributes(graph, 0, "label")
    turned = [permuted(graph, seed) for seed, graph in enumerate(graphs)]
    classes = [i % 2 for i in range(len(graphs))]
    one = receptive_fields(as_dataset(graphs, classes), kind, **SMALL)
    other = receptive_fields(as_dataset(turned, classes), kind, **SMALL)
    for graph, copy, mine, theirs in zip(graphs, turned, one, other):
        for a, b in zip(mine, theirs):
            a, b = a[a >= 0].tolist(), b[b >= 0].tolist()
            if kind == "labels":
                assert [graph.nodes[v]["label"] for v in a] == [copy.nodes[v]["label"] for v in b]
            assert [graph.degree(v) for v in a] == [copy.degree(v) for v in b]
            # not the labels alone: the subgraphs agree edge by edge in the canonical order
            edges = [
                {(i, j) for i, u in enumerate(nodes) for j, v in enumerate(nodes) if whole.has_edge(u, v)}
                for nodes, whole in ((a, graph), (b, copy))
            ]
            assert edges[0] == edges[1]


@pytest.mark.parametrize("graph", [nx.gnp_random_graph(9, 0.4, seed=3), nx.cycle_graph(6), nx.petersen_graph()])
def test_every_numbering_of_a_graph_has_one_canonical_form(graph: nx.Graph) -> None:
    forms = set()
    for seed in range(30):
        order = np.random.default_rng(seed).permutation(len(graph)).tolist()
        edges = [(order[u], order[v]) for u, v in graph.edges]
        colours = [0] * len(graph)
        for v in graph:
            colours[order[v]] = graph.degree(v)
        places = canonical_places(igraph, len(graph), edges, colours)
        assert sorted(places) == list(range(len(graph)))
        by_place = [colours[v] for v in np.argsort(places)]
        assert by_place == sorted(by_place)
        forms.add(frozenset(frozenset((places[u], places[v])) for u, v in edges))
    assert len(forms) == 1


class OldGraph:
    """igraph before 1.0: the place of each node."""

    def __init__(self, num_nodes: int, edges: object = ()):
        self.graph = igraph.Graph(num_nodes, edges)

    def canonical_permutation(self, color: list[int]) -> list[int]:
        return np.argsort(self.graph.canonical_permutation(color=color)).tolist()


def test_either_direction_of_the_permutation_is_understood() -> None:
    edges, colours = [(0, 3), (3, 1), (1, 4)], [0, 0, 1, 0, 2]
    old = type("igraph", (), {"Graph": OldGraph})
    assert canonical_places(old, 5, edges, colours) == canonical_places(igraph, 5, edges, colours)


def test_nodes_that_differ_in_attributes_are_told_apart() -> None:
    graph = nx.cycle_graph(6)
    for v in graph:
        graph.nodes[v]["attr"] = [float(v) ** 2]
    copy = permuted(graph, 1)
    data = as_dataset([graph, copy], [0, 1])
    one, other = receptive_fields(data, "attributes", **SMALL)
    values = [data[i][0].ndata["attr"][:, 0].numpy() for i in (0, 1)]
    np.testing.assert_array_equal(values[0][one], values[1][other])


def test_fields_are_kept_and_sliced(folder: Path) -> None:
    data = random_dataset(12)
    whole = receptive_fields(data, "labels", **SMALL)
    assert len(list(folder.glob("*-fields-*.npy"))) == 1
    np.testing.assert_array_equal(
        receptive_fields(data[[9, 3, 1, 0, 5, 7]], "labels", **SMALL), whole[[9, 3, 1, 0, 5, 7]]
    )
    np.testing.assert_array_equal(receptive_fields(data[[4]], "labels", **SMALL), whole[[4]])  # too few to keep
    narrower = receptive_fields(data, "labels", width=3, size=4, height=2)
    np.testing.assert_array_equal(narrower, whole[:, :3])
    assert len(list(folder.glob("*-fields-*.npy"))) == 1


def test_a_missing_package_is_told_with_the_command(tiny: GraphDataset, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "igraph", None)
    with pytest.raises(MissingExtraError, match=r"spgnn_dgl\[embeddings\]"):
        receptive_fields(tiny, "labels", **SMALL)
