"""Graphs in memory become the dataset that their plain form makes."""

from __future__ import annotations

import time

import networkx
import numpy as np
import pytest
import torch
from hypothesis import given, settings

from spgnn_dgl._dgl import dgl
from spgnn_dgl.data.readers.graphs import as_dataset, from_graphs, with_labels
from spgnn_dgl.errors import DatasetError
from tests.data.data_samples import Plain, assert_same_arrays, plain_datasets, triangle_and_path


def as_dgl(plain: Plain) -> list:
    """The edges exactly as they are listed, loops and copies included."""
    graphs = []
    for g, count in enumerate(plain.counts):
        source, target = zip(*plain.edges[g]) if plain.edges[g] else ((), ())
        graph = dgl.graph(
            (torch.tensor(source, dtype=torch.int64), torch.tensor(target, dtype=torch.int64)), num_nodes=count
        )
        if plain.node_labels:
            graph.ndata["label"] = torch.tensor(plain.node_labels[g])
        if plain.attributes:
            graph.ndata["attr"] = torch.tensor(plain.attributes[g])
        if plain.edge_labels:
            graph.edata["label"] = torch.tensor(plain.edge_labels[g], dtype=torch.int64)
        graphs.append(graph)
    return graphs


def as_networkx(plain: Plain) -> list:
    """Directed multigraphs, which can hold loops and copies."""
    graphs = []
    for g, simple in enumerate(plain.networkx()):
        graph = networkx.MultiDiGraph()
        graph.add_nodes_from((f"node {v}", data) for v, data in simple.nodes(data=True))
        for e, (u, v) in enumerate(plain.edges[g]):
            graph.add_edge(
                f"node {u}", f"node {v}", **({"label": plain.edge_labels[g][e]} if plain.edge_labels else {})
            )
        graphs.append(graph)
    return graphs


@settings(max_examples=80, deadline=None)
@given(plain_datasets())
def test_dgl_graphs_come_back(plain: Plain):
    found, expected = from_graphs(as_dgl(plain), plain.classes, directed=plain.directed), plain.dataset()
    assert_same_arrays(found, expected)
    for names in ("class_names", "node_label_names", "edge_label_names", "mended", "directed"):
        assert getattr(found.meta, names) == getattr(expected.meta, names)


@settings(max_examples=80, deadline=None)
@given(plain_datasets())
def test_networkx_graphs_come_back(plain: Plain):
    graphs = as_networkx(plain)
    found, expected = from_graphs(graphs, plain.classes, directed=plain.directed), plain.dataset()
    if plain.edge_labels:  # networkx lists edges by node, so that of copies another one may come first
        assert (found.arrays.edge_labels is None) == (expected.arrays.edge_labels is None)
        found, expected = (
            from_graphs(graphs, plain.classes, edge_label=None, directed=plain.directed),
            Plain(**{**vars(plain), "edge_labels": None}).dataset(),
        )
    assert_same_arrays(found, expected)
    assert found.meta.node_label_names == expected.meta.node_label_names
    assert found.meta.mended == expected.meta.mended


def test_an_undirected_networkx_graph_has_its_edges_both_ways():
    graph = networkx.Graph([("a", "b"), ("b", "c"), ("c", "c")])
    graph.edges["a", "b"]["label"], graph.edges["b", "c"]["label"], graph.edges["c", "c"]["label"] = "x", "y", "z"
    data = from_graphs([graph], ["k"], directed=True)
    assert sorted(zip(*(e.tolist() for e in data[0][0].edges()))) == [(0, 1), (1, 0), (1, 2), (2, 1)]
    assert data.meta.mended == {"self_loops": 1, "doubled_edges": 0, "one_way_edges": 0}
    names = [data.meta.edge_label_names[c] for c in data.arrays.edge_labels]
    assert names == ["x", "x", "y", "y"]


def test_networkx_attributes_by_name():
    graph = networkx.path_graph(3)
    for v in graph:
        graph.nodes[v].update(element="CNO"[v], mass=float(v), where=[v, 2.0 * v])
    data = from_graphs([graph], node_label="element", node_attributes=["mass", "where"])
    assert data.meta.node_label_names == ("C", "N", "O")
    assert data.arrays.node_attributes.tolist() == [[0, 0, 0], [1, 1, 2], [2, 2, 4]]
    assert from_graphs([graph]).arrays.node_labels is None  # none of the usual names is there


def test_dgl_fields_by_name():
    graph = dgl.graph(([0, 1], [1, 2]))
    graph.ndata["kind"] = torch.tensor([[3], [9], [3]])
    graph.ndata["feat"] = torch.tensor([1.0, 2.0, 3.0])
    data = from_graphs([graph], [0], node_label="kind")
    assert data.meta.node_label_names == ("3", "9")
    assert data.arrays.node_attributes.tolist() == [[1], [2], [3]]
    assert from_graphs([graph], node_attributes=None).arrays.node_attributes is None
    with pytest.raises(DatasetError, match=r"graph 0 has no ndata\['nothing'\] \(it has kind, feat\)"):
        from_graphs([graph], node_label="nothing")
    with pytest.raises(DatasetError, match=r"ndata\['feat'\] of graph 0 .*a label must be one whole number"):
        from_graphs([graph], node_label="feat")


class Pairs(dgl.data.DGLDataset):
    """A DGLDataset as users write them."""

    def __init__(self):
        super().__init__("pairs")

    def process(self):
        self.graphs = as_dgl(triangle_and_path())

    def __len__(self):
        return 2

    def __getitem__(self, i):
        return self.graphs[i], torch.tensor([1, -1])[i]


def test_any_dgl_dataset_is_a_dataset(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    data = as_dataset(Pairs())
    assert data.name == "pairs"
    assert_same_arrays(data, triangle_and_path().dataset())
    assert data.meta.class_names == ("-1", "1")


def test_graphs_cut_from_a_dataset_keep_what_their_labels_mean():
    original = triangle_and_path().dataset()
    again = as_dataset([original[1], original[0]])
    assert again.meta.node_label_names == ("5", "7")
    assert again.arrays.node_labels.tolist() == [1, 0, 0, 0, 0, 1]
    mixed = from_graphs([original[0][0], as_dgl(triangle_and_path())[1]])
    assert mixed.meta.node_label_names == ("5", "7")


def test_graphs_and_labels_may_come_as_pairs_or_as_two_lists():
    graphs = [networkx.path_graph(3), networkx.star_graph(3)]
    pairs, lists = as_dataset(list(zip(graphs, "ab"))), as_dataset((graphs, ["a", "b"]))
    assert_same_arrays(pairs, lists)
    assert pairs.meta.class_names == lists.meta.class_names == ("a", "b")
    assert as_dataset((graphs, ["a", "b"]), ["c", "d"]).meta.class_names == ("c", "d")


def test_graphs_of_other_index_types_and_a_batch(tiny):
    graphs = [graph for graph, _ in tiny]
    graphs[1] = graphs[1].long()
    data = from_graphs(graphs, node_label=None)
    np.testing.assert_array_equal(data.arrays.neighbours, tiny.arrays.neighbours)
    batched = as_dataset(tiny.batch(range(12)))
    np.testing.assert_array_equal(batched.node_counts, tiny.node_counts)
    np.testing.assert_array_equal(batched.arrays.neighbours, tiny.arrays.neighbours)


def test_a_dataset_is_itself_and_takes_new_classes(tiny):
    assert as_dataset(tiny) is tiny
    relabelled = as_dataset(tiny, ["even", "odd"] * 6)
    assert relabelled.meta.class_names == ("even", "odd")
    assert relabelled.arrays.neighbours is tiny.arrays.neighbours
    view = with_labels(tiny.subset([3, 5]), [10, 9])
    assert [view.meta.class_names[c] for c in view.labels] == ["10", "9"]
    assert view[0][0].num_nodes() == tiny[3][0].num_nodes()


@pytest.mark.parametrize(
    ("labels", "names", "expected"),
    [
        ([2, 10], ("2", "10"), [0, 1]),
        (["b", "a"], ("a", "b"), [1, 0]),
        ([1.0, 0.0], ("0", "1"), [1, 0]),
        ([True, False], ("0", "1"), [1, 0]),
        (np.array([[4], [3]]), ("3", "4"), [1, 0]),
        (torch.tensor([4, 3]), ("3", "4"), [1, 0]),
        ([None, 3], ("3",), [-1, 0]),
        (None, (), [-1, -1]),
    ],
)
def test_classes_may_be_numbers_texts_tensors_or_unknown(labels, names, expected):
    data = from_graphs([networkx.path_graph(2)] * 2, labels)
    assert data.meta.class_names == names
    assert data.labels.tolist() == expected


PATHS = [networkx.path_graph(2), networkx.path_graph(3)]
HETERO = dgl.heterograph({("a", "to", "b"): ([0], [0])})
LABELLED = networkx.path_graph(2)
LABELLED.nodes[0]["label"] = 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([],), "no graphs"),
        (([networkx.Graph()],), "graph 0 has no nodes"),
        (([*PATHS, dgl.graph(([0], [1]))],), "item 2 is a DGLGraph"),
        ((["MUTAG"],), "item 0 is a str"),
        ((PATHS, [1]), "1 labels were given for 2 graphs"),
        ((PATHS, [0.5, 1]), r"label of graph 0 is 0.5.*regression"),
        ((PATHS, [1, float("nan")]), "label of graph 1 is nan"),
        ((PATHS, np.eye(2)), r"label of graph 0 has the shape \(2,\)"),
        (([HETERO],), "several node or edge types"),
        (([LABELLED],), "graph 0 has a node without the attribute 'label'"),
    ],
)
def test_wrong_input_is_refused(arguments, message):
    with pytest.raises(DatasetError, match=message):
        from_graphs(*arguments)


@pytest.mark.parametrize("thing", ["MUTAG", 7, networkx.path_graph(3)])
def test_what_is_no_collection_of_graphs_is_refused(thing):
    with pytest.raises(DatasetError, match=r"was given; (expected a dataset|give a list)"):
        as_dataset(thing)


def test_attributes_of_different_width_are_refused():
    graphs = [dgl.graph(([0], [1])), dgl.graph(([0], [1]))]
    graphs[0].ndata["feat"], graphs[1].ndata["feat"] = torch.zeros(2, 3), torch.zeros(2, 4)
    with pytest.raises(DatasetError, match=r"ndata\['feat'\] of graph 1 has 4 columns, graph 0 has 3"):
        from_graphs(graphs)
    paths = [networkx.path_graph(1), networkx.path_graph(1)]
    paths[0].nodes[0]["feat"], paths[1].nodes[0]["feat"] = [1.0], [1.0, 2.0]
    with pytest.raises(DatasetError, match="not rows of numbers of one length"):
        from_graphs(paths)


def test_ten_thousand_graphs_take_seconds(tiny):
    graphs = [tiny[i % 12] for i in range(10_000)]
    start = time.perf_counter()
    assert len(from_graphs(graphs)) == 10_000
    assert time.perf_counter() - start < 20  # measured: 0.8 s on an idle machine
