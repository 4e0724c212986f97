"""One method among others: a strip of accuracies per dataset."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from matplotlib.figure import Figure

from spgnn_dgl.visual.curves import new_figure
from spgnn_dgl.visual.style import INK, LIGHT, PALE_INK, TRUTH, YELLOW

SMALL, NORMAL = 8, 9  # points
BELOW = 0.25  # of a row: where the other methods stand, so that none is covered


@dataclass(frozen=True)
class Strip:
    """Accuracies on a dataset, in percent.

    `own` ± `spread` is the method that is looked at, `printed` what a paper says of it, `others` name → accuracy,
    `floor` that of always answering with the largest class.
    """

    dataset: str
    own: float
    spread: float
    printed: float | None
    others: Mapping[str, float]
    floor: float

    @property
    def best(self) -> tuple[str, float]:
        """The best of the others; the floor where there are none."""
        return max(self.others.items(), key=lambda other: other[1], default=("largest class", self.floor))


def accuracy_strips(strips: Sequence[Strip], method: str) -> Figure:
    """A row per dataset, an accuracy per mark; the best of the others is named at the right."""
    figure = new_figure(7.6, 1.1 + 0.42 * len(strips))
    axes = figure.subplots()
    rows = range(len(strips))
    widest = max(strip.spread for strip in strips)
    for row, strip in zip(rows, strips, strict=True):
        axes.axhline(row, color=LIGHT, linewidth=0.8, zorder=0)
        axes.text(1.02, row, "{} {:.1f}".format(*strip.best), transform=axes.get_yaxis_transform(), va="center")
    axes.text(1.02, -0.85, "best of the others", transform=axes.get_yaxis_transform(), va="center", color=PALE_INK)
    own = [strip.own for strip in strips]
    floors = [strip.floor for strip in strips]
    others = [(accuracy, row + BELOW) for row, strip in zip(rows, strips) for accuracy in strip.others.values()]
    printed = [(strip.printed, row) for row, strip in zip(rows, strips) if strip.printed is not None]
    axes.errorbar(own, rows, xerr=[strip.spread for strip in strips], fmt="none", color=PALE_INK, linewidth=1)
    axes.plot(floors, rows, "|", color=INK, markersize=11, label="always the largest class")
    if others:
        axes.plot(*zip(*others), "o", color=PALE_INK, alpha=0.7, markersize=4, mew=0, label="other methods")
    axes.plot(own, rows, "o", color=YELLOW, markeredgecolor=INK, markersize=8.5, label=f"{method} ± over folds")
    if printed:
        axes.plot(*zip(*printed), "D", color="none", markeredgecolor=TRUTH, markersize=6, label=f"{method}, printed")
    axes.set_yticks(rows, [strip.dataset for strip in strips])
    axes.set_ylim(len(strips) - 0.5, -0.5)
    axes.set_xlim(left=min(*floors, min(own) - widest) - 2)
    axes.set_xlabel("accuracy, %")
    axes.grid(axis="x", color=LIGHT)
    axes.set_axisbelow(True)
    axes.spines[["left", "right", "top"]].set_visible(False)
    axes.tick_params(left=False, labelsize=NORMAL)
    for text in axes.texts:
        text.set_fontsize(SMALL)
    figure.legend(loc="outside lower center", ncols=4, frameon=False, fontsize=SMALL)
    return figure
