"""How a network is trained."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

from spgnn_dgl.errors import OptionError
from spgnn_dgl.training.optimiser import SCHEDULES

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
        Graphs per step; of all processes together, where ``torchrun`` starts several.
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
