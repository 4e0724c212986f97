"""Layouts: as little stress as networkx's Kamada–Kawai, alike where nodes are alike, apart where communities are."""

from __future__ import annotations

import time

import networkx as nx
import numpy as np
import pytest

from spgnn_dgl.visual.layout import layout, layouts, majorise, stress

GRAPHS = {
    "path": nx.path_graph(9),
    "cycle": nx.cycle_graph(12),
    "tree": nx.balanced_tree(2, 3),
    "grid": nx.grid_2d_graph(5, 5),
    "barbell": nx.barbell_graph(6, 2),
    "ring of cliques": nx.ring_of_cliques(4, 5),
    "wheel": nx.wheel_graph(9),
    "random": nx.gnp_random_graph(25, 0.15, seed=1),
}


def edges_of(graph):
    graph = nx.convert_node_labels_to_integers(graph)
    return graph.number_of_nodes(), np.array(graph.edges()).reshape(-1, 2)


def energy(graph, X):
    """Stress in plain loops, at the best scale."""
    steps = dict(nx.all_pairs_shortest_path_length(graph))
    pairs = [(i, j) for i in graph for j in graph if i < j]
    d = np.array([steps[i][j] for i, j in pairs], dtype=float)
    r = np.array([np.linalg.norm(X[i] - X[j]) for i, j in pairs])
    scale = (r / d).sum() / (r**2 / d**2).sum()
    return ((scale * r - d) ** 2 / d**2).sum()


@pytest.mark.parametrize("name", ["path", "cycle", "tree", "grid"])  # without communities that are held apart
def test_stress_is_no_worse_than_that_of_networkx(name):
    graph = nx.convert_node_labels_to_integers(GRAPHS[name])
    ours = energy(graph, layout(*edges_of(graph)))
    theirs = energy(graph, nx.kamada_kawai_layout(graph))
    assert ours <= 1.1 * theirs + 1e-4


def test_no_step_makes_it_worse():
    graph = GRAPHS["grid"]
    D = np.array(nx.floyd_warshall_numpy(graph))[None]
    X = np.random.default_rng(0).normal(size=(1, 25, 2))
    energies = [stress(D, X)[0]]
    for _ in range(30):
        X = majorise(D, X, steps=1)
        energies.append(stress(D, X)[0])
    assert (np.diff(energies) <= 1e-9).all()
    assert energies[-1] < 0.2 * energies[0]


@pytest.mark.parametrize("name", GRAPHS)
def test_equal_seeds_give_equal_layouts_alone_and_together(name):
    size, edges = edges_of(GRAPHS[name])
    alone = layout(size, edges, seed=3)
    np.testing.assert_array_equal(alone, layout(size, edges, seed=3))
    together = layouts([(size, edges), edges_of(nx.star_graph(4)), (size, edges)], seed=3)
    np.testing.assert_allclose(alone, together[0], atol=1e-6)
    np.testing.assert_array_equal(together[0], together[2])


def test_nodes_of_a_complete_graph_are_on_a_circle_at_even_steps():
    X = layout(*edges_of(nx.complete_graph(14)))
    radii = np.linalg.norm(X - X.mean(axis=0), axis=1)
    np.testing.assert_allclose(radii, radii[0])
    gaps = np.linalg.norm(X - np.roll(X, 1, axis=0), axis=1)
    np.testing.assert_allclose(gaps, gaps[0])


@pytest.mark.parametrize("graph", [nx.barbell_graph(8, 0), nx.ring_of_cliques(4, 6)])
def test_communities_are_apart(graph):
    X = layout(*edges_of(graph))
    members = np.arange(len(X)) // (8 if len(X) == 16 else 6)
    centres = np.array([X[members == c].mean(axis=0) for c in np.unique(members)])
    spread = max(np.linalg.norm(X[members == c] - centre, axis=1).max() for c, centre in enumerate(centres))
    between = [np.linalg.norm(a - b) for i, a in enumerate(centres) for b in centres[:i]]
    assert min(between) > 1.5 * spread


def test_two_hubs_of_the_same_nodes_are_not_drawn_as_one():
    X = layout(*edges_of(nx.complete_bipartite_graph(2, 9)))
    assert np.linalg.norm(X[0] - X[1]) > 0.2


def test_components_do_not_overlap():
    graph = nx.disjoint_union_all([nx.cycle_graph(8), nx.path_graph(5), nx.complete_graph(4), nx.empty_graph(3)])
    X = layout(*edges_of(graph))
    boxes = [(X[list(c)].min(axis=0), X[list(c)].max(axis=0)) for c in nx.connected_components(graph)]
    for i, (low, high) in enumerate(boxes):
        for other_low, other_high in boxes[:i]:
            assert (low > other_high + 0.5).any() or (high < other_low - 0.5).any()


def test_the_longer_side_is_horizontal_and_edges_are_about_one_long():
    size, edges = edges_of(GRAPHS["path"])
    X = layout(size, edges)
    width, height = np.ptp(X, axis=0)
    assert width > height
    assert np.linalg.norm(X[edges[:, 0]] - X[edges[:, 1]], axis=1).mean() == pytest.approx(1, abs=0.2)


@pytest.mark.parametrize("size", [1, 2, 3])
def test_tiny_graphs(size):
    X = layout(size, edges_of(nx.path_graph(size))[1])
    assert X.shape == (size, 2)
    assert np.isfinite(X).all()


def test_directions_repetitions_and_loops_do_not_matter():
    edges = np.array([[0, 1], [1, 2], [2, 3]])
    odd = np.array([[1, 0], [0, 1], [1, 2], [3, 2], [2, 3], [2, 2]])
    np.testing.assert_allclose(layout(4, edges), layout(4, odd), atol=1e-9)


def test_many_graphs_take_seconds():
    rng = np.random.default_rng(0)
    graphs = [edges_of(nx.gnp_random_graph(int(n), 0.3, seed=int(n))) for n in rng.integers(6, 20, 200)]
    start = time.process_time()
    assert len(layouts(graphs)) == 200
    assert time.process_time() - start < 15
