"""The patterns a model pools, as little trees, each with a graph in which it occurs."""

from __future__ import annotations

import textwrap
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from scipy.sparse.csgraph import shortest_path

from spgnn_dgl.errors import OptionError
from spgnn_dgl.explain.patterns import Pattern, PatternTable
from spgnn_dgl.explain.selection import require_selecting
from spgnn_dgl.visual.layout import layout
from spgnn_dgl.visual.panel import ROOM_FOR_TEXT, draw_edges, draw_texts, frame, node_size
from spgnn_dgl.visual.structure import neighbourhood, structure_of
from spgnn_dgl.visual.style import FONT, INK, LIGHT, PALE_INK, PALE_YELLOW, SMALL_FONT, YELLOW
from spgnn_dgl.visual.trees import draw_tree, fitting

CELL = 1.7  # inches
TREE, GRAPH, CAPTION = 1.1, 1.15, 0.46
ROW_LABEL, LEGEND, GAP = 0.5, 0.32, 0.12
LARGE = 60  # nodes of a drawn example


def distinct(patterns: list[Pattern], count: int) -> list[Pattern]:
    """The first patterns, without those that are the same nodes seen by another layer."""
    chosen: dict[tuple[int, ...], Pattern] = {}
    for pattern in patterns:
        chosen.setdefault((pattern.pooled, pattern.nodes, pattern.graphs), pattern)
        if len(chosen) == count:
            break
    return list(chosen.values())


def draw_patterns(table: PatternTable, *, per_class: int = 4, seed: int = 0) -> Figure:
    """One row per class with its most salient patterns: the tree, an example, and what was counted."""
    classes = [label for label in range(len(table.subject.class_names)) if table.of_class(label)]
    if not classes or per_class < 1:
        raise OptionError(
            "there is no pattern to draw: none is pooled in enough graphs of a class. Ask for a smaller number of "
            "graphs (--fewest-graphs), or for more ranks per layer (--top)."
        )
    rows = [distinct(table.of_class(label), per_class) for label in classes]
    width = ROW_LABEL + max(map(len, rows)) * CELL
    row_height = TREE + GRAPH + CAPTION + GAP
    height = len(rows) * row_height + LEGEND
    figure = Figure(figsize=(width, height))

    def axes_at(left: float, bottom: float, inches: tuple[float, float]) -> Axes:
        return figure.add_axes((left / width, bottom / height, inches[0] / width, inches[1] / height))

    def write(x: float, y: float, text: str, size: float, **more: Any) -> None:
        figure.text(
            x / width, y / height, text, **{"ha": "center", "va": "center", "fontsize": size, "color": INK, **more}
        )

    for r, (label, row) in enumerate(zip(classes, rows)):
        top = height - r * row_height - GAP / 2
        name = "\n".join(textwrap.wrap(f"class {table.subject.class_names[label]}", 24, break_on_hyphens=False))
        write(0.2, top - row_height / 2, name, FONT + 0.5, rotation=90)
        for c, pattern in enumerate(row):
            left = ROW_LABEL + c * CELL
            tree = table.tree(pattern)
            shown = fitting(tree)
            draw_tree(axes_at(left, top - TREE, (CELL, TREE)), shown, (CELL, TREE))
            _draw_example(axes_at(left, top - TREE - GRAPH, (CELL, GRAPH)), table, pattern, seed)
            text = _caption(pattern, shown.depth)
            write(left + CELL / 2, top - TREE - GRAPH - 0.02, text, SMALL_FONT, va="top", linespacing=1.3)
    _legend(figure, LEGEND / height, _meaning(table))
    return figure


def _draw_example(axes: Axes, table: PatternTable, pattern: Pattern, seed: int) -> None:
    """The example graph with the root and all that the layer sees of it."""
    subject = table.subject
    number, root = pattern.example
    whole = structure_of(subject.explained, number)
    structure = neighbourhood(whole, [root], LARGE)
    positions = layout(structure.num_nodes, structure.edges, seed=seed)
    steps = shortest_path(
        structure.adjacency(), directed=False, unweighted=True, indices=int(np.flatnonzero(structure.nodes == root)[0])
    )
    inches = (CELL, GRAPH)
    scale = frame(axes, positions, inches, margin=9.0, largest=20.0)
    symbols = subject.data.meta.node_symbols
    size = node_size(positions, scale)
    draw_edges(
        axes,
        positions,
        structure.edges,
        (steps[structure.edges] <= pattern.depth).all(axis=1) & (steps.max() > pattern.depth),
    )
    styles = (
        (steps > pattern.depth, LIGHT, PALE_INK, 0.4, 0.8),
        ((steps <= pattern.depth) & (steps > 0), PALE_YELLOW, INK, 0.6, 1.0),
        (steps == 0, YELLOW, INK, 1.3, 1.3),
    )
    for chosen, face, edge, line, factor in styles:
        axes.scatter(
            positions[chosen, 0],
            positions[chosen, 1],
            s=(factor * size) ** 2,
            facecolor=face,
            edgecolor=edge,
            linewidth=line,
            zorder=4,
            clip_on=False,
        )
    if symbols and size >= ROOM_FOR_TEXT - 2:
        start = subject.data.arrays.node_offsets[subject.data.members[subject.graphs[number]]]
        assert subject.data.arrays.node_labels is not None
        codes = subject.data.arrays.node_labels[start + structure.nodes]
        texts = [symbols[code] if step <= pattern.depth else "" for code, step in zip(codes, steps)]
        draw_texts(axes, positions, texts, size)


def _caption(pattern: Pattern, drawn: int) -> str:
    reach = (
        f"layer {pattern.layer}"
        if drawn == pattern.depth
        else f"layer {pattern.layer}, first {_steps(drawn)} of {pattern.depth}"
    )
    return (
        f"{reach}: {pattern.enrichment:.1f}× enriched\n"
        f"in {pattern.graph_share:.0%} of the class, {pattern.share_elsewhere:.0%} elsewhere\n"
        f"q = {scientific(pattern.q)}"
    )


def _steps(count: int) -> str:
    return "step" if count == 1 else f"{count} steps"


def scientific(value: float) -> str:
    """A small number as text; one too small to be written is said to be below the smallest that can.

    >>> scientific(0.0312), scientific(0.0)
    ('0.031', '< 1e-300')
    """
    if value < 1e-300:
        return "< 1e-300"
    return f"{value:.2g}" if value >= 1e-4 else f"{value:.0e}"


def _meaning(table: PatternTable) -> str:
    """What stands in the nodes."""
    kind = require_selecting(table.subject.parts[0].method).policy.kind
    return {"degree": "number: degree", "constant": ""}.get(kind, "")


def _legend(figure: Figure, height: float, meaning: str) -> None:
    root = f"root: a pooled node ({meaning})" if meaning else "root: a pooled node"
    entries = (
        (root, YELLOW, INK, 6.5, 1.0),
        ("what the layer sees around it", PALE_YELLOW, INK, 5.5, 0.6),
        ("rest of an example graph", LIGHT, PALE_INK, 4.5, 0.5),
    )
    handles = [
        Line2D(
            [],
            [],
            linestyle="none",
            marker="o",
            markersize=size,
            markerfacecolor=face,
            markeredgecolor=edge,
            markeredgewidth=line,
            label=label,
        )
        for label, face, edge, size, line in entries
    ]
    narrow = figure.get_figwidth() < 5
    figure.legend(
        handles=handles,
        loc="center",
        bbox_to_anchor=(0.5, height / 2),
        ncols=3,
        frameon=False,
        fontsize=SMALL_FONT - 1 if narrow else FONT,
        handletextpad=0.2,
        columnspacing=1.0,
    )
