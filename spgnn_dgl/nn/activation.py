"""σ by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import Tensor

from spgnn_dgl.registry import Registry

Activation = Callable[[Tensor], Tensor]


class _Tanh(torch.autograd.Function):
    """tanh by NumPy, which took a seventh of PyTorch's time on an AMD CPU (its library of functions is Intel's)."""

    @staticmethod
    def forward(ctx: Any, X: Tensor, in_place: bool) -> Tensor:
        out = X if in_place else torch.empty_like(X)
        np.tanh(X.detach().numpy(), out=out.detach().numpy())
        if in_place:
            ctx.mark_dirty(X)
        ctx.save_for_backward(out)
        return out

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None]:
        (out,) = ctx.saved_tensors
        return torch.ops.aten.tanh_backward(grad, out), None


def tanh(X: Tensor) -> Tensor:
    """tanh of every entry."""
    return _Tanh.apply(X, False) if _is_numpys(X) else torch.tanh(X)


def tanh_(X: Tensor) -> Tensor:
    """tanh of every entry, in its place."""
    return _Tanh.apply(X, True) if _is_numpys(X) else torch.tanh_(X)


def _is_numpys(X: Tensor) -> bool:
    """Whether NumPy can compute on the tensor's own memory."""
    return X.device.type == "cpu" and X.dtype in (torch.float32, torch.float64)


ACTIVATIONS: Registry[Activation] = Registry("activation")
ACTIVATIONS.register("relu")(torch.relu)
ACTIVATIONS.register("tanh")(tanh)
ACTIVATIONS.register("elu")(torch.nn.functional.elu)
ACTIVATIONS.register("leaky_relu")(torch.nn.functional.leaky_relu)
ACTIVATIONS.register("identity", "none", "linear")(lambda x: x)


IN_PLACE: dict[Activation, Activation] = {torch.relu: torch.relu_, tanh: tanh_, torch.tanh: torch.tanh_}


def activation(sigma: str | Activation, *, in_place: bool = False) -> Activation:
    """σ itself, or the one of that name; `in_place`: one that may overwrite its argument, where there is such a one."""
    found = ACTIVATIONS.get(sigma) if isinstance(sigma, str) else sigma
    return IN_PLACE.get(found, found) if in_place else found
