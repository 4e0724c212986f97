"""Predictions for new graphs, by one model or by the ensemble of a run's folds, a few graphs at a time."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from spgnn_dgl.data.store import GraphDataset
from spgnn_dgl.errors import ModelFileError, RunError
from spgnn_dgl.evaluation.results import COMPLETE
from spgnn_dgl.methods.base import GNNMethod, Method
from spgnn_dgl.modelfile import load_model
from spgnn_dgl.runs import CHECKPOINTS, CONFIG, RunDir, write_whole

CHUNK = 1000  # graphs in memory at a time


@dataclass(frozen=True)
class Prediction:
    """What is said of one graph.

    `disagreement` is the share of the ensemble's members that would have said another class; None for one model.
    `unseen` is the share of the nodes whose label or degree no training graph had; None where the method has no
    vocabulary. `size` is ``"smaller"`` or ``"larger"`` than every training graph, else the empty string.
    """

    graph: int
    predicted: int
    probabilities: np.ndarray  # (C,)
    disagreement: float | None
    unseen: float | None
    nodes: int
    size: str
    true: str | None


@dataclass(frozen=True)
class Predictor:
    """One fitted method, or several that vote with their average probability."""

    members: tuple[Method, ...]
    class_names: tuple[str, ...]
    train_sizes: tuple[int, int]  # smallest and largest training graph
    fingerprints: frozenset[str] = frozenset()  # of the data that the members were trained on

    def predict(self, data: GraphDataset, chunk: int = CHUNK) -> Iterator[Prediction]:
        """Predictions in the order of the graphs; memory does not grow with their number."""
        for start in range(0, len(data), chunk):
            yield from self._predict(data.subset(np.arange(start, min(start + chunk, len(data)))), start)

    def _predict(self, data: GraphDataset, first: int) -> Iterator[Prediction]:
        votes = np.stack([member.predict_proba(data) for member in self.members])  # (M, G, C)
        means = votes.mean(axis=0)  # (G, C)
        predicted = means.argmax(axis=1)
        others = (votes.argmax(axis=2) != predicted).mean(axis=0)  # (G,)
        unseen = self._unseen(data)
        for i, (count, label) in enumerate(zip(data.node_counts.tolist(), data.labels.tolist())):
            yield Prediction(
                graph=first + i,
                predicted=int(predicted[i]),
                probabilities=means[i],
                disagreement=float(others[i]) if len(self.members) > 1 else None,
                unseen=None if unseen is None else float(unseen[i]),
                nodes=count,
                size=self._size(count),
                true=data.meta.class_names[label] if label >= 0 else None,
            )

    def _unseen(self, data: GraphDataset) -> np.ndarray | None:
        """(G,) the average over members, whose training graphs differ."""
        shares = [m.policy.encoder(data).unseen_shares() for m in self.members if isinstance(m, GNNMethod)]
        return np.mean(shares, axis=0) if shares else None

    def _size(self, nodes: int) -> str:
        low, high = self.train_sizes
        return "smaller" if nodes < low else "larger" if nodes > high else ""


def load_predictor(path: str | Path) -> Predictor:
    """A predictor from a model file, or from a finished run folder: the ensemble of its folds."""
    path = Path(path)
    files = _checkpoints(path) if (path / CONFIG).is_file() else [path]
    members, headers = zip(*(load_model(file) for file in files))
    notes = [header["notes"] for header in headers]
    if any("class_names" not in n or "train_sizes" not in n for n in notes):
        raise ModelFileError(
            f"'{path}' does not say which classes and graphs it was trained on; save it with GraphClassifier.save or "
            "with `spgnn fit`."
        )
    names = {tuple(n["class_names"]) for n in notes}
    if len(names) > 1:
        raise RunError(f"the models in '{path}' know different classes; they are not of one run.")
    sizes = [n["train_sizes"] for n in notes]
    extent = min(low for low, _ in sizes), max(high for _, high in sizes)
    fingerprints = frozenset(n["fingerprint"] for n in notes if "fingerprint" in n)
    return Predictor(tuple(members), names.pop(), extent, fingerprints)


def _checkpoints(path: Path) -> list[Path]:
    run = RunDir.open(path)
    status = run.results["status"]
    if status != COMPLETE:
        raise RunError(f"the run in '{path}' is {status}; finish it first, with the command that began it.")
    files = sorted((path / CHECKPOINTS).glob("[!.]*.safetensors"))
    wanted = run.config["repeats"] * run.config["num_folds"]
    if len(files) != wanted:
        raise RunError(
            f"'{path / CHECKPOINTS}' has {len(files)} of {wanted} models, so the ensemble is not whole. It is kept "
            f"unless --no-checkpoints is given; `spgnn fit DATASET --like {path}` trains one model instead."
        )
    return files


def write_predictions(out: Path, predictions: Iterator[Prediction], class_names: Sequence[str]) -> dict[str, Any]:
    """Write a CSV file, whole or not at all, line by line; returns what to tell of it.

    Returns
    -------
    dict
        `graphs`; `known` and `correct`, counting graphs whose class is known; `unseen` and `odd_sizes`, counting graphs
        with labels, or of a size, that training never saw.
    """
    told = {"graphs": 0, "known": 0, "correct": 0, "unseen": 0, "odd_sizes": 0}

    def write(aside: Path) -> None:
        with aside.open("w", newline="", encoding="utf-8") as stream:
            writer = csv.writer(stream, lineterminator="\n")
            head = ["graph", "predicted", "probability", "disagreement", "unseen_labels", "nodes", "size", "true"]
            writer.writerow([*head, *(f"p({name})" for name in class_names)])
            for p in predictions:
                name = class_names[p.predicted]
                numbers = map(_number, (p.probabilities[p.predicted], p.disagreement, p.unseen))
                true = "" if p.true is None else p.true
                writer.writerow([p.graph, name, *numbers, p.nodes, p.size, true, *map(_number, p.probabilities)])
                told["graphs"] += 1
                told["known"] += p.true is not None
                told["correct"] += p.true == name
                told["unseen"] += bool(p.unseen)
                told["odd_sizes"] += bool(p.size)

    write_whole(out, write)
    return told


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.6g}"
