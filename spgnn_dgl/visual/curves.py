"""Learning curves with the spread over folds, and the confusion matrix."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure


def learning_curves(
    histories: Sequence[Sequence[Mapping[str, Any]]],
    tested: Mapping[int, Sequence[float]],
    *,
    title: str = "",
    majority: float | None = None,
    chosen: Sequence[int] = (),
) -> Figure:
    """Accuracy and loss over epochs: the mean over trainings as a line, one standard deviation as a band.

    Parameters
    ----------
    histories
        One per training: lines with `epoch`, `loss`, `accuracy` and, with validation, `validation_loss` and
        `validation_accuracy`. They may end at different epochs.
    tested
        Epoch → accuracies of the tested folds.
    majority
        Share of the largest class, drawn as the level of guessing.
    chosen
        Epochs that were chosen, marked on the axis.
    """
    figure = new_figure(9.0, 3.6)
    accuracy, loss = figure.subplots(1, 2)
    for axes, key in ((accuracy, "accuracy"), (loss, "loss")):
        _band(axes, histories, key, "training", "C0")
        _band(axes, histories, f"validation_{key}", "validation", "C2")
        axes.set_xlabel("epoch")
        axes.set_ylabel(key)
        axes.grid(alpha=0.3)
    if tested:
        epochs = sorted(tested)
        accuracy.errorbar(
            epochs,
            [float(np.mean(tested[e])) for e in epochs],
            [float(np.std(tested[e])) for e in epochs],
            fmt="o",
            color="C3",
            capsize=3,
            label="tested folds",
        )
    if majority is not None:
        accuracy.axhline(majority, color="0.5", linestyle=":", label="largest class")
    for epoch in sorted(set(chosen)):
        accuracy.axvline(epoch, color="C3", alpha=0.3, linestyle="--")
    accuracy.set_ylim(0, 1.02)
    accuracy.legend(fontsize="small", loc="lower right")
    loss.set_ylim(bottom=0)
    figure.suptitle(title)
    return figure


def _band(axes: Any, histories: Sequence[Sequence[Mapping[str, Any]]], key: str, label: str, color: str) -> None:
    lines = [[(line["epoch"], line[key]) for line in history if line.get(key) is not None] for history in histories]
    by_epoch: dict[int, list[float]] = {}
    for line in lines:
        for epoch, value in line:
            by_epoch.setdefault(epoch, []).append(value)
    if not by_epoch:
        return
    epochs = np.array(sorted(by_epoch))
    mean = np.array([np.mean(by_epoch[e]) for e in epochs])
    spread = np.array([np.std(by_epoch[e]) for e in epochs])
    axes.plot(epochs, mean, color=color, label=label)
    axes.fill_between(epochs, mean - spread, mean + spread, color=color, alpha=0.2, linewidth=0)


def confusion_matrix(counts: Sequence[Sequence[int]], class_names: Sequence[str], *, title: str = "") -> Figure:
    """Counts with the share of their true class as colour; rows are the true classes."""
    table = np.asarray(counts)
    shares = table / np.maximum(1, table.sum(axis=1, keepdims=True))
    side = 2.2 + 0.55 * len(class_names)
    figure = new_figure(side + 0.8, side)
    axes = figure.subplots()
    image = axes.imshow(shares, vmin=0, vmax=1, cmap="Blues")
    axes.set_xticks(range(len(class_names)), class_names, rotation=45 if max(map(len, class_names)) > 4 else 0)
    axes.set_yticks(range(len(class_names)), class_names)
    axes.set_xlabel("predicted")
    axes.set_ylabel("true")
    for (row, column), share in np.ndenumerate(shares):
        text = f"{table[row, column]}\n{share:.0%}"
        axes.text(column, row, text, ha="center", va="center", fontsize=8, color="white" if share > 0.5 else "black")
    figure.colorbar(image, ax=axes, label="share of the true class", fraction=0.046)
    figure.suptitle(title)
    return figure


def new_figure(width: float, height: float) -> Figure:
    """A figure that belongs to nobody: no pyplot, no global state, drawable without a screen."""
    figure = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    return figure
