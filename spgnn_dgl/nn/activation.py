"""σ by name."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from spgnn_dgl.registry import Registry

Activation = Callable[[Tensor], Tensor]

ACTIVATIONS: Registry[Activation] = Registry("activation")
ACTIVATIONS.register("relu")(torch.relu)
ACTIVATIONS.register("tanh")(torch.tanh)
ACTIVATIONS.register("elu")(torch.nn.functional.elu)
ACTIVATIONS.register("leaky_relu")(torch.nn.functional.leaky_relu)
ACTIVATIONS.register("identity", "none", "linear")(lambda x: x)


IN_PLACE: dict[Activation, Activation] = {torch.relu: torch.relu_, torch.tanh: torch.tanh_}


def activation(sigma: str | Activation, *, in_place: bool = False) -> Activation:
    """σ itself, or the one of that name; `in_place`: one that may overwrite its argument, where there is such a one."""
    found = ACTIVATIONS.get(sigma) if isinstance(sigma, str) else sigma
    return IN_PLACE.get(found, found) if in_place else found
