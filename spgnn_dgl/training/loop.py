"""The epoch loop: history, early stopping, and what is needed to go on after a stop."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import asdict, dataclass, field
from typing import Any, Protocol

import numpy as np
from torch import Tensor, nn

from spgnn_dgl.data.features import Encoder
from spgnn_dgl.distributed import ranks
from spgnn_dgl.training.inference import evaluate, probabilities
from spgnn_dgl.training.learner import Learner, tensors_under
from spgnn_dgl.training.options import TrainingOptions
from spgnn_dgl.training.surroundings import seeded, steady_memory

BEST, WATCHED = "best/", "watched/"


@dataclass
class EpochRecord:
    """One line of the history. Validation figures are None where there were no validation graphs."""

    epoch: int
    loss: float
    accuracy: float
    seconds: float
    validation_loss: float | None = None
    validation_accuracy: float | None = None


@dataclass
class TrainingResult:
    """What a training leaves behind besides the weights."""

    history: list[EpochRecord] = field(default_factory=list)
    best_epoch: int = 0  # the epoch whose weights are kept
    watched: dict[int, np.ndarray] = field(default_factory=dict)  # epoch -> (G, C) probabilities of the watched graphs


OnEpoch = Callable[[EpochRecord], None]
State = tuple[dict[str, np.ndarray], dict[str, Any]]


class TrainingStore(Protocol):
    """Keeps a training under way, such as :class:`spgnn_dgl.checkpoint.Checkpoint`."""

    def load(self) -> State | None:
        """What was kept of this training before, on every rank; None at its beginning."""

    def is_due(self) -> bool:
        """Whether it is time to keep it again."""

    def save(self, arrays: dict[str, np.ndarray], values: dict[str, Any]) -> None:
        """Keep it, instead of what was kept before."""


def train_network(
    net: nn.Module,
    train: Encoder,
    options: TrainingOptions,
    *,
    seed: int = 0,
    validation: Encoder | None = None,
    watch: Encoder | None = None,
    watch_at: Collection[int] = (),
    on_epoch: OnEpoch | None = None,
    checkpoint: TrainingStore | None = None,
) -> TrainingResult:
    """Train `net` in place; inside :func:`spgnn_dgl.distributed.joined` with all ranks together.

    Parameters
    ----------
    net
        ``net(graph) -> (B, C)`` on batches encoded by `train`.
    train, validation, watch
        Encoded datasets. `validation` drives early stopping; `watch` is only looked at, at the epochs `watch_at`.
    seed
        Of shuffling and dropout. (The caller seeds the initial weights.)
    on_epoch
        Called after every epoch, for progress bars.
    checkpoint
        Where the training is kept, and found again by one that goes on. One that was stopped and goes on in a single
        process ends with the same weights, bit for bit, as one that was not.
    """
    together = ranks()
    progress = _Progress()
    result = progress.result
    with seeded(seed, options.threads), steady_memory():
        learner = Learner(net, train, options, seed, together)
        if checkpoint is not None and (kept := checkpoint.load()) is not None:
            learner.restore(*kept)
            progress.restore(*kept)

        def keep() -> None:
            if checkpoint is not None and checkpoint.is_due():
                arrays, values = learner.state()
                own_arrays, own_values = progress.state()
                checkpoint.save({**arrays, **own_arrays}, {**values, **own_values})

        while learner.epoch <= options.epochs and not progress.has_stalled(options.patience):
            record = EpochRecord(learner.epoch, *learner.run_epoch(keep))
            if validation is not None:
                found = evaluate(net, validation, options.batch_size, together)
                record.validation_loss, record.validation_accuracy = found
                if options.patience is not None and record.validation_loss < progress.best_loss:
                    progress.best_loss, result.best_epoch = record.validation_loss, record.epoch
                    progress.best_weights = {name: value.detach().clone() for name, value in net.state_dict().items()}
            if watch is not None and record.epoch in watch_at:
                result.watched[record.epoch] = probabilities(net, watch, options.batch_size, together)
            result.history.append(record)
            if on_epoch is not None:
                on_epoch(record)
            keep()
    if progress.best_weights:
        net.load_state_dict(progress.best_weights)
    else:
        result.best_epoch = len(result.history)
    return result


class _Progress:
    """What the loop remembers of the epochs that are over."""

    def __init__(self) -> None:
        self.result = TrainingResult()
        self.best_loss = float("inf")
        self.best_weights: dict[str, Tensor] = {}

    def has_stalled(self, patience: int | None) -> bool:
        """Whether the last `patience` epochs have brought nothing."""
        return bool(self.best_weights) and len(self.result.history) - self.result.best_epoch >= (patience or 0)

    def state(self) -> State:
        arrays = {BEST + name: value.cpu().numpy() for name, value in self.best_weights.items()}
        arrays |= {f"{WATCHED}{epoch}": found for epoch, found in self.result.watched.items()}
        best_loss = self.best_loss if self.best_weights else None
        values = {"history": history_rows(self.result), "best_epoch": self.result.best_epoch, "best_loss": best_loss}
        return arrays, values

    def restore(self, arrays: dict[str, np.ndarray], values: dict[str, Any]) -> None:
        """The reverse of :meth:`state`."""
        self.best_weights = tensors_under(BEST, arrays)
        if self.best_weights:
            self.best_loss = values["best_loss"]
        self.result.best_epoch = values["best_epoch"]
        self.result.history += [EpochRecord(**row) for row in values["history"]]
        for name, found in tensors_under(WATCHED, arrays).items():
            self.result.watched[int(name)] = found.numpy()


def history_rows(result: TrainingResult) -> list[dict[str, Any]]:
    """The history as plain dictionaries, for CSV and JSON."""
    return [asdict(record) for record in result.history]
