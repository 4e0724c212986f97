"""One graph in a panel: what is marked can be told from what is not, in grey too."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure

from spgnn_dgl.visual.layout import layout
from spgnn_dgl.visual.panel import draw_marked, frame, node_size
from spgnn_dgl.visual.style import INK, LIGHT, PALE_INK, YELLOW

EDGES = np.array([[0, 1], [1, 2], [2, 3], [3, 0], [0, 2]])


def drawn(marked, **more):
    figure = Figure(figsize=(2, 2))
    axes = figure.add_axes((0, 0, 1, 1))
    draw_marked(axes, layout(4, EDGES), EDGES, np.array(marked), inches=(2, 2), **more)
    figure.draw_without_rendering()
    return axes


def scatters(axes):
    return [c for c in axes.collections if hasattr(c, "get_sizes") and len(c.get_sizes())]


def test_marked_nodes_are_yellow_larger_and_have_a_heavier_outline():
    plain, marked = scatters(drawn([True, False, True, False]))
    assert tuple(marked.get_facecolor()[0][:3]) == to_rgb(YELLOW)
    assert tuple(plain.get_facecolor()[0][:3]) == to_rgb(LIGHT)
    assert len(marked.get_offsets()) == len(plain.get_offsets()) == 2
    assert marked.get_sizes()[0] > 1.5 * plain.get_sizes()[0]
    assert marked.get_linewidth()[0] > 1.5 * plain.get_linewidth()[0]


def test_outlines_differ_in_grey():
    def brightness(colour):
        return np.dot(to_rgb(colour), [0.299, 0.587, 0.114])

    assert brightness(PALE_INK) - brightness(INK) > 0.4
    assert brightness(LIGHT) - brightness(YELLOW) > 0.1


def test_where_all_are_marked_no_edge_stands_out():
    some, every = drawn([True, False, True, False]), drawn([True] * 4)
    strong = [c for c in some.collections if hasattr(c, "get_segments")][1]
    assert len(strong.get_segments()) == 1  # 0-2
    assert len([c for c in every.collections if hasattr(c, "get_segments")][1].get_segments()) == 0


def test_rings_and_texts():
    axes = drawn([True, False, True, False], outlined=np.array([True, True, False, False]), texts=["C", "", "N", "Cl"])
    rings = [c for c in scatters(axes) if len(c.get_facecolor()) == 0]
    assert sorted(len(r.get_offsets()) for r in rings) == [1, 1]
    assert [t.get_text() for t in axes.texts] == ["C", "N", "Cl"]
    assert axes.texts[2].get_fontsize() < axes.texts[0].get_fontsize()


@pytest.mark.parametrize(
    "positions", [np.zeros((1, 2)), np.array([[0.0, 0.0], [1.0, 0.0]]), np.random.default_rng(0).normal(size=(50, 2))]
)
def test_everything_fits_into_the_panel(positions):
    figure = Figure(figsize=(3, 2))
    axes = figure.add_axes((0, 0, 1, 1))
    scale = frame(axes, positions, (3, 2))
    (left, right), (bottom, top) = axes.get_xlim(), axes.get_ylim()
    assert (right - left) * scale == pytest.approx(3 * 72)
    assert (top - bottom) * scale == pytest.approx(2 * 72)
    room = 11 / scale - 1e-9
    assert (positions >= [left + room, bottom + room]).all()
    assert (positions <= [right - room, top - room]).all()


def test_nodes_shrink_where_they_are_close():
    apart = np.array([[0.0, 0], [10, 0], [20, 0]])
    assert node_size(apart, 1.0) > node_size(apart / 3, 1.0)
