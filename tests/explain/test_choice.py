"""Which graphs are shown."""

from __future__ import annotations

import numpy as np

from spgnn_dgl.explain.choice import by_class, communities_and_complete, graph_with_changing_leaders, graphs_per_class
from tests.explained import complete, dataset, motif_subject, path, star, written_subject


def two_cliques(size):
    edges = [(a, b) for a in range(size) for b in range(a)]
    edges += [(a + size, b + size) for a, b in edges] + [(0, size)]
    return 2 * size, edges


def zeros(graph):
    return np.zeros((2, graph.num_nodes()))


def test_graphs_of_each_class_are_spread_over_the_sizes_and_right_ones_come_first():
    data = dataset([path(size) for size in range(2, 22)], [0] * 10 + [1] * 10)
    right = {4, 6, 8, 10}  # class 0 by size

    def predict(graph):
        return [1.0, 0.0] if graph.num_nodes() in right or graph.num_nodes() == 15 else [0.0, 1.0]

    rows = graphs_per_class(written_subject(data, zeros, k=3, predict=predict), 3)
    assert len(rows) == 2
    sizes = [[int(data.node_counts[g]) for g in row] for row in rows]
    assert set(sizes[0]) <= right
    assert sizes[1] == sorted(sizes[1])
    assert 15 not in sizes[1]
    assert all(len(row) == 3 for row in rows)
    # where too few are right, others are shown too
    assert len(graphs_per_class(written_subject(data, zeros, k=3, predict=predict), 8)[0]) == 8


def test_a_class_with_few_graphs_shows_what_it_has():
    data = dataset([path(3), path(4), path(5)], [0, 0, 1])
    assert graphs_per_class(written_subject(data, zeros, k=3), 5) == [[0, 1], [2]]
    assert by_class(written_subject(data, zeros, k=3)) == [[0, 1], [2]]


def test_both_cases_of_the_paper_are_found():
    graphs = [complete(9), two_cliques(5), star(12), complete(12), two_cliques(6), star(9)] * 2 + [
        complete(60),
        path(3),
    ]
    data = dataset(graphs, [0] * 6 + [1] * 6 + [0, 1])
    rows = communities_and_complete(written_subject(data, zeros, k=3), 1, 2)
    for row in rows:
        communities, *full = row
        assert graphs[communities] in (two_cliques(5), two_cliques(6))
        assert [graphs[g] for g in full] == [complete(9), complete(12)]


def test_the_layer_view_takes_a_graph_whose_layers_disagree():
    data = dataset([path(9), path(10), path(11)], [0, 1, 0], node_labels="ABCDEFGHI" + "ABCDEFGHIJ" + "ABCDEFGHIJK")

    def importance(graph):
        n = graph.num_nodes()
        first, second = np.arange(n, dtype=float), np.arange(n, dtype=float)
        if n == 10:
            second = second[::-1]
        return np.stack([first, second])

    assert graph_with_changing_leaders(written_subject(data, importance, k=3)) == 1


def test_a_dataset_without_graphs_of_a_handy_size_has_a_layer_view_too():
    data = dataset([path(40), path(60)], [0, 1])
    assert graph_with_changing_leaders(written_subject(data, zeros, k=3)) == 0
    assert graph_with_changing_leaders(motif_subject()) in motif_subject().graphs
