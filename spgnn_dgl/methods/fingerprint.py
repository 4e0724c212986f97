"""The structure-blind baseline: what the nodes are and how many, but not how they are joined."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import numpy as np
from scipy.special import softmax

from spgnn_dgl.data.store import GraphDataset
from spgnn_dgl.data.substructures.wl import node_values
from spgnn_dgl.errors import DatasetError, OptionError
from spgnn_dgl.methods.base import METHODS, Arrays, Method
from spgnn_dgl.training import OnEpoch


@METHODS.register("fingerprint")
class Fingerprint(Method):
    """Logistic regression on the counts of node labels and the logarithm of the number of nodes.

    The "molecular fingerprint" baseline of Errica, Podda, Bacciu, Micheli: *A Fair Comparison of Graph Neural Networks
    for Graph Classification*, ICLR 2020, with a linear classifier. It sees no edge, not even degrees: on a dataset
    without node labels only the number of nodes is left. It beats many graph neural networks on D&D and PROTEINS.

    Parameters
    ----------
    C
        Inverse strength of the L2 penalty on standardised features.
    """

    kind = "floor"
    reference = "Errica et al., ICLR 2020"

    def __init__(self, *, C: float = 1.0):
        if isinstance(C, bool) or not C > 0:
            raise OptionError(f"C={C!r} was given; it must be a positive number.")
        self.C = C

    def fit(
        self,
        train: GraphDataset,
        *,
        validation: GraphDataset | None = None,
        watch: GraphDataset | None = None,
        watch_at: Collection[int] = (),
        seed: int = 0,
        on_epoch: OnEpoch | None = None,
    ) -> Fingerprint:
        train.require_classes()
        self.num_classes, self.history = train.num_classes, []
        self.vocabulary: tuple[str, ...] = ()
        if train.num_node_labels:
            assert train.arrays.node_labels is not None
            seen = np.unique(node_values(train, train.arrays.node_labels))
            self.vocabulary = tuple(np.asarray(train.meta.node_label_names)[seen].tolist())
        features = self._features(train)  # (G, V + 1)
        self._mean, self._scale = features.mean(axis=0), features.std(axis=0)
        self._scale[self._scale < 1e-12] = 1.0
        from sklearn.linear_model import LogisticRegression  # slow to import, and only needed here

        model = LogisticRegression(C=self.C, max_iter=10_000).fit((features - self._mean) / self._scale, train.labels)
        # softmax of (0, score) is the logistic function of a score
        binary = len(model.classes_) == 2
        weights = np.vstack([np.zeros_like(model.coef_), model.coef_]) if binary else model.coef_
        intercepts = np.append(0.0, model.intercept_) if binary else model.intercept_
        self._classes, self._weights, self._intercepts = model.classes_.astype(np.int64), weights, intercepts
        self.watched = {} if watch is None else {0: self.predict_proba(watch)}
        return self

    def _features(self, data: GraphDataset) -> np.ndarray:
        """(G, V + 1) counts of the labels in the vocabulary, and log n. Other labels are not counted."""
        out = np.zeros((len(data), len(self.vocabulary) + 1))
        out[:, -1] = np.log(data.node_counts)
        if not self.vocabulary:
            return out
        if not data.num_node_labels:
            raise DatasetError(
                f"the model counts node labels, but the nodes of {data.name} have none. Give labelled graphs."
            )
        assert data.arrays.node_labels is not None
        position = {name: code for code, name in enumerate(self.vocabulary)}
        column = np.array([position.get(name, -1) for name in data.meta.node_label_names])
        columns = column[node_values(data, data.arrays.node_labels)]  # (N,)
        graphs = np.repeat(np.arange(len(data)), data.node_counts)
        known = columns >= 0
        np.add.at(out, (graphs[known], columns[known]), 1.0)
        return out

    def predict_proba(self, data: GraphDataset) -> np.ndarray:
        scores = (self._features(data) - self._mean) / self._scale @ self._weights.T + self._intercepts
        out = np.zeros((len(data), self.num_classes))
        out[:, self._classes] = softmax(scores, axis=1)
        return out

    def state(self) -> tuple[Arrays, dict[str, Any]]:
        arrays = {
            "mean": self._mean,
            "scale": self._scale,
            "classes": self._classes,
            "weights": self._weights,
            "intercepts": self._intercepts,
        }
        return arrays, {"vocabulary": list(self.vocabulary), "num_classes": self.num_classes}

    def restore(self, arrays: Arrays, values: Mapping[str, Any]) -> None:
        self._mean, self._scale, self._classes = arrays["mean"], arrays["scale"], arrays["classes"]
        self._weights, self._intercepts = arrays["weights"], arrays["intercepts"]
        self.vocabulary, self.num_classes = tuple(values["vocabulary"]), values["num_classes"]
        self.watched, self.history = {}, []
