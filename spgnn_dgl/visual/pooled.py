"""The paper's figure: graphs of every class with the nodes that the model pools."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from spgnn_dgl.errors import OptionError
from spgnn_dgl.explain.subject import Subject
from spgnn_dgl.visual.layout import layout
from spgnn_dgl.visual.panel import draw_marked
from spgnn_dgl.visual.structure import neighbourhood, node_texts, structure_of
from spgnn_dgl.visual.style import FONT, INK, LIGHT, PALE_INK, SMALL_FONT, TRUTH, YELLOW

LARGE = 250
"""Graphs with more nodes are drawn as the neighbourhood of their pooled nodes."""

PANEL = (1.75, 1.55)  # inches
TITLE, ROW_LABEL, LEGEND_LINE, HEADING = 0.34, 0.55, 0.2, 0.26  # inches
NARROW = 5.0  # inches under which the entries of the legend stand below each other


@dataclass(frozen=True)
class PooledStyle:
    """What the figure shows.

    Parameters
    ----------
    top
        Nodes to mark per graph.
    texts
        What to write into nodes: ``"none"``, ``"ids"``, ``"symbols"``.
    truth
        Whether nodes that are known to decide the class get a ring.
    title
        Over the figure.
    seed
        Of the layouts.
    """

    top: int = 10
    texts: str = "none"
    truth: bool = False
    title: str = ""
    seed: int = 0


def draw_pooled(subject: Subject, rows: Sequence[Sequence[int]], style: PooledStyle | None = None) -> Figure:
    """Rows of graphs, one row per class, with the most pooled nodes marked.

    Paper, supplement, "Visualization": nodes are ranked by the number of layers that selected them, ties by summed
    importance, and the top ones are yellow. Nodes that tie with the last of them are marked as well: in a complete
    graph all nodes are alike and look alike.

    Parameters
    ----------
    rows
        Positions of graphs, a list per row; see :func:`spgnn_dgl.explain.choice.graphs_per_class`.
    """
    style = style or PooledStyle()
    chosen = [graph for row in rows for graph in row]
    if not chosen:
        raise OptionError("there is no graph to draw; name graphs, or ask for at least one per class.")
    shown = subject.of(chosen)
    if style.truth and subject.data.arrays.truth is None:
        raise OptionError(f"{subject.data.name} does not say which nodes decide the class, so none can be outlined.")
    place = {graph: number for number, graph in enumerate(shown.graphs.tolist())}
    pooled, probabilities, labels = shown.pooled(), shown.probabilities(), shown.labels

    columns = max(map(len, rows))
    heading = HEADING if style.title else 0.04
    width = ROW_LABEL + columns * PANEL[0]
    legend_lines = 1 if width >= NARROW else 2 + style.truth
    legend = LEGEND_LINE * legend_lines + 0.14
    height = heading + len(rows) * (PANEL[1] + TITLE) + legend
    figure = Figure(figsize=(width, height))

    def write(x: float, y: float, text: str, size: float, **more: Any) -> None:
        figure.text(
            x / width, y / height, text, **{"ha": "center", "va": "center", "fontsize": size, "color": INK, **more}
        )

    write(width / 2, height - 0.55 * heading, style.title, FONT + 1.5)
    for r, row in enumerate(rows):
        top = height - heading - r * (PANEL[1] + TITLE)
        bottom = top - TITLE - PANEL[1]
        write(0.2, bottom + PANEL[1] / 2, _class_label(subject, labels[place[row[0]]]), FONT + 0.5, rotation=90)
        for c, graph in enumerate(row):
            number, left = place[graph], ROW_LABEL + c * PANEL[0]
            axes = figure.add_axes((left / width, bottom / height, PANEL[0] / width, PANEL[1] / height))
            ranked = pooled[number].order()[: style.top]
            structure = neighbourhood(structure_of(shown.explained, number), ranked, LARGE)
            texts = node_texts(shown.explained, number, style.texts)
            draw_marked(
                axes,
                layout(structure.num_nodes, structure.edges, seed=style.seed),
                structure.edges,
                pooled[number].top(style.top)[structure.nodes],
                inches=PANEL,
                outlined=_truth(shown, number)[structure.nodes] if style.truth else None,
                texts=[texts[node] for node in structure.nodes],
            )
            text = f"graph {graph}, {structure.size}\n{_verdict(subject, probabilities[number], labels[number])}"
            write(left + PANEL[0] / 2, top - 0.06, text, SMALL_FONT + 0.3, va="top", linespacing=1.25)
    _legend(figure, style, legend / height, one_line=legend_lines == 1)
    return figure


def _truth(subject: Subject, number: int) -> np.ndarray:
    data = subject.data
    graph = data.members[subject.graphs[number]]
    start, end = data.arrays.node_offsets[graph : graph + 2]
    assert data.arrays.truth is not None
    return data.arrays.truth[start:end]


def _class_label(subject: Subject, label: int) -> str:
    name = f"class {subject.class_names[label]}" if label >= 0 else "class not known"
    return "\n".join(textwrap.wrap(name, 24, break_on_hyphens=False))


def _verdict(subject: Subject, probabilities: np.ndarray, label: int) -> str:
    predicted = int(probabilities.argmax())
    mark = "" if label < 0 else " ✓" if predicted == label else " ✗"
    name = textwrap.shorten(subject.class_names[predicted], 18, placeholder="…")
    return f"predicted {name} ({probabilities[predicted]:.2f}){mark}"


def _legend(figure: Figure, style: PooledStyle, height: float, *, one_line: bool) -> None:
    def handle(label: str, face: str, edge: str, size: float, weight: float) -> Line2D:
        return Line2D(
            [],
            [],
            linestyle="none",
            marker="o",
            markersize=size,
            markerfacecolor=face,
            markeredgecolor=edge,
            markeredgewidth=weight,
            label=label,
        )

    handles = [
        handle(f"top {style.top} by layers that pooled the node (ties included)", YELLOW, INK, 6.5, 1.0),
        handle("other nodes", LIGHT, PALE_INK, 4.5, 0.5),
    ]
    if style.truth:
        handles.insert(1, handle("ground truth", "none", TRUTH, 8.0, 1.1))
    figure.legend(
        handles=handles,
        loc="center",
        bbox_to_anchor=(0.5, height / 2),
        ncols=len(handles) if one_line else 1,
        frameon=False,
        fontsize=FONT,
        handletextpad=0.3,
        columnspacing=1.4,
    )
