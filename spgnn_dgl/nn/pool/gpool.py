"""gPool of Graph U-Nets."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from spgnn_dgl.errors import OptionError
from spgnn_dgl.nn.pool.base import NodePool
from spgnn_dgl.nn.structure import induced_subgraph, two_hop_subgraph


def check_power(power: int) -> None:
    """Refuse powers of A that are not offered."""
    if power not in (1, 2):
        raise OptionError(f"power={power} was given; known: 1 (neighbours stay neighbours), 2 (two hops become one).")


class GPool(NodePool):
    r"""Keep the nodes whose representations reach furthest along a trained direction.

    Gao and Ji: *Graph U-Nets*, ICML 2019, Eqs. (2) and (4).

    .. math::
        s = \frac{Z p}{\lVert p \rVert}, \qquad
        \mathrm{kept} = \mathrm{top}_{\lceil \text{ratio} \cdot n \rceil}(s), \qquad
        Z' = \big(Z \odot \mathrm{sigmoid}(s)\big)_{\mathrm{kept}}, \quad A' = (A^2)_{\mathrm{kept}, \mathrm{kept}}

    A² joins nodes at most two hops apart (their A has self-loops), with weight 1: where nodes in between are dropped,
    the rest stays connected.

    Parameters
    ----------
    dim
        Width of Z.
    ratio, ties
        As in :class:`~spgnn_dgl.nn.pool.base.NodePool`.
    power
        2 for A²; 1 for A, which stays small in graphs with hubs.

    Shape
    -----
    graph with N nodes, Z (N, d) → graph with N' nodes, (N', d)
    """

    def __init__(self, dim: int, ratio: float = 0.8, ties: str = "keep", *, power: int = 2):
        super().__init__(ratio, ties)
        check_power(power)
        self.subgraph = two_hop_subgraph if power == 2 else induced_subgraph
        self.direction = nn.Parameter(torch.empty(dim))
        nn.init.uniform_(self.direction, -(dim**-0.5), dim**-0.5)

    def forward(self, graph: Any, Z: Tensor) -> tuple[Any, Tensor]:
        score = Z @ self.direction / self.direction.norm()  # (N,)
        keep = self.kept(graph, Z, score)
        gated = Z[keep] * torch.sigmoid(score[keep]).unsqueeze(1)  # (N', d)
        return self.subgraph(graph, keep), gated
