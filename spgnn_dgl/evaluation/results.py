"""``results.json`` out of the records of the units: a pure function, without times, the same for every way there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from spgnn_dgl.evaluation.choices import Place, Record, epoch_accuracies
from spgnn_dgl.evaluation.metrics import NAMES, confusion, scores
from spgnn_dgl.evaluation.protocols import HONEST, OPTIMISTIC, PROTOCOLS
from spgnn_dgl.evaluation.sentinels import warnings
from spgnn_dgl.evaluation.statistics import summary
from spgnn_dgl.evaluation.units import DONE, FAILED, FINAL, TIMEOUT

COMPLETE, INCOMPLETE = "complete", "incomplete"


def assemble(config: Mapping[str, Any], records: Sequence[Record]) -> dict[str, Any]:
    """Everything a report says in numbers.

    Parameters
    ----------
    config
        Content of ``config.json``.
    records
        Records of units; those of the selection stage count for nothing but the choices they led to.
    """
    protocol = PROTOCOLS.get(config["protocol"])
    finals = sorted((r for r in records if r["stage"] == FINAL), key=lambda r: (r["repeat"], r["fold"]))
    done = [r for r in finals if r["status"] == DONE]
    views = protocol.views(done) if done else {}
    shape = config["repeats"], config["num_folds"]
    sizes = _sizes(done)
    numbers = {
        name: _numbers(done, epochs, shape, config["class_names"], config["shared_folds"], sizes)
        for name, epochs in views.items()
    }
    difference = None
    if OPTIMISTIC in numbers and HONEST in numbers:
        difference = 100 * (numbers[OPTIMISTIC]["accuracy"]["mean"] - numbers[HONEST]["accuracy"]["mean"])
    return {
        "version": config["version"],
        **{key: config[key] for key in ("dataset", "method", "protocol", "options", "seed")},
        "status": _status(finals, shape[0] * shape[1]),
        "numbers": numbers,
        "difference_points": difference,
        "majority_rate": _majority_rate(done),
        "graphs": {"train": sizes[0], "test": sizes[1], "tested": sizes[2]},
        "epochs": _epochs(done, views),
        "folds": [_fold(r, views) for r in finals],
        "sentinels": warnings([_measures(r, views) for r in finals]),
    }


def _status(finals: Sequence[Record], wanted: int) -> str:
    states = {r["status"] for r in finals}
    if TIMEOUT in states:
        return TIMEOUT
    if FAILED in states:
        return FAILED
    return COMPLETE if len(finals) == wanted else INCOMPLETE


def at_epoch(record: Record, epoch: int) -> np.ndarray:
    """(G, C) probabilities of the judged graphs at an epoch."""
    return np.asarray(record["probabilities"][str(epoch)])


def _sizes(done: Sequence[Record]) -> tuple[float, float, int]:
    """Average training and tested graphs of a fold, and all tested graphs of a repeat."""
    if not done:
        return 0.0, 0.0, 0
    tested = sum(len(r["graphs"]) for r in done if r["repeat"] == done[0]["repeat"])
    return float(np.mean([r["num_train"] for r in done])), float(np.mean([len(r["graphs"]) for r in done])), tested


def _numbers(
    done: Sequence[Record],
    epochs: Mapping[Place, int],
    shape: tuple[int, int],
    class_names: Sequence[str],
    shared_folds: bool,
    sizes: tuple[float, float, int],
) -> dict[str, Any]:
    """Every figure of merit, at the epoch chosen for each fold."""
    tables = {name: np.full(shape, np.nan) for name in NAMES}
    counts = np.zeros((len(class_names), len(class_names)), dtype=np.int64)
    for record in done:
        place = record["repeat"], record["fold"]
        labels, probabilities = np.asarray(record["labels"]), at_epoch(record, epochs[place])
        for name, value in scores(labels, probabilities).items():
            tables[name][place] = np.nan if value is None else value
        counts += confusion(labels, probabilities.argmax(axis=1), len(class_names))
    how = {"shared_folds": shared_folds, "num_train": sizes[0], "num_test": sizes[1], "tested": sizes[2]}
    return {
        **{name: summary(table, **how) for name, table in tables.items()},  # type: ignore[arg-type]
        "fold_accuracies": [[None if np.isnan(v) else v for v in row] for row in tables["accuracy"].tolist()],
        "confusion": counts.tolist(),
    }


def _majority_rate(done: Sequence[Record]) -> float | None:
    """Share of the largest class among the tested graphs: what a constant predictor reaches."""
    if not done:
        return None
    labels = np.concatenate([r["labels"] for r in done])
    return float(np.bincount(labels).max() / len(labels))


def _epochs(done: Sequence[Record], views: Mapping[str, Mapping[Place, int]]) -> dict[str, Any]:
    """Average accuracy of the tested folds at each candidate epoch, and the epochs that were chosen."""
    curves = [epoch_accuracies(r) for r in done]
    shared = sorted(set(curves[0]).intersection(*curves)) if curves else []
    return {
        "mean_accuracy": {str(e): float(np.mean([c[e] for c in curves])) for e in shared},
        "chosen": {name: [epoch for _, epoch in sorted(epochs.items())] for name, epochs in views.items()},
    }


def _fold(record: Record, views: Mapping[str, Mapping[Place, int]]) -> dict[str, Any]:
    place = record["repeat"], record["fold"]
    line = {key: record[key] for key in ("repeat", "fold", "status", "options", "seed", "num_train")}
    line["num_test"] = len(record["graphs"])
    if record["status"] != DONE:
        return {**line, "message": record["message"]}
    curve = epoch_accuracies(record)
    return {
        **line,
        "fitted": record["fitted"],
        **{name: {"epoch": epochs[place], "accuracy": curve[epochs[place]]} for name, epochs in views.items()},
        "measures": _measures(record, views),
    }


def _measures(record: Record, views: Mapping[str, Mapping[Place, int]]) -> dict[str, Any]:
    """What the sentinels look at; whether the predictor is constant is seen at the reported epoch."""
    if record["status"] != DONE:
        return {"failed": True} if record["status"] == FAILED else {}
    epochs = next(iter(views.values()))
    predicted = at_epoch(record, epochs[record["repeat"], record["fold"]]).argmax(axis=1)
    constant = len(np.unique(predicted)) == 1 and len(np.unique(record["labels"])) > 1
    return {"constant": constant, **record["measures"]}
