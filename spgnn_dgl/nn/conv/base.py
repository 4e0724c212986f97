"""What every graph convolution promises."""

from __future__ import annotations

import abc
from collections.abc import Callable, Sequence
from typing import Any

from torch import Tensor

from spgnn_dgl.data.features import InputSpec
from spgnn_dgl.nn.inputs import NodeInput
from spgnn_dgl.nn.part import Part
from spgnn_dgl.registry import Registry


class Conv(Part):
    """A layer of node representations: ``conv(graph, Z) -> Z'``.

    A subclass is constructed as ``Conv(in_dim, out_dim, **options)`` and says its width in `out_dim`. In the first
    layer `in_dim` is an :class:`~spgnn_dgl.data.features.InputSpec` and Z a :class:`~spgnn_dgl.nn.inputs.NodeInput`;
    a conv whose first step is a :class:`~spgnn_dgl.nn.inputs.Projection` takes both without further thought.

    `folds` says that it can also read the batches of :mod:`spgnn_dgl.data.folding`, in which one node stands for
    several: then it sums over neighbours by :func:`~spgnn_dgl.nn.propagation.neighbour_sum`, and treats every node
    by itself otherwise. `fold_at` is the share of nodes left up to which that was the faster way.
    """

    out_dim: int
    fold_at: float = 0.9

    @abc.abstractmethod
    def forward(self, graph: Any, Z: Tensor | NodeInput) -> Tensor:
        """(N, in_dim) → (N, out_dim)."""


CONVS: Registry[type[Conv]] = Registry("conv")


def stack(conv: Callable[..., Conv], spec: InputSpec, dims: Sequence[int], **options: Any) -> list[Conv]:
    """Convs of these widths in a row: the first reads the node input, every other one the layer before it."""
    before: list[int | InputSpec] = [spec, *dims]
    return [conv(in_dim, out_dim, **options) for in_dim, out_dim in zip(before, dims)]
