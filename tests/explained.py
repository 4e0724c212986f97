"""Fitted models to explain: a real one that trains in a second, and one whose selection is written down."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from types import SimpleNamespace
from typing import Any

import numpy as np
import torch

from spgnn_dgl.data.arrays import DatasetMeta, assemble
from spgnn_dgl.data.builtin import motifs
from spgnn_dgl.data.features import FeaturePolicy
from spgnn_dgl.data.store import GraphDataset
from spgnn_dgl.estimator import GraphClassifier
from spgnn_dgl.explain.subject import Part, Subject
from spgnn_dgl.methods.base import GNNMethod
from spgnn_dgl.nn.readout.wlsortpool import Selection

Edges = Sequence[tuple[int, int]]


def dataset(
    graphs: Sequence[tuple[int, Edges]],
    labels: Sequence[int] | None = None,
    *,
    node_labels: Sequence[str] = (),
    symbols: bool = False,
    truth: Sequence[bool] | None = None,
) -> GraphDataset:
    """A dataset of graphs given as (nodes, edges); `node_labels` is one letter per node over all graphs."""
    sizes = np.array([size for size, _ in graphs])
    starts = np.cumsum(sizes) - sizes
    ends = [np.array(edges).reshape(-1, 2) + start for (_, edges), start in zip(graphs, starts)]
    source, target = np.concatenate(ends).T
    labels = np.arange(len(graphs)) % 2 if labels is None else np.array(labels)
    names, codes = np.unique(list(node_labels), return_inverse=True) if len(node_labels) else ((), None)
    arrays, _ = assemble(sizes, source, target, labels=labels, node_labels=codes, truth=truth)
    meta = DatasetMeta(
        name="drawn by hand",
        class_names=tuple(f"class {c}" for c in range(int(labels.max()) + 1)),
        node_label_names=tuple(f"label {name}" for name in names),
        node_symbols=tuple(str(name) for name in names) if symbols else (),
    )
    return GraphDataset(arrays, meta)


def complete(size: int) -> tuple[int, Edges]:
    return size, [(a, b) for a in range(size) for b in range(a)]


def star(leaves: int) -> tuple[int, Edges]:
    return leaves + 1, [(0, leaf) for leaf in range(1, leaves + 1)]


def path(size: int) -> tuple[int, Edges]:
    return size, [(node, node + 1) for node in range(size - 1)]


class WrittenMethod(GNNMethod):
    """Keeps the nodes that a function ranks first, and predicts what a function says.

    `importance(graph) -> (L, n)` of a DGL graph with ``ndata["label"]``; `predict(graph) -> (C,)` probabilities.
    """

    def __init__(
        self, data: GraphDataset, importance: Callable[[Any], Any], k: int, predict: Callable[[Any], Any] | None = None
    ):
        super().__init__()
        self.importance, self.predicts = importance, predict
        self.policy = FeaturePolicy.fit(data, "auto", 100)
        self.num_classes = data.num_classes
        layers = len(np.atleast_2d(importance(data[0][0])))
        readout = SimpleNamespace(select=None, k=k)
        self.net = SimpleNamespace(convs=[None] * layers, readout=readout, select=None)  # type: ignore[assignment]

    def build(self, info: Any, spec: Any) -> Any:
        raise NotImplementedError

    def select(self, data: GraphDataset, batch_size: int = 50) -> list[Selection]:
        selections = []
        for graph, _ in data:
            importance = torch.tensor(np.atleast_2d(self.importance(graph)), dtype=torch.float32)
            k = self.net.readout.k  # type: ignore[union-attr]
            nodes = torch.full((len(importance), k), -1)
            order = importance.argsort(dim=1, descending=True, stable=True)[:, :k]
            nodes[:, : order.shape[1]] = order
            selections.append(Selection(nodes, importance))
        return selections

    def predict_proba(self, data: GraphDataset) -> np.ndarray:
        if self.predicts is None:
            return np.full((len(data), self.num_classes), 1 / self.num_classes)
        return np.array([self.predicts(graph) for graph, _ in data], dtype=np.float64)


def written_subject(
    data: GraphDataset, importance: Callable[[Any], Any], k: int, predict: Callable[[Any], Any] | None = None
) -> Subject:
    method = WrittenMethod(data, importance, k, predict)
    return Subject("by hand", data, (Part(method, np.arange(len(data))),), data.meta.class_names, held_out=True)


@lru_cache
def motif_data() -> GraphDataset:
    return motifs(num_graphs=60)


@lru_cache
def motif_model(method: str = "spgnn") -> GraphClassifier:
    """Two epochs on 45 of the graphs: trained enough to have opinions."""
    options = {"layers": 3, "k": 10, "channels": 8} if method in ("spgnn", "arch1") else {}
    return GraphClassifier(method, epochs=2, **options).fit(motif_data()[:45])


@lru_cache
def motif_subject() -> Subject:
    classifier, data = motif_model(), motif_data()
    history = [{"epoch": r.epoch, "loss": r.loss, "accuracy": r.accuracy} for r in classifier.history_]
    part = Part(classifier.method_, np.arange(45, 60), history)
    return Subject("spgnn on MOTIFS", data, (part,), classifier.class_names_, held_out=True)
