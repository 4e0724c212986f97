"""Readout of the best nodes only: SAGPool's global architecture."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

from spgnn_dgl.nn.ops import segment_max, segment_mean
from spgnn_dgl.nn.pool.sagpool import SAGPool
from spgnn_dgl.nn.readout.base import READOUTS, Readout

Statistic = Callable[[Tensor, Tensor], Tensor]


def summary(graph: Any, Z: Tensor, statistics: Sequence[Statistic]) -> Tensor:
    """(N, d) → (B, S·d): each statistic of the nodes of a graph, side by side."""
    sizes = graph.batch_num_nodes()
    return torch.cat([statistic(Z, sizes) for statistic in statistics], dim=1)


@READOUTS.register("sagpool")
class SAGPoolReadout(Readout):
    r"""Concatenate all layers, keep the best-scored nodes, read their mean and maximum.

    Lee, Lee, Kang: *Self-Attention Graph Pooling*, ICML 2019, Sec. 3.3, "global pooling architecture", Eq. (7).

    .. math::
        Z' = \mathrm{SAGPool}\big(G, \mathrm{concat}(Z^{(1)}, \dots, Z^{(L)})\big), \qquad
        Z_G = \frac1{n'} \sum_i Z'_i \ \Vert\ \max_i Z'_i

    Parameters
    ----------
    dims
        Widths d_l of the layers.
    ratio, ties
        As in :class:`~spgnn_dgl.nn.pool.base.NodePool`.

    Shape
    -----
    L tensors (N, d_l) → (B, 2·Σ d_l)
    """

    def __init__(self, dims: Sequence[int], ratio: float = 0.5, ties: str = "keep"):
        super().__init__()
        self.pool = SAGPool(sum(dims), ratio, ties)
        self.out_shape = (2 * sum(dims),)

    def forward(self, graph: Any, layers: Sequence[Tensor]) -> Tensor:
        smaller, Z = self.pool(graph, torch.cat(list(layers), dim=1))  # (N', Σ d)
        return summary(smaller, Z, (segment_mean, segment_max))
