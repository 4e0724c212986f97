"""`GraphDataset.from_iterable`: the store of graphs that come one by one is the store of the list of them."""

from __future__ import annotations

import itertools

import networkx
import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from spgnn_dgl._dgl import dgl
from spgnn_dgl.data.building import streaming
from spgnn_dgl.data.building.builder import build_store
from spgnn_dgl.data.building.streaming import graph_range, parts_of_dataset
from spgnn_dgl.data.load import load_dataset
from spgnn_dgl.data.readers.graphs import from_graphs
from spgnn_dgl.data.saved import save_store
from spgnn_dgl.data.store import GraphDataset
from spgnn_dgl.errors import DatasetError
from spgnn_dgl.methods import make_method
from tests.conftest import random_dataset
from tests.data.building.test_builder import assert_same_folder, unfinished
from tests.data.data_samples import assert_same_arrays, plain_datasets


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    monkeypatch.setattr(streaming, "BLOCK", 3)
    monkeypatch.setattr(streaming, "RANGE", 5)


def labelled_graphs(count: int) -> list[tuple[networkx.Graph, str]]:
    """Paths and stars; labels that appear late and not in order; the first block has no edges."""
    graphs = []
    for i in range(count):
        graph = networkx.empty_graph(1 + i % 4) if i < 3 else networkx.path_graph(2 + i % 5)
        networkx.set_node_attributes(graph, {v: 10 - (i * v) % 11 for v in graph}, "label")
        networkx.set_edge_attributes(graph, {e: f"bond {i % 3}" for e in graph.edges}, "label")
        graphs.append((graph, f"class {(7 * i) % 5}"))
    return graphs


def test_networkx_graphs_one_by_one(tmp_path):
    graphs = labelled_graphs(17)
    streamed = GraphDataset.from_iterable((pair for pair in graphs), tmp_path / "x", name="graphs")
    save_store(tmp_path / "y", from_graphs(graphs))
    assert_same_folder(tmp_path / "x", tmp_path / "y")
    assert streamed.meta.class_names == tuple(f"class {c}" for c in range(5))
    assert len(streamed.meta.edge_label_names) == 3
    assert load_dataset(tmp_path / "x").fingerprint == from_graphs(graphs).fingerprint


@settings(max_examples=40, deadline=None)
@given(plain_datasets(directed=False), st.booleans())
def test_drawn_graphs_one_by_one(tmp_path_factory, plain, by_index):
    folder = tmp_path_factory.mktemp("stores")
    graphs = list(zip(plain.networkx(), plain.classes))
    streamed = GraphDataset.from_iterable(graphs if by_index else iter(graphs), folder / "x", name="graphs")
    assert_same_arrays(streamed, from_graphs(graphs))
    assert streamed.meta == from_graphs(graphs).meta


def test_dgl_graphs_one_by_one(tmp_path):
    data = random_dataset(14, attributes=2)
    graphs = [(graph.long(), torch.tensor([int(label)])) for graph, label in data]
    streamed = GraphDataset.from_iterable(iter(graphs), tmp_path / "x", name="graphs")
    assert_same_arrays(streamed, from_graphs(graphs))
    assert streamed.meta == from_graphs(graphs).meta


def test_a_dgl_dataset_is_read_by_index(tmp_path):
    class Endless(dgl.data.DGLDataset):
        """Does not stop when it is iterated."""

        def __init__(self):
            super().__init__("endless")

        def process(self):
            pass

        def __len__(self):
            return 7

        def __getitem__(self, index):
            return dgl.graph(([0], [1])), index % 2

    assert GraphDataset.from_iterable(Endless(), tmp_path / "x").labels.tolist() == [0, 1, 0, 1, 0, 1, 0]


def test_datasets_as_parts_and_views_of_them(tmp_path):
    data = random_dataset(12)
    streamed = GraphDataset.from_iterable((data[i : i + 4] for i in range(0, 12, 4)), tmp_path / "x")
    assert_same_arrays(streamed, data)
    assert streamed.name == "x"


def test_a_store_is_trained_on_and_predicted(tmp_path):
    graphs = [(networkx.path_graph(4 + i % 3) if i % 2 else networkx.star_graph(4 + i % 3), i % 2) for i in range(20)]
    data = GraphDataset.from_iterable(iter(graphs), tmp_path / "x")
    method = make_method("spgnn", {"epochs": 2, "k": 10}).fit(data)
    expected = make_method("spgnn", {"epochs": 2, "k": 10}).fit(from_graphs(graphs))
    np.testing.assert_array_equal(method.predict_proba(data), expected.predict_proba(from_graphs(graphs)))


# ---- fields and mistakes --------------------------------------------------------------------------------------------


def test_the_field_that_was_found_first_is_the_field(tmp_path):
    first = [networkx.path_graph(2) for _ in range(3)]
    for graph in first:
        networkx.set_node_attributes(graph, 1, "node_labels")
    later = networkx.path_graph(2)
    networkx.set_node_attributes(later, 1, "label")  # usual too, but not what the first ones have
    with pytest.raises(
        DatasetError, match=r"from number 3 on, counted from 0 there: graph 0 has a node without .*node_l"
    ):
        GraphDataset.from_iterable([*first, later], tmp_path / "x")


def test_a_mistake_is_told_with_its_place(tmp_path):
    graphs = [networkx.path_graph(2) for _ in range(4)]
    with pytest.raises(DatasetError, match=r"from number 3 on.*: item 1 is a str"):
        GraphDataset.from_iterable([*graphs, "no graph"], tmp_path / "x")
    with pytest.raises(DatasetError, match="some come with labels, some without"):
        GraphDataset.from_iterable([*((g, 0) for g in graphs[:3]), graphs[3]], tmp_path / "y")
    with pytest.raises(DatasetError, match="it has no graphs"):
        GraphDataset.from_iterable(iter(()), tmp_path / "z")


# ---- going on -------------------------------------------------------------------------------------------------------


def breaking(graphs, after: int):
    yield from itertools.islice(graphs, after)
    raise KeyboardInterrupt


@pytest.mark.parametrize("after", [3, 8, 16])
@pytest.mark.parametrize("again", [iter, list], ids=["iterator", "list"])
def test_an_interrupted_stream_goes_on(tmp_path, after, again):
    graphs = labelled_graphs(17)
    with pytest.raises(KeyboardInterrupt):
        GraphDataset.from_iterable(breaking(graphs, after), tmp_path / "x", name="graphs")
    assert not (tmp_path / "x").exists()
    assert unfinished(tmp_path / "x").exists()
    GraphDataset.from_iterable(again(graphs), tmp_path / "x", name="graphs")
    save_store(tmp_path / "y", from_graphs(graphs))
    assert_same_folder(tmp_path / "x", tmp_path / "y")


def test_other_graphs_are_not_mixed_with_those_before(tmp_path):
    graphs = labelled_graphs(17)
    with pytest.raises(KeyboardInterrupt):
        GraphDataset.from_iterable(breaking(graphs, 10), tmp_path / "x")
    other = list(graphs)
    other[7] = (networkx.star_graph(5), "class 0")
    networkx.set_node_attributes(other[7][0], 1, "label")
    networkx.set_edge_attributes(other[7][0], 1, "label")
    for wrong, message in ((other, "are not those"), (graphs[:5], "but fewer were given")):
        with pytest.raises(DatasetError, match=message):
            GraphDataset.from_iterable(iter(wrong), tmp_path / "x")
    assert len(GraphDataset.from_iterable(iter(graphs), tmp_path / "x")) == 17


def test_a_dataset_in_ranges(tmp_path):
    data = random_dataset(13, attributes=1)
    for view in (data, data.subset([5, 1, 12, 1, 7, 0, 3])):
        build_store(tmp_path / "x", parts_of_dataset(view))
        save_store(tmp_path / "y", view)
        assert_same_folder(tmp_path / "x", tmp_path / "y")


def test_a_range_of_graphs_is_what_the_view_has():
    data = random_dataset(13)
    part = GraphDataset(graph_range(data.arrays, 4, 9), data.meta)
    for i in range(5):
        assert [e.tolist() for e in part[i][0].edges()] == [e.tolist() for e in data[4 + i][0].edges()]
        assert part[i][1] == data[4 + i][1]
