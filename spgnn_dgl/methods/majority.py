"""The floor under every table: class frequencies."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import numpy as np

from spgnn_dgl.data.store import GraphDataset
from spgnn_dgl.methods.base import METHODS, Arrays, Method
from spgnn_dgl.training import OnEpoch


@METHODS.register("majority")
class Majority(Method):
    """Predicts the most frequent class of the training graphs, with the class frequencies as probabilities.

    The "no information rate" of any classifier, for example in Kuhn: *Building Predictive Models in R Using the caret
    Package*, Journal of Statistical Software 2008. A method that is not clearly above it has learned nothing.
    """

    kind = "floor"
    reference = "no information rate"

    def fit(
        self,
        train: GraphDataset,
        *,
        validation: GraphDataset | None = None,
        watch: GraphDataset | None = None,
        watch_at: Collection[int] = (),
        seed: int = 0,
        on_epoch: OnEpoch | None = None,
    ) -> Majority:
        train.require_classes()
        self.num_classes, self.history = train.num_classes, []
        self.frequencies = np.bincount(train.labels, minlength=self.num_classes) / len(train)  # (C,)
        self.watched = {} if watch is None else {0: self.predict_proba(watch)}
        return self

    def predict_proba(self, data: GraphDataset) -> np.ndarray:
        return np.tile(self.frequencies, (len(data), 1))

    def state(self) -> tuple[Arrays, dict[str, Any]]:
        return {"frequencies": self.frequencies}, {}

    def restore(self, arrays: Arrays, values: Mapping[str, Any]) -> None:
        self.frequencies = np.asarray(arrays["frequencies"])
        self.num_classes = len(self.frequencies)
        self.watched, self.history = {}, []
