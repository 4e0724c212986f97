"""The processes of one training, as ``torchrun`` starts them. PyTorch calls each of them a *rank*.

Nothing here starts a process or a server: ``torchrun`` does, and ``torch.distributed`` carries the numbers between
them, by gloo from CPU to CPU and by nccl from GPU to GPU.
"""

from __future__ import annotations

import contextlib
import gc
import heapq
import os
import secrets
import signal
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from spgnn_dgl.errors import EnvironmentProblem, SpgnnError, TrainingError

BUCKET = 25  # MB of gradients that travel together


class RankLost(TrainingError):
    """The training cannot go on, because another of its processes ended or because it was told to stop."""

    def __init__(self, advice: str = "") -> None:
        super().__init__(f"a process of this training ended, or the job was stopped. {advice}".strip())


@dataclass(frozen=True)
class Ranks:
    """Which process this is, among how many; what they tell each other.

    Every method that exchanges something must be called by all ranks, in the same order.

    Parameters
    ----------
    rank, world
        This process, of how many.
    local
        Its number on its own machine.
    """

    rank: int = 0
    world: int = 1
    local: int = 0
    _store: Any = field(default=None, repr=False, compare=False)
    _spoke: list[bool] = field(default_factory=list, repr=False, compare=False)

    @property
    def is_first(self) -> bool:
        """Whether this is the one that writes."""
        return self.rank == 0

    def share(self, costs: np.ndarray) -> np.ndarray:
        """(B,) which items of a batch are this rank's; `costs` (B,) says how much work each is."""
        return balanced(costs, self.world) == self.rank

    def sum(self, values: np.ndarray) -> np.ndarray:
        """The sum over all ranks of an array of the same shape, in float64."""
        if self.world == 1:
            return values
        total = torch.tensor(values, dtype=torch.float64)
        torch.distributed.all_reduce(total)
        return total.numpy()

    def sum_tensor(self, values: Tensor) -> Tensor:
        """The same of a tensor, where it is and as precise as it is."""
        if self.world == 1:
            return values
        total = values.clone()
        torch.distributed.all_reduce(total)
        return total

    def from_first(self, content: bytes | None) -> bytes | None:
        """What the first rank has; the others may give anything."""
        if self.world == 1:
            return content
        size = torch.tensor([-1 if content is None else len(content)])
        torch.distributed.broadcast(size, 0)
        if size < 0:
            return None
        text = torch.empty(int(size), dtype=torch.uint8)
        if self.is_first and content is not None:
            text = torch.frombuffer(bytearray(content), dtype=torch.uint8) if content else text
        torch.distributed.broadcast(text, 0)
        return text.numpy().tobytes()

    def barrier(self) -> None:
        """Wait for all ranks."""
        self.sum(np.zeros(1))

    @contextlib.contextmanager
    def one_per_machine_first(self) -> Iterator[None]:
        """One rank of each machine runs the block before the others: they find the cache that it has written."""
        if self.local != 0:
            self.barrier()
        yield
        if self.local == 0:
            self.barrier()

    def wrap(self, net: nn.Module, *, has_idle: bool = False) -> nn.Module:
        """`net` such that ``backward`` leaves the mean of all ranks' gradients on each of them.

        `has_idle` says that some parameters take no part in a step, for which the others must not wait.
        """
        # One message for all gradients of networks this small: several, sent while the backward pass goes on, take the
        # cores from it.
        return nn.parallel.DistributedDataParallel(
            net, bucket_cap_mb=BUCKET, gradient_as_bucket_view=True, find_unused_parameters=has_idle
        )

    def speaks(self) -> bool:
        """Whether this rank is the first to report a failure; the others stay silent."""
        if self._store is None:
            return True
        if not self._spoke:
            try:
                self._spoke.append(self._store.add("failures", 1) == 1)
            except RuntimeError:  # the store went with the machine that held it
                self._spoke.append(True)
        return self._spoke[0]


ALONE = Ranks()
_joined = ALONE


def ranks() -> Ranks:
    """The ranks that this process trains with: inside :func:`joined` those of its job, else itself alone."""
    return _joined


def balanced(costs: np.ndarray, parts: int) -> np.ndarray:
    """(B,) number of the part that each item goes to: the heaviest first, always to the lightest part.

    >>> balanced(np.array([5, 1, 1, 2]), 2).tolist()
    [0, 1, 1, 1]
    """
    part = np.zeros(len(costs), dtype=np.int64)
    loads: list[tuple[int, int]] = [(0, p) for p in range(parts)]
    for item in np.argsort(-costs, kind="stable").tolist():
        load, lightest = loads[0]
        part[item] = lightest
        heapq.heapreplace(loads, (load + int(costs[item]), lightest))
    return part


@contextlib.contextmanager
def joined() -> Iterator[Ranks]:
    """Train with the other processes that ``torchrun`` has started; alone where it has started none.

    Inside the block every network is trained by all ranks together: each must do the same with the same data. A rank
    that ends leaves the others with :class:`RankLost`.

    Examples
    --------
    In a script that is run by ``torchrun --nproc-per-node 2 script.py``::

        with joined() as ranks:
            classifier = GraphClassifier("spgnn").fit(data)
            if ranks.is_first:
                classifier.save("model.safetensors")
    """
    global _joined
    if int(os.environ.get("WORLD_SIZE", "1")) == 1:
        yield ALONE
        return
    with _stopped_by_signal(), _explained():
        _joined = _join()
        try:
            yield _joined
        except Exception as problem:
            if not _is_broken_connection(problem):
                _joined.speaks()  # before the others notice that this one leaves
            raise
        finally:
            _joined = ALONE
            gc.collect()  # networks that were trained hold on to the group, whose threads must end before the process
            torch.distributed.destroy_process_group()


def _join() -> Ranks:
    if not torch.distributed.is_available():
        raise EnvironmentProblem("this PyTorch is built without torch.distributed; train without torchrun.")
    local, gpus = int(os.environ.get("LOCAL_RANK", "0")), torch.cuda.device_count()
    if gpus:
        if local >= gpus:
            raise EnvironmentProblem(
                f"this machine has {gpus} CUDA devices, but process {local + 1} of this training was started on it. "
                f"Start at most {gpus} (--nproc-per-node {gpus}), or hide the devices: CUDA_VISIBLE_DEVICES=''."
            )
        torch.cuda.set_device(local)
    try:
        store, rank, world = next(torch.distributed.rendezvous("env://"))
    except ValueError as problem:
        raise EnvironmentProblem(
            f"WORLD_SIZE says that this is one of several processes of a training, but the others cannot be found: "
            f"{problem}. Start them with torchrun."
        ) from problem
    store = _meeting(torch.distributed.PrefixStore("spgnn_dgl", store), rank, world)
    engine = "cpu:gloo,cuda:nccl" if gpus else "gloo"
    torch.distributed.init_process_group(engine, store=store, rank=rank, world_size=world)
    return Ranks(rank, world, local, store)


def _meeting(store: Any, rank: int, world: int) -> Any:
    """A part of the store for the processes of this attempt only.

    After a restart by torchrun the store still holds the addresses of processes that are gone, and gloo would call
    them. So the first rank calls a meeting under a new name and greets everyone who answers to that name; a name
    under which nobody greets is an old one.
    """
    own = secrets.token_hex(8)
    if rank == 0:
        store.set("meeting", own)
        for other in range(1, world):
            answer = store.get(f"{own}/{other}").decode()
            store.set(f"{own}/{other}/{answer}", "")
        return torch.distributed.PrefixStore(own, store)
    end = time.monotonic() + store.timeout.total_seconds()
    while time.monotonic() < end:
        meeting = store.get("meeting").decode()
        store.set(f"{meeting}/{rank}", own)
        for _ in range(20):
            if store.check([f"{meeting}/{rank}/{own}"]):
                return torch.distributed.PrefixStore(meeting, store)
            time.sleep(0.01)
    raise RankLost


@contextlib.contextmanager
def _explained() -> Iterator[None]:
    """A broken connection to another rank as one plain error."""
    try:
        yield
    except RuntimeError as problem:
        if not _is_broken_connection(problem):
            raise
        raise RankLost from problem


def _is_broken_connection(problem: Exception) -> bool:
    if isinstance(problem, SpgnnError) or not isinstance(problem, RuntimeError):
        return False
    return isinstance(problem, torch.distributed.DistError) or "gloo" in str(problem)


@contextlib.contextmanager
def _stopped_by_signal() -> Iterator[None]:
    """SIGTERM, which torchrun sends to the ranks that are left, as the same error: it passes all clean-up."""

    def stop(number: int, frame: Any) -> None:
        raise RankLost

    if threading.current_thread() is not threading.main_thread():  # only there Python can listen to signals
        yield
        return
    before = signal.signal(signal.SIGTERM, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
