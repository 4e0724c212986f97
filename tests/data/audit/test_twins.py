"""Graphs that message passing cannot tell apart, against networkx's refinement and brute force over rules."""

from __future__ import annotations

import itertools
from collections import Counter

import networkx as nx
import numpy as np
import pytest
from networkx.algorithms.graph_hashing import weisfeiler_lehman_graph_hash

from spgnn_dgl.data.audit.twins import Refinement, count_twins, twin_groups
from spgnn_dgl.data.folds import stratified_folds
from spgnn_dgl.data.readers.graphs import from_graphs
from spgnn_dgl.data.store import GraphDataset
from spgnn_dgl.data.substructures.wl import first_colours
from spgnn_dgl.errors import OptionError
from tests.conftest import random_dataset


def as_networkx(data: GraphDataset, features: str = "labels") -> list[nx.Graph]:
    """The graphs of a dataset with the node attribute ``colour``."""
    graphs = []
    for graph, _ in data:
        made = nx.DiGraph() if data.meta.directed else nx.Graph()
        labels = {"labels": lambda g: g.ndata["label"], "degree": lambda g: g.in_degrees()}
        colours = labels[features](graph).tolist() if features in labels else ["x"] * graph.num_nodes()
        made.add_nodes_from((v, {"colour": str(c)}) for v, c in enumerate(colours))
        made.add_edges_from(zip(*(ends.tolist() for ends in graph.edges())))
        graphs.append(made)
    return graphs


def same_partition(first: np.ndarray, second: np.ndarray) -> bool:
    pairs = set(zip(first.tolist(), second.tolist()))
    return len(pairs) == len(set(first.tolist())) == len(set(second.tolist()))


def small_graphs(num_graphs: int = 300, seed: int = 0) -> GraphDataset:
    """Many graphs of few nodes, so that there are twins of every kind."""
    return random_dataset(num_graphs, seed, max_nodes=5, num_labels=2)


@pytest.mark.parametrize("features", ["labels", "degree", "constant"])
def test_classes_are_those_of_networkx(features):
    data = small_graphs()
    refinement = Refinement(data, features)
    graphs = as_networkx(data, features)
    for rounds in range(1, 4):
        refinement.refine()
        hashes = [
            weisfeiler_lehman_graph_hash(g, node_attr="colour", iterations=rounds, digest_size=16) for g in graphs
        ]
        numbers = np.unique(hashes, return_inverse=True)[1]
        assert same_partition(refinement.classes, numbers)
        assert sorted(refinement.shared) == np.flatnonzero(np.bincount(numbers)[numbers] > 1).tolist()
    assert 1 < len(np.unique(refinement.classes)) < len(data)


def test_no_round_counts_values_only():
    data = small_graphs()
    bags = [tuple(sorted(Counter(g.ndata["label"].tolist()).items())) for g, _ in data]
    numbers = np.array([sorted(set(bags)).index(bag) for bag in bags])
    assert same_partition(Refinement(data).classes, numbers)


def test_settling_takes_as_many_rounds_as_the_difference_is_far():
    # paths of 15 with a mark in the middle, or beside it: told apart by a node that sees both the mark and an end
    first, second = nx.path_graph(15), nx.path_graph(15)
    nx.set_node_attributes(first, {v: int(v == 7) for v in first}, "label")
    nx.set_node_attributes(second, {v: int(v == 6) for v in second}, "label")
    data = from_graphs([first, second], [0, 1])
    refinement = Refinement(data)
    for rounds in range(1, 6):
        refinement.refine()
        # three nodes from the end: one round more to see that it is one, and the mark is four, or three, nodes away
        assert len(np.unique(refinement.classes)) == (1 if rounds < 4 else 2)
    assert twin_groups(data).tolist() == [0, 1]


def test_what_message_passing_cannot_see():
    ring, triangles = nx.cycle_graph(6), nx.disjoint_union(nx.cycle_graph(3), nx.cycle_graph(3))
    data = from_graphs([ring, triangles, nx.path_graph(6)], [0, 1, 1])
    assert twin_groups(data).tolist() == [0, 0, 1]
    counts = count_twins(twin_groups(data), data.labels)
    assert (counts.distinct, counts.with_twin, counts.largest, counts.contradicting) == (2, 2, 2, 2)
    assert counts.ceiling == 2 / 3


def test_attributes_count_to_the_last_bit_but_not_the_sign_of_zero():
    def star(value):
        graph = nx.star_graph(2)
        nx.set_node_attributes(graph, {0: 0.0, 1: value, 2: 1.0}, "x")
        return graph

    values = [0.0, -0.0, float(np.nextafter(np.float32(0), np.float32(1))), 0.0]
    data = from_graphs([star(v) for v in values], [0, 1, 0, 1])
    assert twin_groups(data).tolist() == [0, 0, 1, 0]
    assert twin_groups(data, "degree").tolist() == [0, 0, 0, 0]


def test_the_order_of_attributes_and_the_labels_beside_them_count():
    def node(label, *attributes):
        graph = nx.empty_graph(1)
        nx.set_node_attributes(graph, {0: label}, "label")
        nx.set_node_attributes(graph, {0: list(attributes)}, "x")
        return graph

    data = from_graphs([node(0, 1.0, 2.0), node(0, 2.0, 1.0), node(1, 1.0, 2.0), node(1, 1.0, 2.0)], [0, 1, 0, 1])
    assert len(np.unique(first_colours(data, "labels+attributes"), axis=0)) == 3
    assert len(np.unique(first_colours(data, "attributes"), axis=0)) == 2
    assert len(np.unique(first_colours(data), axis=0)) == 2  # labels, as a model would take
    with pytest.raises(OptionError, match="unknown features 'label'"):
        Refinement(data, "label")


def test_of_a_directed_set_the_edges_that_come_in_count():
    out_of_one, into_one = nx.DiGraph([(0, 1), (0, 2)]), nx.DiGraph([(1, 0), (2, 0)])
    data = from_graphs([out_of_one, into_one, out_of_one], [0, 1, 0], directed=True)
    assert twin_groups(data, "constant").tolist() == [0, 1, 0]


@pytest.mark.parametrize("seed", range(5))
def test_the_ceiling_is_the_best_of_all_rules(seed):
    rng = np.random.default_rng(seed)
    classes, labels = rng.integers(0, 4, 12), rng.integers(0, 3, 12)
    classes = np.unique(classes, return_inverse=True)[1]
    groups = classes.max() + 1
    best = max(np.mean(np.array(rule)[classes] == labels) for rule in itertools.product(range(3), repeat=int(groups)))
    counts = count_twins(classes, labels)
    assert counts.ceiling == pytest.approx(best)
    contradicting = [any(labels[j] != labels[i] for j in np.flatnonzero(classes == classes[i])) for i in range(12)]
    assert counts.contradicting == sum(contradicting)


def test_classes_that_are_not_known_have_no_ceiling():
    counts = count_twins(np.array([0, 0, 1]), None)
    assert (counts.distinct, counts.with_twin, counts.ceiling, counts.contradicting) == (2, 2, None, None)


def test_a_view_is_its_own_dataset():
    data = small_graphs(80)
    some = np.random.default_rng(1).permutation(80)[:40]
    whole = twin_groups(data)[some]
    assert same_partition(twin_groups(data.subset(some)), whole)


def test_folds_keep_twins_together():
    data = small_graphs(200)
    groups = twin_groups(data)
    folds = stratified_folds(data.labels, 4, groups=groups)
    for fold in folds:
        assert not set(groups[fold.train]) & set(groups[fold.test])


@pytest.mark.real_data
@pytest.mark.parametrize(("name", "ceiling"), [("IMDB-BINARY", 0.886), ("IMDB-MULTI", 949 / 1500)])
def test_ceilings_counted_elsewhere(real_dataset, name, ceiling):
    data = real_dataset(name)
    refinement = Refinement(data)
    at_once = count_twins(refinement.classes, data.labels)
    assert at_once.ceiling == count_twins(refinement.settle().classes, data.labels).ceiling == pytest.approx(ceiling)
