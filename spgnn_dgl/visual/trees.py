"""Subtree patterns as little trees."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes

from spgnn_dgl.explain.trees import Tree, cut
from spgnn_dgl.visual.panel import POINTS_PER_INCH, draw_texts
from spgnn_dgl.visual.style import EDGE, INK, PALE_YELLOW, SMALL_FONT, YELLOW

WIDEST = 7  # leaves of a drawn tree


def fitting(tree: Tree) -> Tree:
    """The deepest upper part of a tree that is not too wide to draw."""
    parts = [cut(tree, depth) for depth in range(1, tree.depth + 1)]
    return next((part for part in reversed(parts) if part.width <= WIDEST), parts[0] if parts else tree)


def draw_tree(axes: Axes, tree: Tree, inches: tuple[float, float]) -> None:
    """The root on top; a branch that occurs several times is drawn once, with its number."""
    places: list[tuple[float, int, Tree]] = []
    lines: list[tuple[tuple[float, int], tuple[float, int], int]] = []
    next_leaf = 0.0

    def place(node: Tree, level: int) -> float:
        nonlocal next_leaf
        if not node.branches:
            x, next_leaf = next_leaf, next_leaf + 1
        else:
            below = [place(branch, level + 1) for branch, _ in node.branches]
            x = (below[0] + below[-1]) / 2
            lines.extend(((x, level), (at, level + 1), times) for at, (_, times) in zip(below, node.branches))
        places.append((x, level, node))
        return x

    place(tree, 0)
    room = np.array(inches) * POINTS_PER_INCH - [26, 24]  # points
    across = min(26.0, room[0] / max(next_leaf - 1, 1))
    down = min(24.0, room[1] / max(tree.depth, 1))
    middle = (next_leaf - 1) / 2

    def point(x: float, level: int) -> tuple[float, float]:
        return (x - middle) * across, -level * down

    half = np.array(inches) * POINTS_PER_INCH / 2
    axes.set_xlim(-half[0], half[0])
    axes.set_ylim(-2 * half[1] + 11, 11)
    axes.set_axis_off()
    for (x, level), (at, below), _ in lines:
        axes.plot(*zip(point(x, level), point(at, below)), color=EDGE, linewidth=0.8, zorder=1)
    size = float(np.clip(min(0.8 * across, 0.72 * down), 6.0, 10.5))
    for x, level, _ in places:
        face, line = (YELLOW, 1.0) if level == 0 else (PALE_YELLOW, 0.5)
        axes.scatter(*point(x, level), s=size**2, facecolor=face, edgecolor=INK, linewidth=line, zorder=2)
    positions = np.array([point(x, level) for x, level, _ in places])
    draw_texts(axes, positions, [node.name for _, _, node in places], size)
    for (x, level), (at, below), times in lines:
        if times == 1:
            continue
        (x1, y1), (x2, y2) = point(x, level), point(at, below)
        beside = 5.5 if x1 == x2 else 0.0  # on a steep short line it would meet the nodes
        backing = {"boxstyle": "square,pad=0.08", "facecolor": "white", "edgecolor": "none"}
        style: Any = {"fontsize": SMALL_FONT - 0.6, "ha": "center", "va": "center", "bbox": backing, "zorder": 1.5}
        axes.text((x1 + x2) / 2 + beside, (y1 + y2) / 2, f"×{times}", color=INK, **style)
