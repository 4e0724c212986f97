"""What is chosen, and by what: candidates by inner validation, epochs by an average over folds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from spgnn_dgl.errors import OptionError
from spgnn_dgl.evaluation.units import DONE
from spgnn_dgl.methods.base import Method

Place = tuple[int, int]  # repeat, fold
Record = dict[str, Any]  # what a unit leaves


def choose(records: Sequence[Record]) -> dict[Place, dict[str, Any]]:
    """The best candidate of each place: highest validation accuracy, then lowest validation loss, then first.

    A candidate is judged at the epoch where its validation accuracy is best. One that broke off is never chosen,
    unless all did.
    """
    best: dict[Place, tuple[tuple[float, float, int], dict[str, Any]]] = {}
    for record in records:
        if record["status"] == DONE:
            accuracies = epoch_accuracies(record)
            epoch = max(accuracies, key=lambda e: (accuracies[e], -record["losses"][str(e)], -e))
            rank = (accuracies[epoch], -record["losses"][str(epoch)], -record["candidate"])
        else:
            rank = (-1.0, 0.0, -record["candidate"])
        place = record["repeat"], record["fold"]
        if place not in best or rank > best[place][0]:
            best[place] = rank, record["options"]
    return {place: options for place, (_, options) in best.items()}


def epoch_accuracies(record: Record) -> dict[int, float]:
    """Epoch → accuracy of the judged graphs."""
    labels = np.asarray(record["labels"])
    return {
        int(epoch): float(np.mean(np.asarray(p).argmax(axis=1) == labels))
        for epoch, p in record["probabilities"].items()
    }


def best_average(curves: Sequence[Mapping[int, float]]) -> int:
    """The epoch of the best average accuracy; of equals the earliest.

    >>> best_average([{50: 0.5, 100: 0.7}, {50: 0.9, 100: 0.6}])
    50
    """
    # rounded: equal averages must not be told apart by the order of their summation
    averages = {epoch: round(float(np.mean([curve[epoch] for curve in curves])), 12) for epoch in curves[0]}
    return max(averages, key=lambda epoch: (averages[epoch], -epoch))


def candidate_epochs(
    method: type[Method], options: Mapping[str, Any], wanted: Sequence[int] | None = None
) -> tuple[int, ...]:
    """Epochs to choose among: those wanted, else the method's own up to the option `epochs` where it is set.

    Parameters
    ----------
    method
        Class of the method.
    """
    if not method.has_epochs:
        if wanted:
            raise OptionError(f"epochs {tuple(wanted)} were given, but this method has no epochs.")
        return (0,)
    last = options.get("epochs")
    if wanted:
        if min(wanted) < 1:
            raise OptionError(f"epochs {tuple(wanted)} were given; an epoch is at least 1.")
        epochs = tuple(sorted({*wanted}))
    elif last is not None:
        epochs = (*(e for e in method.epoch_candidates if e < last), last)
    else:
        epochs = tuple(method.epoch_candidates)
    if options.get("schedule") == "cosine" and len(epochs) > 1:
        if wanted:
            raise OptionError(
                f"schedule='cosine' ends at the last epoch, so one training cannot answer for the epochs {epochs}. "
                "Give one epoch, or another schedule."
            )
        epochs = epochs[-1:]
    return epochs
