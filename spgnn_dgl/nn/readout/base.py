"""What every readout promises."""

from __future__ import annotations

import abc
from collections.abc import Sequence
from typing import Any

from torch import Tensor

from spgnn_dgl.nn.inputs import Projection
from spgnn_dgl.nn.part import Part
from spgnn_dgl.registry import Registry


class Readout(Part):
    """From the node representations of all layers to one tensor per graph: ``readout(graph, [Z¹ … Z^L])``.

    `out_shape` is ``(k, D)`` for a readout that keeps an ordered list of nodes and ``(D,)`` for one that sums up; it
    decides which head fits. A readout that `spgnn` can use by name is constructed from what it asks for by these names:
    `dims` (widths of the layers), `k` (nodes to keep), `hidden`.

    `folds` says that it can also read the batches of :mod:`spgnn_dgl.data.folding`, and counts a node as often as
    ``graph.ndata["copies"]`` says.
    """

    out_shape: tuple[int, ...]

    @abc.abstractmethod
    def forward(self, graph: Any, layers: Sequence[Tensor]) -> Tensor:
        """L tensors (N, d_l) → ``(B, *out_shape)``."""

    def projected(self, graph: Any, layers: Sequence[Tensor], linear: Projection) -> Tensor:
        """The head's first step: ``linear(readout(graph, layers))``, (B, D) → (B, out) or (B, k, D) → (B, k, out).

        A readout that gathers rows may do better and map them before: the rows to gather are narrower then, and zeros
        that complete a short list are neither stored at full width nor multiplied.
        """
        return linear(self(graph, layers))


READOUTS: Registry[type[Readout]] = Registry("readout")
