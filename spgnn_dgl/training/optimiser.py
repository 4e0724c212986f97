"""Adam on all parameters of a network as one vector, and its learning rate over the epochs."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import Tensor, nn
from torch.optim.adam import adam

BETAS, EPSILON = (0.9, 0.999), 1e-8
SHARE_OF_RATE: Mapping[str, Callable[[int, int], float]] = {  # that is left after some epochs of all
    "constant": lambda done, epochs: 1.0,
    "cosine": lambda done, epochs: (1 + math.cos(math.pi * done / epochs)) / 2,  # zero at the end
    "step": lambda done, epochs: 0.5 ** (done // 50),
}
SCHEDULES = tuple(SHARE_OF_RATE)


class FlatAdam:
    """Adam on all parameters as one vector.

    The parameters become views of a flat tensor and their gradients are copied into another. The numbers are those
    of :class:`torch.optim.Adam`, whose bookkeeping per parameter and step costs more than the update of networks
    this small; the update itself is PyTorch's own fused function.

    Parameters
    ----------
    net
        Its parameters are rebound, so this comes before anything that keeps them, such as DistributedDataParallel.
    schedule
        ``"constant"``, ``"cosine"`` (to zero after `epochs`) or ``"step"`` (halved every 50 epochs).
    """

    def __init__(
        self, net: nn.Module, lr: float, weight_decay: float = 0.0, *, schedule: str = "constant", epochs: int = 1
    ):
        self._parameters = [p for p in net.parameters() if p.requires_grad]
        self._flat = torch.cat([p.detach().reshape(-1) for p in self._parameters])
        for p, part in zip(self._parameters, self._flat.split([p.numel() for p in self._parameters])):
            p.data = part.view_as(p)
        self._moments = {
            "exp_avg": torch.zeros_like(self._flat),
            "exp_avg_sq": torch.zeros_like(self._flat),
            "step": torch.zeros(1, device=self._flat.device),
        }
        self._lr, self._weight_decay = lr, weight_decay
        self._share, self._epochs, self._epochs_done = SHARE_OF_RATE[schedule], epochs, 0

    @property
    def lr(self) -> float:
        """The learning rate of the epoch under way."""
        return self._lr * self._share(self._epochs_done, self._epochs)

    def zero_grad(self) -> None:
        for p in self._parameters:
            p.grad = None

    @torch.no_grad()
    def step(self, clip: float | None = None) -> None:
        """Update; gradients longer than `clip` are shortened first."""
        gradient = torch.cat(
            [(torch.zeros_like(p) if p.grad is None else p.grad).reshape(-1) for p in self._parameters]
        )
        if clip is not None:
            gradient *= (clip / (gradient.norm() + 1e-6)).clamp(max=1.0)
        adam(
            [self._flat],
            [gradient],
            [self._moments["exp_avg"]],
            [self._moments["exp_avg_sq"]],
            [],
            [self._moments["step"]],
            fused=True,
            amsgrad=False,
            beta1=BETAS[0],
            beta2=BETAS[1],
            lr=self.lr,
            weight_decay=self._weight_decay,
            eps=EPSILON,
            maximize=False,
        )

    def end_epoch(self) -> None:
        """The learning rate of the next epoch."""
        self._epochs_done += 1

    def state(self) -> tuple[dict[str, Tensor], dict[str, Any]]:
        """What the next step depends on besides the weights: moments, and values that JSON can hold."""
        return dict(self._moments), {"epochs": self._epochs_done}

    def restore(self, moments: dict[str, Tensor], values: dict[str, Any]) -> None:
        """The reverse of :meth:`state`."""
        for name, value in moments.items():
            self._moments[name].copy_(value)
        self._epochs_done = values["epochs"]
