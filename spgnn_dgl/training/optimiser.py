"""Adam on all parameters of a network as one vector, and its learning rate over the epochs."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

SCHEDULES = ("constant", "cosine", "step")
MOMENTS = ("exp_avg", "exp_avg_sq", "step")  # what torch.optim.Adam keeps per parameter


class FlatAdam:
    """Adam on all parameters as one vector.

    The parameters become views of a flat tensor and their gradients are copied into another. The numbers are those
    of :class:`torch.optim.Adam`, whose bookkeeping per parameter costs more than the update of networks this small.

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
        flat = torch.cat([p.detach().reshape(-1) for p in self._parameters])
        for p, part in zip(self._parameters, flat.split([p.numel() for p in self._parameters])):
            p.data = part.view_as(p)
        self._flat = nn.Parameter(flat)
        self.adam = torch.optim.Adam([self._flat], lr, weight_decay=weight_decay, fused=True)
        self._schedule: Any = None
        if schedule == "cosine":
            self._schedule = torch.optim.lr_scheduler.CosineAnnealingLR(self.adam, epochs)
        elif schedule == "step":
            self._schedule = torch.optim.lr_scheduler.StepLR(self.adam, step_size=50, gamma=0.5)

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

    def end_epoch(self) -> None:
        """The learning rate of the next epoch."""
        if self._schedule is not None:
            self._schedule.step()

    def state(self) -> tuple[dict[str, Tensor], dict[str, Any]]:
        """What the next step depends on besides the weights: moments, and values that JSON can hold."""
        kept = self.adam.state.get(self._flat, {})  # nothing before the first step
        values: dict[str, Any] = {"lr": self.adam.param_groups[0]["lr"]}
        if self._schedule is not None:
            values["schedule"] = self._schedule.state_dict()
        return {name: kept[name] for name in MOMENTS if name in kept}, values

    def restore(self, moments: dict[str, Tensor], values: dict[str, Any]) -> None:
        """The reverse of :meth:`state`."""
        if moments:
            device = self._flat.device
            self.adam.state[self._flat] = {name: value.clone().to(device) for name, value in moments.items()}
        self.adam.param_groups[0]["lr"] = values["lr"]
        if self._schedule is not None:
            self._schedule.load_state_dict(values["schedule"])
