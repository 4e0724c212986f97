"""Trees stand for Weisfeiler–Lehman colours: equal exactly when those are."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spgnn_dgl.data.substructures.wl import wl_colours
from spgnn_dgl.errors import OptionError
from spgnn_dgl.explain.trees import Tree, contains, cut, parse_query, unfold
from tests.conftest import random_dataset


def neighbours_of(data):
    """Neighbour lists over all nodes of a dataset of undirected graphs."""
    lists = []
    for graph in range(len(data)):
        batch = data.batch([graph])
        start = int(data.arrays.node_offsets[graph])
        source, target = (ends.numpy() for ends in batch.edges())
        lists += [(source[target == node] + start).tolist() for node in range(batch.num_nodes())]
    return lists


@pytest.mark.parametrize("seed", range(4))
def test_trees_are_equal_exactly_when_colours_are(seed):
    data = random_dataset(8, seed, num_labels=2)
    neighbours, names = neighbours_of(data), [str(code) for code in data.arrays.node_labels]
    for depth, colours in enumerate(wl_colours(data, 3, labels="labels")):
        trees = [str(unfold(neighbours, names, node, depth)) for node in range(len(names))]
        same_tree = np.array(trees)[:, None] == np.array(trees)
        np.testing.assert_array_equal(same_tree, colours[:, None] == colours)


def test_a_way_does_not_turn_back_at_once():
    triangle = [[1, 2], [0, 2], [0, 1]]
    assert str(unfold(triangle, "ABC", 0, 2)) == "A(B(C), C(B))"
    assert str(unfold([[1], [0]], "AB", 0, 5)) == "A(B)"
    assert str(unfold([[]], "A", 0, 3)) == "A"


def test_depth_width_and_cut():
    tree = parse_query("A(B(C, C), B(D), E)")
    assert (tree.depth, tree.width) == (2, 3)  # equal leaves are drawn once
    assert str(cut(tree, 1)) == "A(2×B, E)"
    assert cut(tree, 5) == tree
    assert tree == Tree("A", {Tree("B", {Tree("C"): 2}): 1, Tree("B", {Tree("D"): 1}): 1, Tree("E"): 1})


@pytest.mark.parametrize(
    ("tree", "query", "expected"),
    [
        ("N(C, O, O)", "N(O, O)", True),
        ("N(C, O)", "N(O, O)", False),
        ("C(O, O)", "N(O, O)", False),
        ("O(N(C, O))", "O(N(O))", True),
        ("N", "N", True),
        # the branch with two C must be kept for the need of two
        ("A(B(C, C), B(C))", "A(B(C), B(C, C))", True),
        ("A(B(C), B(C))", "A(B(C), B(C, C))", False),
    ],
)
def test_contains(tree, query, expected):
    assert contains(parse_query(tree), parse_query(query)) is expected


@pytest.mark.parametrize("text", ["", "N(", "N)", "(O)", "N(O,)", "N(O,O", "N(O)(C)", "N O", "N(O))"])
def test_a_query_that_is_none_is_refused(text):
    with pytest.raises(OptionError, match="is not a group"):
        parse_query(text)


trees = st.recursive(
    st.sampled_from("CNO").map(Tree),
    lambda inner: st.builds(Tree, st.sampled_from("CNO"), st.dictionaries(inner, st.just(1), max_size=3)),
    max_leaves=8,
)


@given(trees)
@settings(max_examples=60, deadline=None)
def test_a_tree_is_read_back_from_its_text_and_contains_itself_and_its_upper_parts(tree):
    assert parse_query(str(tree)) == tree
    assert contains(tree, tree)
    for depth in range(tree.depth):
        assert contains(tree, cut(tree, depth))
