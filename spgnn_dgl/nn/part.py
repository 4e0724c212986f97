"""What convolutions and readouts have in common."""

from __future__ import annotations

import abc
from typing import Any

from torch import nn


class Part(nn.Module, abc.ABC):
    """A part of a network over graphs. `folds` says that it can read the batches of :mod:`spgnn_dgl.data.folding`."""

    folds: bool = False

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "forward" in vars(cls) and "folds" not in vars(cls):  # what another forward could read says nothing of it
            cls.folds = False
