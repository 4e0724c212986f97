"""`PoolNet`: a graph classifier that coarsens its graphs on the way."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn

from spgnn_dgl.data.features import InputSpec
from spgnn_dgl.nn.conv.base import Conv
from spgnn_dgl.nn.inputs import NodeInput
from spgnn_dgl.nn.ops import segment_max, segment_mean
from spgnn_dgl.nn.pool.base import NodePool
from spgnn_dgl.nn.readout.pooled import Statistic, summary


class Level(nn.Module):
    """One level of a :class:`PoolNet`: a convolution, and a pool after it where there is one."""

    def __init__(self, conv: Conv, pool: NodePool | None = None):
        super().__init__()
        self.conv = conv
        self.pool = pool

    def forward(self, graph: Any, Z: Tensor | NodeInput) -> tuple[Any, Tensor]:
        convolved: Tensor = self.conv(graph, Z)
        return (graph, convolved) if self.pool is None else self.pool(graph, convolved)


class PoolNet(nn.Module):
    r"""Convolution and pooling in turn, a readout of every level.

    .. math::
        G_l, Z_l = \mathrm{pool}_l\big(G_{l-1}, \mathrm{conv}_l(G_{l-1}, Z_{l-1})\big), \quad
        r_l = \mathrm{statistics}(Z_l), \quad
        \text{scores} = \mathrm{head}\Big(\sum_l r_l \ \text{or}\ \mathrm{concat}_l\, r_l\Big)

    Parameters
    ----------
    spec
        What the nodes carry.
    levels, head
        The parts.
    statistics
        What is read of the nodes of a graph at each level, for example mean and maximum.
    add
        Whether the readouts of the levels are added (SAGPool) or stand side by side (Graph U-Nets).

    Shape
    -----
    encoded batch of B graphs → (B, C)
    """

    def __init__(
        self,
        spec: InputSpec,
        levels: Sequence[Level],
        head: nn.Module,
        *,
        statistics: Sequence[Statistic] = (segment_mean, segment_max),
        add: bool = True,
    ):
        super().__init__()
        self.spec = spec
        self.levels = nn.ModuleList(levels)
        self.head = head
        self.statistics, self.add = tuple(statistics), add

    def forward(self, graph: Any) -> Tensor:
        Z: Tensor | NodeInput = NodeInput.of(graph, self.spec)
        readouts: list[Tensor] = []
        for level in self.levels:
            graph, pooled = level(graph, Z)
            readouts.append(summary(graph, pooled, self.statistics))
            Z = pooled
        return self.head(torch.stack(readouts).sum(0) if self.add else torch.cat(readouts, dim=1))
