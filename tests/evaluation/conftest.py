"""A method that does what a test tells it, and remembers what it was shown."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np
import pytest

from spgnn_dgl.methods.base import METHODS, Method
from spgnn_dgl.training import EpochRecord


class Spy(Method):
    """Says the true class with the probability `certainty`, and writes down which graphs it saw."""

    kind = "floor"
    reference = "tests"
    has_epochs = True
    epoch_candidates = (1, 2, 3)
    seen: ClassVar[list[dict[str, Any]]] = []
    raises: ClassVar[Exception | None] = None

    def __init__(self, *, certainty: float = 0.9, size: int | str = 1, epochs: int = 3, patience: int | None = None):
        self.certainty, self.size, self.epochs, self.patience = certainty, size, epochs, patience

    def search_space(self, info):
        return {"size": (1, 2)} if self.size == "auto" else {}

    def fit(self, train, *, validation=None, watch=None, watch_at=(), seed=0, on_epoch=None):
        if self.raises is not None:
            raise self.raises
        self.num_classes = train.num_classes
        self.note = {
            "train": set(train.members.tolist()),
            "validation": None if validation is None else set(validation.members.tolist()),
            "watch": None if watch is None else set(watch.members.tolist()),
            "watch_at": tuple(watch_at),
            "seed": seed,
            "options": {"certainty": self.certainty, "size": self.size},
            "predicted": [],
        }
        type(self).seen.append(self.note)
        self.history = [EpochRecord(e, 1.0 / e, 0.9, 0.01) for e in range(1, self.epochs + 1)]
        self.watched = {} if watch is None else {e: self._probabilities(watch) for e in watch_at}
        for record in self.history:
            if on_epoch is not None:
                on_epoch(record)
        return self

    def predict_proba(self, data):
        self.note["predicted"].append(set(data.members.tolist()))
        return self._probabilities(data)

    def _probabilities(self, data):
        table = np.full((len(data), data.num_classes), (1 - self.certainty) / (data.num_classes - 1))
        table[np.arange(len(data)), data.labels] = self.certainty
        return table

    def state(self):
        return {"x": np.zeros(1)}, {"note": next(n for n, note in enumerate(self.seen) if note is self.note)}

    def restore(self, arrays, values):
        self.note, self.history = self.seen[values["note"]], []


@pytest.fixture
def spy() -> Iterator[type[Spy]]:
    """The method "spy", known during one test."""
    things, keys = dict(METHODS._things), dict(METHODS._keys)
    METHODS.register("spy")(Spy)
    Spy.seen, Spy.raises = [], None
    yield Spy
    METHODS._things, METHODS._keys = things, keys
