"""The epoch loop: batches, loss, optimiser, history, early stopping. Knows networks, not methods."""

from __future__ import annotations

import contextlib
import gc
import logging
import time
from collections.abc import Callable, Collection, Iterator
from dataclasses import asdict, dataclass, field, fields
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from spgnn_dgl.data.features import Encoder
from spgnn_dgl.errors import EnvironmentProblem, OptionError, TrainingError

log = logging.getLogger("spgnn_dgl")

SCHEDULES = ("constant", "cosine", "step")
DEVICES = ("auto", "cpu", "cuda")


@dataclass(frozen=True)
class TrainingOptions:
    """How a network is trained; every GNN method takes these as options.

    Parameters
    ----------
    epochs
        Passes over the training graphs.
    lr
        Adam's learning rate.
    batch_size
        Graphs per step.
    weight_decay
        Adam's L2 term, the paper's λ.
    class_weights
        Weigh the loss by inverse class frequency.
    clip
        Largest gradient norm; None: no clipping.
    schedule
        ``"constant"``, ``"cosine"`` (to zero at the last epoch) or ``"step"`` (halved every 50 epochs).
    patience
        With validation graphs: stop when their loss has not improved for so many epochs, and keep the best weights.
    device
        ``"auto"``, ``"cpu"`` or ``"cuda"``.
    threads
        Threads PyTorch may use; None: leave as it is.
    """

    epochs: int = 200
    lr: float = 1e-3
    batch_size: int = 50
    weight_decay: float = 0.0
    class_weights: bool = False
    clip: float | None = None
    schedule: str = "constant"
    patience: int | None = None
    device: str = "auto"
    threads: int | None = None

    def __post_init__(self) -> None:
        for name, low in (("epochs", 1), ("batch_size", 1), ("threads", 1), ("patience", 1)):
            value = getattr(self, name)
            if value is not None and value < low:
                raise OptionError(f"{name}={value} was given; it must be at least {low}.")
        if not self.lr > 0:
            raise OptionError(f"lr={self.lr} was given; a learning rate must be positive, for example 0.001.")
        if self.weight_decay < 0:
            raise OptionError(f"weight_decay={self.weight_decay} was given; it must not be negative.")
        if self.clip is not None and not self.clip > 0:
            raise OptionError(f"clip={self.clip} was given; it must be positive, or None for no clipping.")
        for name, known in (("schedule", SCHEDULES), ("device", DEVICES)):
            if getattr(self, name) not in known:
                raise OptionError(f"{name}='{getattr(self, name)}' was given; known: {', '.join(known)}.")

    @classmethod
    def defaults(cls) -> dict[str, Any]:
        return {f.name: f.default for f in fields(cls)}


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


def resolve_device(name: str) -> torch.device:
    """``auto``: CUDA where both torch and dgl have it. A demand for CUDA that cannot be met is an error."""
    from spgnn_dgl._dgl import dgl

    usable = torch.cuda.is_available() and _dgl_has_cuda()
    if name == "cuda" and not usable:
        reason = "PyTorch finds no CUDA device" if not torch.cuda.is_available() else "this DGL is a CPU build"
        raise EnvironmentProblem(
            f"device='cuda' was asked for, but {reason} (torch {torch.__version__}, dgl {dgl.__version__}). "
            "Install the CUDA wheels of DGL that match your PyTorch (see docs: GPU), or use device='cpu'."
        )
    return torch.device("cuda" if usable and name != "cpu" else "cpu")


def _dgl_has_cuda() -> bool:
    from spgnn_dgl._dgl import dgl

    try:
        dgl.graph(([0], [0])).to("cuda")
    except Exception:
        return False
    return True


@contextlib.contextmanager
def seeded(seed: int, threads: int | None = None) -> Iterator[None]:
    """PyTorch's generator seeded, and its thread count set, inside the block only."""
    before = torch.get_num_threads()
    with torch.random.fork_rng(devices=range(torch.cuda.device_count())):
        torch.manual_seed(seed)
        if threads is not None:
            torch.set_num_threads(threads)
        try:
            yield
        finally:
            torch.set_num_threads(before)


@contextlib.contextmanager
def frozen_garbage_collector() -> Iterator[None]:
    """Keep Python's collector from walking over every imported object each time; a tenth of the training time."""
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()


def batches(count: int, size: int, rng: np.random.Generator | None = None) -> Iterator[np.ndarray]:
    """Positions 0 … count-1 in batches; shuffled when a generator is given."""
    order = np.arange(count) if rng is None else rng.permutation(count)
    for start in range(0, count, size):
        yield order[start : start + size]


class FlatAdam:
    """Adam on all parameters as one vector.

    The parameters become views of a flat tensor and their gradients are copied into another. The numbers are those
    of :class:`torch.optim.Adam`, whose bookkeeping per parameter costs more than the update of networks this small.
    """

    def __init__(self, net: nn.Module, lr: float, weight_decay: float = 0.0):
        self._parameters = [p for p in net.parameters() if p.requires_grad]
        flat = torch.cat([p.detach().reshape(-1) for p in self._parameters])
        for p, part in zip(self._parameters, flat.split([p.numel() for p in self._parameters])):
            p.data = part.view_as(p)
        self._flat = nn.Parameter(flat)
        self.adam = torch.optim.Adam([self._flat], lr, weight_decay=weight_decay, fused=True)

    def zero_grad(self) -> None:
        for p in self._parameters:
            p.grad = None

    def step(self, clip: float | None = None) -> None:
        """Update; gradients longer than `clip` are shortened first."""
        self._flat.grad = torch.cat(
            [(torch.zeros_like(p) if p.grad is None else p.grad).reshape(-1) for p in self._parameters]
        )
        if clip is not None:
            nn.utils.clip_grad_norm_(self._flat, clip)
        self.adam.step()


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
) -> TrainingResult:
    """Train `net` in place.

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
    """
    device = resolve_device(options.device)
    net.to(device)
    optimiser = FlatAdam(net, options.lr, options.weight_decay)
    schedule = _schedule(optimiser.adam, options)
    weights = _class_weights(train, options).to(device) if options.class_weights else None
    rng = np.random.default_rng(seed)
    result = TrainingResult()
    best_loss, best_weights = float("inf"), None
    with seeded(seed, options.threads), frozen_garbage_collector():
        for epoch in range(1, options.epochs + 1):
            start = time.perf_counter()
            loss, accuracy = _epoch(net, train, optimiser, weights, options, rng, device, epoch)
            record = EpochRecord(epoch, loss, accuracy, time.perf_counter() - start)
            if schedule is not None:
                schedule.step()
            if validation is not None:
                record.validation_loss, record.validation_accuracy = evaluate(net, validation, options.batch_size)
                if options.patience is not None and record.validation_loss < best_loss:
                    best_loss, result.best_epoch = record.validation_loss, epoch
                    best_weights = {name: value.detach().clone() for name, value in net.state_dict().items()}
            if watch is not None and epoch in watch_at:
                result.watched[epoch] = probabilities(net, watch, options.batch_size)
            result.history.append(record)
            if on_epoch is not None:
                on_epoch(record)
            if best_weights is not None and epoch - result.best_epoch >= (options.patience or 0):
                break
    if best_weights is not None:
        net.load_state_dict(best_weights)
    else:
        result.best_epoch = len(result.history)
    return result


def _epoch(
    net: nn.Module,
    train: Encoder,
    optimiser: FlatAdam,
    weights: Tensor | None,
    options: TrainingOptions,
    rng: np.random.Generator,
    device: torch.device,
    epoch: int,
) -> tuple[float, float]:
    """One pass over the training graphs; mean loss and accuracy as seen while training."""
    net.train()
    total_loss, correct = 0.0, 0
    for indices in batches(len(train.data), options.batch_size, rng):
        graph, labels = train.batch(indices).to(device), train.data.batch_labels(indices).to(device)
        scores = net(graph)  # (B, C)
        loss = F.cross_entropy(scores, labels, weight=weights)
        value = float(loss.detach())
        if not np.isfinite(value):
            raise TrainingError(
                f"the loss became {value} in epoch {epoch}. Try a smaller learning rate (lr={options.lr / 10:g}), "
                "gradient clipping (clip=1.0), or look for extreme node attributes."
            )
        optimiser.zero_grad()
        loss.backward()
        optimiser.step(options.clip)
        total_loss += value * len(indices)
        correct += int((scores.detach().argmax(1) == labels).sum())
    return total_loss / len(train.data), correct / len(train.data)


@torch.no_grad()
def scores(net: nn.Module, data: Encoder, batch_size: int = 50) -> Tensor:
    """(G, C) class scores in evaluation mode, on the CPU."""
    net.eval()
    device = next(net.parameters()).device
    return torch.cat([net(data.batch(i).to(device)).cpu() for i in batches(len(data.data), batch_size)])


def probabilities(net: nn.Module, data: Encoder, batch_size: int = 50) -> np.ndarray:
    """(G, C) class probabilities; each row sums to one in float64."""
    return torch.softmax(scores(net, data, batch_size).double(), dim=1).numpy()


def evaluate(net: nn.Module, data: Encoder, batch_size: int = 50) -> tuple[float, float]:
    """Mean cross-entropy and accuracy."""
    output, labels = scores(net, data, batch_size), torch.from_numpy(data.data.labels)
    return float(F.cross_entropy(output, labels)), float((output.argmax(1) == labels).float().mean())


def _schedule(optimiser: torch.optim.Optimizer, options: TrainingOptions) -> Any:
    if options.schedule == "cosine":
        return torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, options.epochs)
    if options.schedule == "step":
        return torch.optim.lr_scheduler.StepLR(optimiser, step_size=50, gamma=0.5)
    return None


def _class_weights(train: Encoder, options: TrainingOptions) -> Tensor:
    counts = np.bincount(train.data.labels, minlength=train.data.num_classes)
    return torch.tensor(len(train.data) / (len(counts) * np.maximum(counts, 1)), dtype=torch.float32)


def history_rows(result: TrainingResult) -> list[dict[str, Any]]:
    """The history as plain dictionaries, for CSV and JSON."""
    return [asdict(record) for record in result.history]
