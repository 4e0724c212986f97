"""Isomorphism classes against BLISS's canonical forms, and what happens when the time is up."""

from __future__ import annotations

import time

import networkx as nx
import numpy as np
import pytest

from spgnn_dgl.data.audit.isomorphism import COLOUR, isomorphic, isomorphism_classes, reduced_graphs
from spgnn_dgl.data.audit.twins import Refinement
from spgnn_dgl.data.readers.graphs import from_graphs
from spgnn_dgl.data.store import GraphDataset
from spgnn_dgl.errors import BudgetExceeded
from tests.conftest import random_dataset
from tests.data.audit.test_twins import same_partition

SOON = 60.0


def canonical_classes(data: GraphDataset, labelled: bool) -> np.ndarray:
    """(G,) numbers of canonical forms, by igraph's BLISS."""
    igraph = pytest.importorskip("igraph")
    forms = []
    for graph, _ in data:
        ends = [(u, v) for u, v in zip(*(e.tolist() for e in graph.edges())) if u < v]
        colours = graph.ndata["label"].tolist() if labelled else [0] * graph.num_nodes()
        whole = igraph.Graph(graph.num_nodes(), ends, vertex_attrs={"colour": colours})
        form = whole.permute_vertices(whole.canonical_permutation(color=colours))
        forms.append(repr((sorted(map(sorted, form.get_edgelist())), form.vs["colour"])))
    return np.unique(forms, return_inverse=True)[1]


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("labelled", [True, False])
def test_classes_are_those_of_canonical_forms(seed, labelled):
    data = random_dataset(400, seed, max_nodes=6, num_labels=2)
    classes, undecided = isomorphism_classes(Refinement(data, "labels" if labelled else "constant"), SOON)
    assert undecided == 0
    expected = canonical_classes(data, labelled)
    assert same_partition(classes, expected)
    assert len(np.unique(expected)) < 300, "there are isomorphic graphs to find"


def regular_graphs() -> GraphDataset:
    """Graphs that colour refinement cannot tell apart: two copies each of all kinds of 3-regular graphs drawn."""
    rng = np.random.default_rng(0)
    graphs = [nx.random_regular_graph(3, 10, seed=s) for s in range(12)]
    graphs += [nx.relabel_nodes(g, dict(enumerate(rng.permutation(10).tolist()))) for g in graphs]
    return from_graphs([nx.convert_node_labels_to_integers(g, ordering="sorted") for g in graphs], [0, 1] * 12)


def test_graphs_that_refinement_cannot_tell_apart():
    data = regular_graphs()
    refinement = Refinement(data)
    assert len(np.unique(refinement.settle().classes)) == 1
    classes, undecided = isomorphism_classes(refinement, SOON)
    assert undecided == 0
    assert same_partition(classes, canonical_classes(data, labelled=False))
    assert len(np.unique(classes)) > 3


def test_directed_graphs():
    # all nodes of both have one edge in and one edge out, so that refinement sees no difference
    ring = nx.cycle_graph(6, create_using=nx.DiGraph)
    rings = nx.disjoint_union(*[nx.cycle_graph(3, create_using=nx.DiGraph)] * 2)
    data = from_graphs([ring, rings, ring.reverse(), rings], [0, 1, 0, 1], directed=True)
    classes, undecided = isomorphism_classes(Refinement(data), SOON)
    assert (classes.tolist(), undecided) == ([0, 1, 0, 1], 0)


def test_interchangeable_nodes_become_one():
    graphs = [nx.complete_graph(30), nx.complete_graph(30), nx.complete_bipartite_graph(5, 9), nx.empty_graph(4)]
    twice = from_graphs([*graphs, *graphs], [0, 1] * 4)
    sizes = [len(g) for g in reduced_graphs(Refinement(twice).settle())]
    assert sizes == [1, 1, 2, 1, 1, 1, 2, 1]


def test_cliques_and_rings_of_one_size_are_not_taken_for_each_other():
    # the same number of interchangeable nodes, once joined and once not, beside the same hub
    joined, apart = nx.complete_graph(5), nx.star_graph(4)
    data = from_graphs([joined, apart, joined, apart], [0, 1, 0, 1])
    joined_class, apart_class = isomorphism_classes(Refinement(data, "constant"), SOON)[0][:2]
    assert joined_class != apart_class


def test_a_search_ends_when_its_time_is_up():
    first, second = (nx.random_regular_graph(3, 40, seed=s) for s in (1, 2))
    for graph in (first, second):
        nx.set_node_attributes(graph, 0, COLOUR)
    with pytest.raises(BudgetExceeded):
        isomorphic(first, second, deadline=time.monotonic() - 1)


def test_what_is_not_decided_is_counted_and_taken_as_different():
    data = regular_graphs()
    classes, undecided = isomorphism_classes(Refinement(data), seconds=-1)
    decided = len(data) - undecided  # without a search: graphs of which interchangeable nodes are left that all differ
    assert 1 <= decided < len(data) / 2
    assert len(np.unique(classes)) >= undecided


def test_nothing_is_shared():
    data = from_graphs([nx.path_graph(n) for n in (2, 3, 4)], [0, 1, 0])
    refinement = Refinement(data)
    assert reduced_graphs(refinement) == []
    assert isomorphism_classes(refinement)[0].tolist() == [0, 1, 2]
