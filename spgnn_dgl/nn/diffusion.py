"""DCNN: what diffuses to the nodes of a graph, hop by hop."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from spgnn_dgl._dgl import dgl
from spgnn_dgl.data.features import InputSpec
from spgnn_dgl.data.store import symmetric_lists
from spgnn_dgl.errors import OptionError
from spgnn_dgl.nn.inputs import NodeInput, Projection
from spgnn_dgl.nn.ops import segment_ids, segment_sum
from spgnn_dgl.nn.propagation import node_message_view

POOLS = ("mean", "sum")


def diffused_sums(graph: Any, X: NodeInput, hops: int) -> Tensor:
    r"""Input that reaches the nodes of each graph after h steps of a random walk, summed over its nodes.

    .. math::
        S_h = \mathbf 1^\top P^h X, \quad h = 0 \dots H-1, \qquad P = D^{-1} A

    computed as :math:`(P^{\top h} \mathbf 1)^\top X`: one sparse product with a vector per hop, and then one weighted
    count of the node codes; neither a power of P nor a one-hot matrix is ever made. An isolated node has a zero row
    in P.

    Shape
    -----
    graph with N nodes in B graphs → (B, H, F)
    """
    sizes = graph.batch_num_nodes()
    weights = _arrivals(graph, hops)  # (H, N)
    parts: list[Tensor] = []
    if X.codes is not None:
        V = X.spec.num_codes
        cells = segment_ids(sizes) * V + X.codes  # (N,)
        counts = weights.new_zeros(hops, len(sizes) * V).index_add_(1, cells, weights)
        parts.append(counts.view(hops, len(sizes), V).transpose(0, 1))
    if X.dense is not None:
        parts.append(segment_sum(weights.t().unsqueeze(2) * X.dense.unsqueeze(1), sizes))
    return torch.cat(parts, dim=2)


def _arrivals(graph: Any, hops: int) -> Tensor:
    """(H, N) column sums of P^h: how much of each node's input arrives anywhere after h steps."""
    # P averages over in-neighbours, so its transpose passes messages against the edges
    undirected = symmetric_lists(graph) is not None
    reverse = node_message_view(graph if undirected else dgl.reverse(graph, copy_ndata=False, copy_edata=False))
    degrees = graph.in_degrees().clamp(min=1).float().unsqueeze(1)  # (N, 1)
    arrivals = [torch.ones_like(degrees)]
    for _ in range(hops - 1):
        arrivals.append(dgl.ops.copy_u_sum(reverse, arrivals[-1] / degrees))
    return torch.cat(arrivals, dim=1).t()


def check_diffusion(hops: int, pool: str) -> None:
    """Refuse a number of hops or a pool that cannot be."""
    if hops < 1:
        raise OptionError(f"hops={hops} was given; at least 1 is needed (the nodes themselves are hop 0).")
    if pool not in POOLS:
        raise OptionError(f"pool={pool!r} was given; known: {', '.join(POOLS)}.")


class DiffusionNet(nn.Module):
    r"""Diffusion-convolutional network for graphs.

    Atwood and Towsley: *Diffusion-Convolutional Neural Networks*, NIPS 2016, Eq. (5).

    .. math::
        Z_G = \tanh\big(W \odot \tfrac1n \mathbf 1^\top P^h X\big)_{h = 0 \dots H-1}, \qquad
        \text{scores} = Z_G W_d + b

    Parameters
    ----------
    spec
        What the nodes carry, F features.
    num_classes
        C.
    hops
        H, the node itself counted as hop 0.
    pool
        ``"mean"`` over the nodes as in the equation, or ``"sum"``.

    Shape
    -----
    encoded batch of B graphs → (B, C)
    """

    def __init__(self, spec: InputSpec, num_classes: int, *, hops: int = 4, pool: str = "mean"):
        super().__init__()
        check_diffusion(hops, pool)
        self.spec, self.hops, self.pool = spec, hops, pool
        self.W = nn.Parameter(torch.ones(hops, spec.dim))
        if spec.num_codes > 1:
            with torch.no_grad():
                self.W[:, spec.num_codes - 1] = 0.0  # the code "other": a value never seen in training is neutral
        self.out = Projection(hops * spec.dim, num_classes)

    def forward(self, graph: Any) -> Tensor:
        S = diffused_sums(graph, NodeInput.of(graph, self.spec), self.hops)  # (B, H, F)
        if self.pool == "mean":
            S = S / graph.batch_num_nodes().clamp(min=1).view(-1, 1, 1)
        return self.out(torch.tanh(self.W * S).flatten(1))  # (B, C)
