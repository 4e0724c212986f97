"""One graph, one panel per layer: what each layer finds important, and whom it keeps."""

from __future__ import annotations

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Normalize
from matplotlib.figure import Figure

from spgnn_dgl.explain.selection import Pooled
from spgnn_dgl.explain.subject import Subject
from spgnn_dgl.visual.layout import layout
from spgnn_dgl.visual.panel import draw_edges, draw_texts, frame, node_size
from spgnn_dgl.visual.structure import Structure, neighbourhood, structure_of
from spgnn_dgl.visual.style import FONT, INK, PALE_INK, SMALL_FONT

WIDTH = 7.0  # inches, of a printed page's text
TITLE, BAR, HEADING, LEGEND = 0.24, 0.4, 0.3, 0.26  # inches
MARGIN, EDGE_LENGTH = 15.0, 34.0  # points
LARGE = 90  # nodes from which only the neighbourhood of the selected ones is drawn: each holds a number
FEW = 40  # nodes up to which leaders are named
READABLE = 7.0  # diameter in points of the smallest node that holds a number
COLOURS = "cividis"  # even in grey and for colour-blind eyes


def draw_layers(subject: Subject, graph: int, *, seed: int = 0, title: str = "") -> Figure:
    """Importance, selection and rank of the nodes of one graph in each layer.

    Node colour is the importance in that layer, a dark ring means selected, the number inside is the rank. The
    paper's Figure 1 argues that another node leads in each layer; here it can be seen on a real graph.

    Parameters
    ----------
    graph
        Position in the dataset.
    """
    shown = subject.of([graph])
    pooled = shown.pooled()[0]
    first = np.concatenate([leading(pooled, layer)[:2] for layer in range(pooled.num_layers)])
    ranked = np.concatenate([first, np.setdiff1d(pooled.order()[:20], first, assume_unique=False)])
    structure = neighbourhood(structure_of(shown.explained, 0), ranked, LARGE)
    positions = layout(structure.num_nodes, structure.edges, seed=seed)

    columns = pooled.num_layers if pooled.num_layers <= 3 else -(-pooled.num_layers // 2)
    rows = -(-pooled.num_layers // columns)
    span = np.ptp(positions, axis=0)
    panel_width = WIDTH / columns
    panel = (panel_width, float(np.clip(panel_width * (span[1] + 1) / (span[0] + 1), 1.0, 2.4)))
    cell = TITLE + panel[1] + BAR
    height = HEADING + rows * cell + LEGEND
    figure = Figure(figsize=(WIDTH, height))
    heading = title or _heading(shown, structure)
    figure.text(0.5, 1 - 0.5 * HEADING / height, heading, ha="center", va="center", fontsize=FONT + 1, color=INK)
    named = {int(node) for layer in range(pooled.num_layers) for node in leading(pooled, layer)[:2]}
    for layer in range(pooled.num_layers):
        row, column = divmod(layer, columns)
        left, top = column * panel[0], height - HEADING - row * cell
        axes = figure.add_axes((left / WIDTH, (top - TITLE - panel[1]) / height, panel[0] / WIDTH, panel[1] / height))
        colours = _draw_layer(axes, positions, structure, pooled, layer, panel, named)
        text = f"layer {layer + 1}: {leaders(pooled, layer)}"
        middle = (left + panel[0] / 2) / WIDTH
        figure.text(middle, (top - 0.5 * TITLE) / height, text, ha="center", va="center", fontsize=FONT, color=INK)
        bar = (middle - 0.45 / WIDTH, (top - TITLE - panel[1] - 0.14) / height, 0.9 / WIDTH, 0.07 / height)
        _colour_bar(figure, figure.add_axes(bar), colours)
    note = "colour: importance in the layer · dark ring: selected · number: rank, shared by nodes that are alike"
    figure.text(0.5, 0.5 * LEGEND / height, note, ha="center", va="center", fontsize=SMALL_FONT + 0.3, color=INK)
    return figure


def _heading(subject: Subject, structure: Structure) -> str:
    probabilities = subject.probabilities()[0]
    predicted = f"{subject.class_names[int(probabilities.argmax())]} ({probabilities.max():.2f})"
    return f"{subject.title}, graph {subject.graphs[0]}: {structure.size}, predicted {predicted}"


def leading(pooled: Pooled, layer: int) -> np.ndarray:
    """The nodes of largest importance in a layer."""
    return np.flatnonzero(pooled.importance[layer] == pooled.importance[layer].max())


def leaders(pooled: Pooled, layer: int) -> str:
    """Who is first in a layer, in words."""
    first = leading(pooled, layer)
    if len(first) == 1:
        return f"node {first[0]} leads"
    return f"nodes {', '.join(map(str, first))} lead" if len(first) <= 4 else f"{len(first)} nodes lead together"


def shared_ranks(importance: np.ndarray) -> np.ndarray:
    """(n,) 1 for the largest; equal values share a rank.

    >>> shared_ranks(np.array([5.0, 7.0, 5.0, 1.0])).tolist()
    [2, 1, 2, 4]
    """
    return 1 + (importance > importance[:, None]).sum(axis=1)


def _draw_layer(
    axes: Axes,
    positions: np.ndarray,
    structure: Structure,
    pooled: Pooled,
    layer: int,
    panel: tuple[float, float],
    named: set[int],
) -> ScalarMappable:
    scale = frame(axes, positions, panel, margin=MARGIN, largest=EDGE_LENGTH)
    size = 1.15 * node_size(positions, scale)
    nodes, importance = structure.nodes, pooled.importance[layer]
    low, high = importance.min(), importance.max()
    if high - low <= 1e-9 * np.abs(importance).max():
        low, high = low - 1, high + 1
    colours = ScalarMappable(Normalize(low, high), matplotlib.colormaps[COLOURS])
    rgba = colours.to_rgba(importance[nodes])
    selected = pooled.selected[layer][nodes]
    draw_edges(axes, positions, structure.edges)
    weight = min(1.5, size / 6)
    for chosen, outline, line, factor in ((~selected, PALE_INK, 0.5, 0.8), (selected, INK, weight, 1.15)):
        axes.scatter(
            positions[chosen, 0],
            positions[chosen, 1],
            s=(factor * size) ** 2,
            facecolor=rgba[chosen],
            edgecolor=outline,
            linewidth=line,
            zorder=4,
            clip_on=False,
        )
    if 1.15 * size >= READABLE:
        ranks = [str(rank) if chosen else "" for rank, chosen in zip(shared_ranks(importance)[nodes], selected)]
        brightness = rgba[:, :3] @ [0.299, 0.587, 0.114]
        draw_texts(axes, positions, ranks, size, ["white" if b < 0.5 else INK for b in brightness])
    if len(nodes) <= FEW:
        _name(axes, positions, nodes, named, scale=scale, offset=0.78 * size)
    return colours


def _name(
    axes: Axes, positions: np.ndarray, nodes: np.ndarray, named: set[int], *, scale: float, offset: float
) -> None:
    """Numbers beside the nodes that lead some layer, on the side where there is most room."""
    angles = np.arange(24) * 2 * np.pi / 24
    # a text is about twice as wide as high: it stands further off on the sides than above
    around = np.stack([np.cos(angles) * (offset + 12), np.sin(angles) * (offset + 4.5)], axis=1)  # points
    for place in np.flatnonzero(np.isin(nodes, list(named))):
        others = (np.delete(positions, place, axis=0) - positions[place]) * scale  # points
        room = [np.min(np.hypot(*((others - at) / [2.2, 1.0]).T), initial=np.inf) for at in around]
        axes.annotate(
            f"node {nodes[place]}",
            positions[place],
            xytext=around[int(np.argmax(room))],
            textcoords="offset points",
            ha="center",
            va="center",
            fontsize=SMALL_FONT - 0.5,
            color=INK,
            zorder=3,
            annotation_clip=False,
            bbox={"boxstyle": "square,pad=0.1", "facecolor": "white", "edgecolor": "none", "alpha": 0.75},
        )


def _colour_bar(figure: Figure, axes: Axes, colours: ScalarMappable) -> None:
    bar = figure.colorbar(colours, cax=axes, orientation="horizontal")
    low, high = colours.get_clim()
    bar.set_ticks([low, high], labels=[f"{low:.2g}", f"{high:.2g}"])
    bar.ax.tick_params(labelsize=SMALL_FONT, length=2, width=0.4, pad=1.5, colors=INK)
    bar.outline.set_linewidth(0.4)
