"""Flat arrays: equal to what plain loops and networkx say, mended things counted, wrong input refused."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings

from spgnn_dgl.data.arrays import DatasetMeta, EdgeError, GraphArrays, assemble, codes, sortable, take
from spgnn_dgl.errors import DatasetError
from tests.data.data_samples import Plain, plain_datasets


def neighbour_lists(arrays: GraphArrays) -> list[list[list[int]]]:
    """Per graph and node, read entry by entry as the class says."""
    lists, position = [], 0
    for g in range(arrays.num_graphs):
        assert position == arrays.edge_offsets[g]
        lists.append([])
        for row in range(arrays.node_offsets[g], arrays.node_offsets[g + 1]):
            degree = int(arrays.in_degrees[row])
            lists[-1].append(arrays.neighbours[position : position + degree].tolist())
            position += degree
    assert position == arrays.edge_offsets[-1] == len(arrays.neighbours)
    return lists


@settings(max_examples=150, deadline=None)
@given(plain_datasets())
def test_neighbours_are_those_of_networkx(plain: Plain):
    arrays = plain.dataset().arrays
    for lists, graph in zip(neighbour_lists(arrays), plain.networkx(), strict=True):
        into = graph.pred if plain.directed else graph.adj
        assert lists == [sorted(into[v]) for v in range(len(graph))]


@settings(max_examples=150, deadline=None)
@given(plain_datasets())
def test_what_was_mended_is_counted(plain: Plain):
    edges = plain.flat_edges()
    proper = [(u, v) for u, v in edges if u != v]
    distinct = set(proper)
    assert plain.dataset().meta.mended == {
        "self_loops": len(edges) - len(proper),
        "doubled_edges": len(proper) - len(distinct),
        "one_way_edges": 0 if plain.directed else sum((v, u) not in distinct for u, v in distinct),
    }


@settings(max_examples=150, deadline=None)
@given(plain_datasets(edge_labels=True))
def test_an_edge_keeps_its_first_label_and_a_completed_one_its_partners(plain: Plain):
    data = plain.dataset()
    if data.arrays.edge_labels is None:
        return  # no edges at all
    for g, lists in enumerate(neighbour_lists(data.arrays)):
        first: dict[tuple[int, int], int] = {}
        for edge, label in zip(plain.edges[g], plain.edge_labels[g]):
            first.setdefault(edge, label)
        expected = [
            first[(u, v)] if (u, v) in first else first[(v, u)] for v, sources in enumerate(lists) for u in sources
        ]
        start, end = data.arrays.edge_offsets[g : g + 2]
        found = [int(data.meta.edge_label_names[code]) for code in data.arrays.edge_labels[start:end]]
        assert found == expected


def test_three_hundred_copies_of_an_edge_are_one_edge():
    # more copies than an int8 can count
    arrays, mended = assemble(np.array([2]), np.zeros(300, int), np.ones(300, int))
    assert neighbour_lists(arrays) == [[[1], [0]]]
    assert mended == {"self_loops": 0, "doubled_edges": 299, "one_way_edges": 1}


@settings(max_examples=60, deadline=None)
@given(plain_datasets())
def test_take_copies_the_graphs_asked_for(plain: Plain):
    arrays = plain.dataset().arrays
    order = np.array([len(plain.counts) - 1, 0, 0])
    taken, lists = take(arrays, order), neighbour_lists(arrays)
    assert neighbour_lists(taken) == [lists[g] for g in order]
    for name in ("node_labels", "node_attributes"):
        if getattr(arrays, name) is not None:
            rows = np.split(getattr(arrays, name), arrays.node_offsets[1:-1])
            np.testing.assert_array_equal(getattr(taken, name), np.concatenate([rows[g] for g in order]))
    np.testing.assert_array_equal(taken.labels, arrays.labels[order])


def test_codes_are_contiguous_and_remember_the_values():
    found, names = codes([7, -1, 7, 10])
    assert found.tolist() == [1, 0, 1, 2]
    assert names == ("-1", "7", "10")


def test_numbers_sort_as_numbers_and_texts_stay_as_they_are():
    assert codes(sortable(["10", "9", "10"]))[1] == ("9", "10")
    assert sortable(["007", "1"]).tolist() == ["007", "1"]
    assert sortable([3, "b"]).tolist() == ["3", "b"]
    assert sortable([10**30]).tolist() == [str(10**30)]


def test_fingerprint_follows_the_content():
    plain = Plain([2, 1], [[(0, 1)], []], [0, 1], [[1, 2], [3]], None, None, False)
    same, other = plain.dataset(), plain.dataset()
    assert same.fingerprint == other.fingerprint
    plain.node_labels = [[1, 2], [2]]
    assert plain.dataset().fingerprint != same.fingerprint


def test_meta_survives_json():
    meta = DatasetMeta("x", ("a", "b"), ("1",), mended={"self_loops": 3}, domain="social", directed=True)
    assert DatasetMeta.from_json({**meta.to_json(), "class_names": ["a", "b"], "of a later version": 1}) == meta


NO_EDGES = np.array([], dtype=np.int64)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"node_counts": []}, "no graphs"),
        ({"node_counts": [2, 0, 1]}, "graph 1 has no nodes"),
        ({"node_counts": [2], "source": [0], "target": [2]}, "edge 0 names node 2"),
        ({"node_counts": [2], "source": [0, -1], "target": [1, 0]}, "edge 1 names node -1"),
        ({"node_counts": [2, 2], "source": [0, 1], "target": [1, 2]}, "edge 1 joins graph 0 to graph 1"),
        ({"node_counts": [2], "source": [0, 1], "target": [1]}, "target has 1 entries, but 2"),
        ({"node_counts": [2], "source": [0], "target": [1], "edge_labels": np.array([1, 2])}, "edge_labels has 2"),
        ({"node_counts": [2], "labels": [0, 1]}, "labels has 2 entries, but 1"),
        ({"node_counts": [2], "node_labels": [0]}, "node_labels has 1 entries, but 2"),
        ({"node_counts": [2], "node_attributes": [[0.0], [np.nan]]}, "row 1 are not finite"),
        ({"node_counts": [2**31]}, "at most 2147483647"),
    ],
)
def test_wrong_input_is_refused(arguments, message):
    given_arguments = {"source": NO_EDGES, "target": NO_EDGES, **arguments}
    with pytest.raises(DatasetError, match=message):
        assemble(**{k: np.asarray(v) for k, v in given_arguments.items()})


def test_an_edge_error_knows_its_edge():
    with pytest.raises(EdgeError) as caught:
        assemble(np.array([2, 2]), np.array([0, 1]), np.array([1, 2]))
    assert caught.value.edge == 1
