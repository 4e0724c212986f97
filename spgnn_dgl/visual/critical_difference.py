"""The critical-difference diagram of Demšar (JMLR 7, 2006)."""

from __future__ import annotations

import math

import numpy as np
from matplotlib.figure import Figure

from spgnn_dgl.evaluation.statistics import Ranking
from spgnn_dgl.visual.curves import new_figure


def groups(ranking: Ranking) -> list[tuple[float, float]]:
    """Spans of average ranks that the critical difference does not separate; none lies inside another.

    >>> groups(Ranking(("a", "b", "c"), (1.0, 1.5, 3.0), 5, 0.01, 1.0))
    [(1.0, 1.5)]
    """
    ranks = sorted(ranking.ranks)
    spans: list[tuple[float, float]] = []
    for start, low in enumerate(ranks):
        end = max(i for i, rank in enumerate(ranks) if rank - low < ranking.critical_difference)
        if end > start and (not spans or ranks[end] > spans[-1][1]):
            spans.append((low, ranks[end]))
    return spans


def critical_difference(ranking: Ranking) -> Figure:
    """Methods on an axis of average ranks, the best to the left; a bar joins those that cannot be told apart."""
    order = np.argsort(ranking.ranks, kind="stable")
    left, right = order[: math.ceil(len(order) / 2)], order[math.ceil(len(order) / 2) :][::-1]
    spans = groups(ranking)
    low, high = 1, max(2, len(order))
    first_label = 0.7 + 0.35 * len(spans)
    depth = first_label + 0.5 * len(left)
    figure = new_figure(7.0, 0.9 + 0.42 * depth)
    axes = figure.subplots()
    axes.set_xlim(low - 0.9 * (high - low) / 3, high + 0.9 * (high - low) / 3)
    axes.set_ylim(-depth, 1.4)
    axes.axis("off")
    axes.plot([low, high], [0, 0], color="black", linewidth=1.2)
    for tick in range(low, high + 1):
        axes.plot([tick, tick], [0, 0.15], color="black", linewidth=1)
        axes.text(tick, 0.25, str(tick), ha="center", va="bottom", fontsize=9)
    axes.plot([low, low + ranking.critical_difference], [1.0, 1.0], color="black", linewidth=2)
    text = f"critical difference {ranking.critical_difference:.2f}, {ranking.num_datasets} datasets"
    axes.text(low, 1.1, text, ha="left", va="bottom", fontsize=8)
    for level, (start, end) in enumerate(spans):
        height = -0.3 - 0.35 * level
        axes.plot([start - 0.03, end + 0.03], [height, height], color="black", linewidth=4, solid_capstyle="round")
    for side, edge, align in ((left, low - 0.1, "right"), (right, high + 0.1, "left")):
        for row, method in enumerate(side):
            height, rank = -first_label - 0.5 * row, ranking.ranks[method]
            axes.plot([rank, rank, edge], [0, height, height], color="0.3", linewidth=0.9)
            label = f"{ranking.methods[method]} ({rank:.2f})"
            axes.text(edge + (-0.03 if align == "right" else 0.03), height, label, ha=align, va="center", fontsize=9)
    return figure
