"""Self-attention graph pooling."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from spgnn_dgl.nn.conv.gcn import GCNConv
from spgnn_dgl.nn.pool.base import NodePool
from spgnn_dgl.nn.structure import induced_subgraph


class SAGPool(NodePool):
    r"""Keep the nodes that a graph convolution scores highest.

    Lee, Lee, Kang: *Self-Attention Graph Pooling*, ICML 2019, Eqs. (3) to (5).

    .. math::
        s = \tilde D^{-1/2} \tilde A \tilde D^{-1/2} Z \theta + b, \qquad
        \mathrm{kept} = \mathrm{top}_{\lceil \text{ratio} \cdot n \rceil}(s), \qquad
        Z' = \big(Z \odot \tanh(s)\big)_{\mathrm{kept}}, \quad A' = A_{\mathrm{kept}, \mathrm{kept}}

    Parameters
    ----------
    dim
        Width of Z.
    ratio, ties
        As in :class:`~spgnn_dgl.nn.pool.base.NodePool`.

    Shape
    -----
    graph with N nodes, Z (N, d) → graph with N' nodes, (N', d)
    """

    def __init__(self, dim: int, ratio: float = 0.5, ties: str = "keep"):
        super().__init__(ratio, ties)
        self.score = GCNConv(dim, 1, activation="identity")

    def forward(self, graph: Any, Z: Tensor) -> tuple[Any, Tensor]:
        score = self.score(graph, Z).squeeze(1)  # (N,)
        keep = self.kept(graph, Z, score)
        gated = Z[keep] * torch.tanh(score[keep]).unsqueeze(1)  # (N', d)
        return induced_subgraph(graph, keep), gated
