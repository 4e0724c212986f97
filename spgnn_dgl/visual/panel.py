"""One graph in one panel of a figure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from scipy.spatial import cKDTree

from spgnn_dgl.visual.style import EDGE, INK, LIGHT, PALE_INK, STRONG_EDGE, TRUTH, YELLOW

POINTS_PER_INCH = 72
SMALLEST, LARGEST = 2.6, 9.0  # diameter of a node in points
ROOM_FOR_TEXT = 7.5
MANY_EDGES = 80


def frame(
    axes: Axes, positions: np.ndarray, inches: tuple[float, float], *, margin: float = 11.0, largest: float = 26.0
) -> float:
    """Fit positions into a panel of that many inches with a margin in points; returns points per unit.

    Small graphs are not blown up: a unit, about the length of an edge, is at most `largest` points.
    """
    span = np.ptp(positions, axis=0)
    room = np.array(inches) * POINTS_PER_INCH - 2 * margin
    scale = float(np.min(room / np.maximum(span, 1e-9))) if span.max() > 1e-9 else 20.0
    scale = min(scale, largest)
    centre = (positions.max(axis=0) + positions.min(axis=0)) / 2
    half = np.array(inches) * POINTS_PER_INCH / scale / 2
    axes.set_xlim(centre[0] - half[0], centre[0] + half[0])
    axes.set_ylim(centre[1] - half[1], centre[1] + half[1])
    axes.set_axis_off()
    return scale


def node_size(positions: np.ndarray, scale: float) -> float:
    """Diameter in points that leaves air between most neighbours."""
    if len(positions) < 2:
        return LARGEST
    nearest = cKDTree(positions).query(positions, k=2)[0][:, 1]
    return float(np.clip(0.62 * np.quantile(nearest, 0.2) * scale, SMALLEST, LARGEST))


def draw_edges(axes: Axes, positions: np.ndarray, edges: np.ndarray, strong: np.ndarray | None = None) -> None:
    """Fine lines, finer where there are many; strong ones over the others."""
    weight = min(0.6, max(0.13, 0.6 * (MANY_EDGES / max(len(edges), 1)) ** 0.6))
    strong = np.zeros(len(edges), dtype=bool) if strong is None else strong
    axes.add_collection(LineCollection(positions[edges[~strong]], linewidths=weight, colors=EDGE, zorder=1))
    axes.add_collection(LineCollection(positions[edges[strong]], linewidths=1.7 * weight, colors=STRONG_EDGE, zorder=2))


def draw_marked(
    axes: Axes,
    positions: np.ndarray,
    edges: np.ndarray,
    marked: np.ndarray,
    *,
    inches: tuple[float, float],
    outlined: np.ndarray | None = None,
    texts: Sequence[str] | None = None,
) -> None:
    """A graph with some nodes marked: yellow, larger and with a dark outline; the others light.

    Parameters
    ----------
    positions, edges
        (n, 2) and (m, 2).
    marked
        (n,) bool.
    inches
        Size of the panel.
    outlined
        (n,) bool: a ring around these, for nodes that are known to matter.
    texts
        (n,) what to write into the nodes.
    """
    scale = frame(axes, positions, inches)
    size = node_size(positions, scale)
    if texts is not None and any(texts):
        size = max(size, ROOM_FOR_TEXT)
    between = marked[edges].all(axis=1) & (not marked.all())  # where all are marked, nothing stands out
    draw_edges(axes, positions, edges, between)
    if outlined is not None:
        ring = {"facecolor": "none", "edgecolor": TRUTH, "linewidth": 1.0, "zorder": 3}
        _nodes(axes, positions[outlined & marked], 1.25 * size + 3.4, **ring)
        _nodes(axes, positions[outlined & ~marked], 0.85 * size + 3.4, **ring)
    line = float(np.clip(size / 9, 0.45, 0.9))
    _nodes(axes, positions[~marked], 0.85 * size, facecolor=LIGHT, edgecolor=PALE_INK, linewidth=0.6 * line, zorder=4)
    _nodes(axes, positions[marked], 1.25 * size, facecolor=YELLOW, edgecolor=INK, linewidth=1.3 * line, zorder=5)
    if texts is not None:
        draw_texts(axes, positions, texts, size)


def _nodes(axes: Axes, positions: np.ndarray, diameter: float, **style: Any) -> None:
    axes.scatter(positions[:, 0], positions[:, 1], s=diameter**2, clip_on=False, **style)


def draw_texts(
    axes: Axes, positions: np.ndarray, texts: Sequence[str], size: float, colours: Sequence[str] | None = None
) -> None:
    """Short texts in the middle of nodes of that diameter."""
    for (x, y), text, colour in zip(positions, texts, colours or [INK] * len(texts)):
        if text:
            font = min(0.72 * size, 1.25 * size / len(text) ** 0.8)
            place: Any = {"ha": "center", "va": "center_baseline", "zorder": 7, "clip_on": False}
            axes.text(x, y, text, fontsize=font, color=colour, **place)
