"""Who was pooled: counted again by hand, and nodes that are alike treated alike."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from spgnn_dgl.errors import OptionError
from spgnn_dgl.estimator import GraphClassifier
from spgnn_dgl.explain.selection import Pooled, input_dataset, input_names, kept_nodes, layer_depths, pooled
from tests.conftest import random_dataset
from tests.explained import complete, dataset, motif_data, motif_model, path, star, written_subject


def test_ranks_and_counts_are_those_of_the_selection():
    method, data = motif_model().method_, motif_data()[45:]
    for graph, (found, selection) in enumerate(zip(pooled(method, data), method.select(data))):
        size = int(data.node_counts[graph])
        for node in range(size):
            for layer in range(3):
                kept = selection.nodes[layer].tolist()
                assert found.rank[layer, node] == (kept.index(node) if node in kept else -1)
                alike = found.colour[layer] == found.colour[layer][node]
                assert found.selected[layer, node] == any(v in kept for v in np.flatnonzero(alike))
            assert found.count[node] == sum(found.selected[layer, node] for layer in range(3))
            assert found.total[node] == pytest.approx(float(selection.importance[:, node].sum()), abs=1e-4)


def test_nodes_of_one_colour_have_one_representation_and_others_do_not():
    method, data = motif_model().method_, motif_data()[45:49]
    graph = method.policy.encoder(data).batch(np.arange(4))
    with torch.no_grad():
        layers = method.net.layers(graph)
    colours = np.concatenate([p.colour for p in pooled(method, data)], axis=1)
    for layer, rows in enumerate(layers):
        near = torch.cdist(rows.double(), rows.double()).numpy() < 1e-5
        same = colours[layer][:, None] == colours[layer]
        assert near[same].all()
        # two epochs of ReLU units may see less than the colours say, but not more than a little less
        assert (near == same).mean() > 0.9


def test_in_a_complete_graph_larger_than_k_all_nodes_are_selected_and_marked():
    subject = written_subject(dataset([complete(15), path(3)]), lambda g: np.zeros((2, g.num_nodes())), k=10)
    found = subject.pooled()[0]
    assert (found.rank >= 0).sum() == 20  # the model keeps ten per layer
    assert found.selected.all()
    assert (found.score == 0).all()
    assert found.top(10).all()


def test_leaves_of_a_star_are_alike_and_its_centre_is_not():
    def importance(graph):
        return np.where(np.arange(graph.num_nodes()) == 0, 1.0, 0.0)[None]

    found = written_subject(dataset([star(30), path(2)]), importance, k=10).pooled()[0]
    assert found.top(1).sum() == 1
    assert found.top(1)[0]
    assert found.top(2).all()


def test_importance_of_nodes_that_are_alike_is_one_number():
    def noisy(graph):
        return np.arange(graph.num_nodes())[None] * 1e-6

    found = written_subject(dataset([complete(5), path(2)]), noisy, k=10).pooled()[0]
    assert len(set(found.importance[0])) == 1
    assert found.importance[0, 0] == pytest.approx(2e-6)


def test_order_is_by_layers_then_importance_then_number():
    rng = np.random.default_rng(0)
    rank = np.where(rng.random((3, 12)) < 0.5, 0, -1)
    importance = rng.integers(0, 3, (3, 12)).astype(float)
    found = Pooled(rank, importance, np.arange(12) + np.zeros((3, 1), int))
    expected = sorted(range(12), key=lambda v: (-(rank[:, v] >= 0).sum(), -importance[:, v].sum(), v))
    assert found.order().tolist() == expected
    for a in range(12):
        for b in range(12):
            ahead = ((rank[:, a] >= 0).sum(), importance[:, a].sum()) > (
                (rank[:, b] >= 0).sum(),
                importance[:, b].sum(),
            )
            assert (found.score[a] > found.score[b]) == ahead


def test_ties_can_be_broken_by_chance():
    alike = Pooled(np.zeros((1, 50), int), np.zeros((1, 50)), np.zeros((1, 50), int))
    first = alike.order(np.random.default_rng(0))
    assert sorted(first) == list(range(50))
    assert first.tolist() != alike.order(np.random.default_rng(1)).tolist()


def tells_colours_apart(found: Pooled) -> bool:
    """Whether no layer gives one importance to nodes of two colours, as one whose rectifiers are all off does."""
    return all(
        len(np.unique(importance)) == len(np.unique(colour))
        for importance, colour in zip(found.importance, found.colour)
    )


def test_renumbering_the_nodes_renumbers_the_scores():
    method, data = motif_model().method_, motif_data()
    graph = next(data[i][0] for i, found in enumerate(pooled(method, data)) if tells_colours_apart(found))
    size = graph.num_nodes()
    order = np.random.default_rng(3).permutation(size)
    place = np.argsort(order)
    edges = torch.stack(graph.edges()).T.numpy()
    original = dataset([(size, edges)], [0])
    renumbered = dataset([(size, place[edges])], [0])
    before, after = pooled(method, original)[0], pooled(method, renumbered)[0]
    np.testing.assert_array_equal(before.count, after.count[place])
    np.testing.assert_allclose(before.total, after.total[place], atol=1e-4)


def test_marking_fewer_than_one_node_is_refused():
    with pytest.raises(OptionError, match="top=0"):
        Pooled(np.zeros((1, 3), int), np.zeros((1, 3)), np.zeros((1, 3), int)).top(0)


def test_sortpool_has_one_layer_that_sees_as_far_as_all():
    method, data = motif_model("arch1").method_, motif_data()[45:47]
    assert [p.num_layers for p in pooled(method, data)] == [1, 1]
    assert layer_depths(method, 1) == (3,)
    assert layer_depths(motif_model().method_, 3) == (1, 2, 3)
    assert kept_nodes(method) == 10


def test_a_method_that_pools_no_nodes_is_refused():
    data = random_dataset()
    classifier = GraphClassifier("gin", epochs=1).fit(data)
    with pytest.raises(OptionError, match="use a model of spgnn"):
        pooled(classifier.method_, data)


def test_no_graphs_give_no_selection():
    assert pooled(motif_model().method_, motif_data()[:0]) == []


def test_labels_that_the_model_never_met_are_one():
    train = dataset([path(3), path(3)], node_labels="CCNCNN")
    other = dataset([path(4), path(2)], node_labels="CXYNCC")
    method = GraphClassifier("spgnn", epochs=1, k=10, channels=4).fit(train).method_
    codes = input_dataset(method, other).arrays.node_labels
    assert codes[1] == codes[2] == 2  # after C and N
    assert input_names(method, other) == ("label C", "label N", "other")


def test_rows_of_attributes_are_told_apart():
    data = random_dataset(6, attributes=2)
    method = GraphClassifier("spgnn", epochs=1, k=10, channels=4, features="attributes").fit(data).method_
    inputs = input_dataset(method, data)
    rows = data.arrays.node_attributes
    same = (rows[:, None] == rows).all(axis=2)
    codes = inputs.arrays.node_labels
    np.testing.assert_array_equal(codes[:, None] == codes, same)
    assert len(set(inputs.meta.node_label_names)) == len(inputs.meta.node_label_names)


def test_degrees_at_the_cap_are_named_so():
    data = dataset([star(5), path(3)])
    method = GraphClassifier("spgnn", epochs=1, k=10, channels=4, degree_cap=3).fit(data).method_
    assert input_names(method, data) == ("1", "2", "≥3", "other")
