"""GraphDataset: batches equal DGL's and networkx's, subsets are views, labels and indices behave."""

from __future__ import annotations

import networkx
import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from spgnn_dgl._dgl import dgl
from spgnn_dgl.errors import DatasetError
from tests.conftest import random_dataset
from tests.data.data_samples import Plain, plain_datasets, triangle_and_path


def indices_of(data, draw):
    return draw(st.lists(st.integers(-len(data), len(data) - 1), min_size=1, max_size=8))


@settings(max_examples=150, deadline=None)
@given(plain_datasets(), st.data())
def test_a_batch_is_what_dgl_makes_of_the_single_graphs(plain: Plain, draws):
    data = plain.dataset()
    indices = indices_of(data, draws.draw)
    ours, theirs = data.batch(indices), dgl.batch([data[i][0] for i in indices])
    for ends, expected in zip(ours.edges(order="eid"), theirs.edges(order="eid")):
        assert torch.equal(ends, expected)
    assert ours.idtype == theirs.idtype
    assert torch.equal(ours.batch_num_nodes(), theirs.batch_num_nodes())
    assert torch.equal(ours.batch_num_edges(), theirs.batch_num_edges())
    for frame, expected in ((ours.ndata, theirs.ndata), (ours.edata, theirs.edata)):
        assert set(frame) == set(expected)
        assert all(torch.equal(frame[field], expected[field]) for field in expected)
    for single, expected in zip(dgl.unbatch(ours), dgl.unbatch(theirs)):
        assert torch.equal(torch.stack(single.edges()), torch.stack(expected.edges()))


@settings(max_examples=150, deadline=None)
@given(plain_datasets(), st.data())
def test_a_batch_is_what_networkx_says(plain: Plain, draws):
    data = plain.dataset()
    indices = indices_of(data, draws.draw)
    batch = data.batch(indices)
    graphs = [plain.networkx()[i] for i in indices]
    oracle = networkx.disjoint_union_all([g.to_directed() for g in graphs])
    assert batch.num_nodes() == len(oracle)
    assert sorted(zip(*(ends.tolist() for ends in batch.edges()))) == sorted(oracle.edges())
    assert batch.in_degrees().tolist() == [oracle.in_degree(v) for v in range(len(oracle))]
    assert batch.batch_num_nodes().tolist() == [len(g) for g in graphs]
    assert batch.batch_num_edges().tolist() == [g.to_directed().number_of_edges() for g in graphs]
    if plain.node_labels:
        values = [int(data.meta.node_label_names[code]) for code in batch.ndata["label"].tolist()]
        assert values == [oracle.nodes[v]["label"] for v in range(len(oracle))]
    if plain.attributes:
        assert batch.ndata["attr"].tolist() == [oracle.nodes[v]["attr"] for v in range(len(oracle))]


def test_messages_pass_over_a_batch(tiny):
    """The batch is not only equal to look at: DGL computes on it."""
    batch = tiny.batch(range(len(tiny)))
    batch.ndata["one"] = torch.ones(batch.num_nodes(), 1)
    batch.update_all(dgl.function.copy_u("one", "m"), dgl.function.sum("m", "degree"))
    assert torch.equal(batch.ndata["degree"].squeeze(1).long(), batch.in_degrees().long())
    assert torch.equal(batch.reverse().in_degrees(), batch.in_degrees())


def test_items_are_pairs_as_in_every_dgl_dataset(tiny):
    graph, label = tiny[3]
    assert isinstance(tiny, dgl.data.DGLDataset)
    assert graph.batch_size == 1
    assert label == tiny.labels[3]
    assert label.dtype == torch.int64
    assert [int(y) for _, y in tiny] == tiny.labels.tolist()


@settings(max_examples=60, deadline=None)
@given(plain_datasets(), st.data())
def test_a_subset_is_a_view_with_the_graphs_asked_for(plain: Plain, draws):
    data = plain.dataset()
    first = draws.draw(st.lists(st.integers(0, len(data) - 1), min_size=1, max_size=6))
    view = data.subset(first)
    second = draws.draw(st.lists(st.integers(0, len(view) - 1), min_size=1, max_size=6))
    nested = view.subset(second)
    for name, array in data.arrays.present().items():
        assert np.shares_memory(array, getattr(nested.arrays, name)) or array.size == 0
    chosen = [first[i] for i in second]
    assert nested.labels.tolist() == data.labels[chosen].tolist()
    assert nested.node_counts.tolist() == [plain.counts[g] for g in chosen]
    assert nested.edge_counts.sum() == nested.batch(range(len(nested))).num_edges()
    assert torch.equal(torch.stack(nested.batch([0]).edges()), torch.stack(data.batch([chosen[0]]).edges()))
    assert nested.batch_labels(range(len(nested))).tolist() == nested.labels.tolist()


def test_indices_may_be_slices_masks_tensors_and_negative(tiny):
    assert tiny[2:5].members.tolist() == [2, 3, 4]
    assert tiny[-1][1] == tiny.labels[-1]
    assert tiny.subset(np.arange(12) % 2 == 0).members.tolist() == [0, 2, 4, 6, 8, 10]
    assert tiny[torch.tensor([1, -1])].members.tolist() == [1, 11]
    assert tiny[torch.tensor(4)][1] == tiny[np.int32(4)][1] == tiny.labels[4]
    assert len(tiny.subset([])) == 0


@pytest.mark.parametrize("index", [12, -13])
def test_an_index_out_of_range_is_an_index_error(tiny, index):
    with pytest.raises(IndexError, match=rf"{index} is out of range for 12"):
        tiny[index]
    with pytest.raises(IndexError):
        tiny.subset([0, index])


def test_wrong_indices_are_refused(tiny):
    with pytest.raises(DatasetError, match="mask of shape"):
        tiny.subset([True, False])
    with pytest.raises(DatasetError, match="must be integers"):
        tiny.subset([0.5])
    with pytest.raises(DatasetError, match="at least one graph"):
        tiny.batch([])


def test_training_needs_two_classes(tiny):
    tiny.require_classes()
    one = tiny.subset(np.flatnonzero(tiny.labels == 1))
    with pytest.raises(DatasetError, match=r"every graph has the class 'class 1'.*require_classes=False"):
        one.require_classes()
    with pytest.raises(DatasetError, match="is empty"):
        tiny.subset([]).require_classes()


def test_info_tells_what_a_model_needs():
    info = triangle_and_path().dataset().info
    assert (info.num_classes, info.num_node_labels, info.num_attributes) == (2, 2, 2)
    assert info.node_counts.tolist() == [3, 3]


def test_batches_do_not_share_memory_with_the_dataset():
    data = triangle_and_path().dataset()
    batch = data.batch([0])
    batch.ndata["attr"][:] = -1
    batch.ndata["label"][:] = -1
    assert data.arrays.node_attributes.min() > -3
    assert data.batch([0]).ndata["attr"][0, 0] == 0.5
    assert data.arrays.node_labels.min() == 0


def test_a_view_keeps_its_graphs_when_the_indices_change(tiny):
    indices = np.array([3, 1])
    view = tiny.subset(indices)
    indices[:] = 0
    assert view.members.tolist() == [3, 1]


def test_indices_of_small_types_do_not_overflow():
    data = random_dataset(300)
    found = data.subset(np.array([255, 254], dtype=np.uint8))
    assert found.node_counts.tolist() == data.node_counts[[255, 254]].tolist()
    assert found.batch([0]).num_nodes() == data.node_counts[255]


def test_a_whole_view_is_told_from_another(tiny):
    assert tiny.is_whole
    assert tiny.subset(np.arange(12)).is_whole
    assert not tiny.subset(np.arange(12)[::-1]).is_whole
    assert not tiny.subset(np.arange(11)).is_whole
    assert tiny.members.tolist() == list(range(12))
