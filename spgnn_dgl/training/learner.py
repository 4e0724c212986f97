"""A network while it learns: its steps, and everything that its further steps depend on."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from spgnn_dgl.data.features import Encoder
from spgnn_dgl.distributed import ALONE, Ranks
from spgnn_dgl.errors import TrainingError
from spgnn_dgl.nn.norm import synchronise
from spgnn_dgl.training.inference import batches
from spgnn_dgl.training.optimiser import FlatAdam
from spgnn_dgl.training.options import TrainingOptions
from spgnn_dgl.training.surroundings import resolve_device

PAUSE = 100  # steps after which the ranks add up what they have, and the first may write it down
WEIGHTS, MOMENTS, RANDOM, RANDOM_CUDA = "weights/", "moments/", "random", "random of CUDA"


class Learner:
    """Weights, optimiser, random numbers, and the place in the epoch.

    All ranks shuffle alike, cut the same batches, and take each its share of every batch, about equal in nodes; the
    mean of their gradients is the gradient of the whole batch. A batch with fewer graphs than ranks is computed whole
    by each. Dropout is drawn by each rank for its own share: by the first from the generator that a training in one
    process uses, by the others from generators that are seeded anew at every pause.

    Parameters
    ----------
    net
        ``net(graph) -> (B, C)`` on batches encoded by `train`; trained in place.
    seed
        Of shuffling, and of the other ranks' dropout.
    """

    def __init__(self, net: nn.Module, train: Encoder, options: TrainingOptions, seed: int, ranks: Ranks = ALONE):
        self.net, self.train, self.options, self.seed, self.ranks = net, train, options, seed, ranks
        self.device = resolve_device(options.device)
        net.to(self.device)
        self.optimiser = FlatAdam(
            net, options.lr, options.weight_decay, schedule=options.schedule, epochs=options.epochs
        )
        self._spread = net if ranks.world == 1 else ranks.wrap(net, has_idle=self._has_idle_parameters())
        self._class_weights = class_weights(train).to(self.device) if options.class_weights else None
        self._rng = np.random.default_rng(seed)
        self._begin_epoch(1)

    def _has_idle_parameters(self) -> bool:
        """Whether a step leaves parameters without a gradient; tried on one graph, in which nothing is drawn."""
        self.net.eval()
        self.net(self.train.batch(np.zeros(1, dtype=np.int64)).to(self.device)).sum().backward()
        idle = any(p.grad is None for p in self.net.parameters() if p.requires_grad)
        self.optimiser.zero_grad()
        return idle

    def _begin_epoch(self, epoch: int) -> None:
        self.epoch, self.step = epoch, 0  # the epoch under way, and how many of its steps are done
        self._seconds = 0.0
        self._shuffle = self._rng.bit_generator.state  # that this epoch is shuffled with
        self._own = np.zeros(2)  # loss and number of right answers so far, of this rank
        self._all = np.zeros(2)  # the same of all ranks, at the last pause

    def run_epoch(self, at_pause: Callable[[], None]) -> tuple[float, float, float]:
        """One pass over the training graphs, or the rest of it.

        `at_pause` is called now and then by all ranks; what :meth:`state` gives then is enough to go on from there.

        Returns
        -------
        loss, accuracy, seconds
            Means as seen while training.
        """
        self.net.train()
        started = time.perf_counter() - self._seconds
        for number, indices in enumerate(batches(len(self.train.data), self.options.batch_size, self._rng)):
            if number < self.step:
                continue
            if number % PAUSE == 0:
                if not self.ranks.is_first:
                    torch.manual_seed(_derived(self.seed, self.ranks.rank, self.epoch, number))
                if number:
                    self._all, self._seconds = self.ranks.sum(self._own), time.perf_counter() - started
                    at_pause()
            self.learn(indices)
            self.step += 1
        loss, correct = (self.ranks.sum(self._own) / len(self.train.data)).tolist()
        self.optimiser.end_epoch()
        self._begin_epoch(self.epoch + 1)
        return loss, correct, time.perf_counter() - started

    def learn(self, indices: np.ndarray) -> None:
        """One step on a batch of graphs, of which this rank computes its share."""
        data, world = self.train.data, self.ranks.world
        labels = data.batch_labels(indices).to(self.device)
        is_split = 1 < world <= len(indices)
        if is_split:
            mine = self.ranks.share(data.subset(indices).node_counts)
            own_indices, own_labels = indices[mine], labels[torch.from_numpy(mine).to(self.device)]
        else:
            own_indices, own_labels = indices, labels
        if world > 1:
            synchronise(self.net, self.ranks if is_split else ALONE)
        scores = self._spread(self.train.batch(own_indices).to(self.device))  # (B, C)
        if is_split:  # the mean over ranks of this is the loss of the whole batch
            total = len(labels) if self._class_weights is None else float(self._class_weights[labels].sum())
            loss = F.cross_entropy(scores, own_labels, self._class_weights, reduction="sum") * (world / total)
        else:
            loss = F.cross_entropy(scores, own_labels, weight=self._class_weights)
        value = float(loss.detach())
        if not np.isfinite(value):
            raise TrainingError(
                f"the loss became {value} in epoch {self.epoch}. Try a smaller learning rate "
                f"(lr={self.options.lr / 10:g}), gradient clipping (clip=1.0), or look for extreme node attributes."
            )
        self.optimiser.zero_grad()
        loss.backward()
        self.optimiser.step(self.options.clip)
        correct = int((scores.detach().argmax(1) == own_labels).sum())
        self._own += value * len(indices) / world, correct if is_split else correct / world

    # ---- to go on later, with any number of ranks --------------------------------------------------------------

    def state(self) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
        """Everything that the rest of the training depends on: arrays, and values that JSON can hold."""
        moments, optimiser = self.optimiser.state()
        tensors = {WEIGHTS + name: value for name, value in self.net.state_dict().items()}
        tensors |= {MOMENTS + name: value for name, value in moments.items()}
        tensors[RANDOM] = torch.get_rng_state()
        if self.device.type == "cuda":
            tensors[RANDOM_CUDA] = torch.cuda.get_rng_state(self.device)
        loss, correct = self._all.tolist()
        values = {
            "epoch": self.epoch,
            "step": self.step,
            "loss": loss,
            "correct": correct,
            "seconds": self._seconds,
            "shuffle": self._shuffle,
            "optimiser": optimiser,
        }
        return {name: value.detach().cpu().numpy() for name, value in tensors.items()}, values

    def restore(self, arrays: dict[str, np.ndarray], values: dict[str, Any]) -> None:
        """The reverse of :meth:`state`."""
        self.net.load_state_dict(tensors_under(WEIGHTS, arrays))
        self.optimiser.restore(tensors_under(MOMENTS, arrays), values["optimiser"])
        self._rng.bit_generator.state = values["shuffle"]
        self._begin_epoch(values["epoch"])
        self.step, self._seconds = values["step"], values["seconds"]
        if self.ranks.is_first:  # the sums count once
            self._own = np.array([values["loss"], values["correct"]])
            torch.set_rng_state(torch.from_numpy(np.array(arrays[RANDOM])))
            if RANDOM_CUDA in arrays and self.device.type == "cuda":
                torch.cuda.set_rng_state(torch.from_numpy(np.array(arrays[RANDOM_CUDA])), self.device)


def tensors_under(prefix: str, arrays: dict[str, np.ndarray]) -> dict[str, Tensor]:
    """The arrays whose names begin with `prefix`, without it, as tensors of their own."""
    return {
        name.removeprefix(prefix): torch.from_numpy(np.array(array))
        for name, array in arrays.items()
        if name.startswith(prefix)
    }


def class_weights(train: Encoder) -> Tensor:
    """(C,) inverse class frequencies."""
    counts = np.bincount(train.data.labels, minlength=train.data.num_classes)
    return torch.tensor(len(train.data) / (len(counts) * np.maximum(counts, 1)), dtype=torch.float32)


def _derived(*parts: int) -> int:
    return int(np.random.SeedSequence(parts).generate_state(1)[0])
