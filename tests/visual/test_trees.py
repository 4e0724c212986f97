"""Subtree patterns as little trees."""

from __future__ import annotations

from matplotlib.figure import Figure

from spgnn_dgl.explain.trees import parse_query
from spgnn_dgl.visual.trees import draw_tree, fitting


def test_a_tree_is_drawn_with_its_names_and_numbers():
    axes = Figure().add_axes((0, 0, 1, 1))
    draw_tree(axes, parse_query("N(C(C, C), O, O)"), (2, 1))
    assert sorted(t.get_text() for t in axes.texts) == ["C", "C", "N", "O", "×2", "×2"]
    assert len(axes.lines) == 3
    heights = {t.get_text(): t.get_position()[1] for t in axes.texts if t.get_text() in "NO"}
    assert heights["N"] > heights["O"]


def test_a_wide_tree_is_cut_to_what_fits():
    wide = parse_query("A(B(" + ",".join(f"x{i}" for i in range(12)) + "), C(D))")
    assert str(fitting(wide)) == "A(B, C)"
    narrow = parse_query("A(B(C(D)))")
    assert fitting(narrow) == narrow
    assert fitting(parse_query("A")) == parse_query("A")
