"""Graph attention."""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from spgnn_dgl._dgl import dgl
from spgnn_dgl.data.features import InputSpec
from spgnn_dgl.errors import OptionError
from spgnn_dgl.nn.activation import Activation
from spgnn_dgl.nn.activation import activation as sigma_by_name
from spgnn_dgl.nn.conv.base import CONVS, Conv
from spgnn_dgl.nn.inputs import NodeInput, Projection
from spgnn_dgl.nn.structure import with_self_loops

NEGATIVE_SLOPE = 0.2


def check_heads(channels: int, heads: int) -> None:
    """Refuse heads that cannot share the channels evenly."""
    if heads < 1 or channels % heads:
        raise OptionError(
            f"channels={channels}, heads={heads} was given; the heads share the channels evenly, so the number of "
            "channels must be a multiple of the number of heads."
        )


@CONVS.register("gat")
class GATConv(Conv):
    r"""Graph attention. Veličković et al., *Graph Attention Networks*, ICLR 2018, Eqs. (1) to (5).

    For each head, with :math:`Y = Z W` and j running over :math:`\mathcal N(i) \cup \{i\}`,

    .. math::
        \alpha_{ij} = \mathrm{softmax}_j\ \mathrm{LeakyReLU}\big(a_1^\top Y_i + a_2^\top Y_j\big), \qquad
        Z'_i = \sigma\Big(\sum_j \alpha_{ij} Y_j + b\Big)

    The heads' results stand side by side.

    Parameters
    ----------
    in_dim
        Width of Z, or the input spec in the first layer.
    out_dim
        Width of Z', all heads together; a multiple of `heads`.
    heads
        Attention heads.
    activation
        σ, by name or as a function.

    Shape
    -----
    graph with N nodes, Z (N, in) or NodeInput → (N, out)

    Examples
    --------
    >>> conv = GATConv(3, 8, heads=2)
    >>> conv(dgl.graph(([0, 1], [1, 0]), num_nodes=3), torch.ones(3, 3)).shape
    torch.Size([3, 8])
    """

    def __init__(
        self,
        in_dim: int | InputSpec,
        out_dim: int,
        *,
        heads: int = 4,
        activation: str | Activation = "elu",
    ):
        super().__init__()
        check_heads(out_dim, heads)
        self.out_dim = out_dim
        self.heads = heads
        self.W = Projection(in_dim, out_dim, bias=False)
        self.attend_target = nn.Parameter(torch.empty(heads, out_dim // heads))  # a₁
        self.attend_source = nn.Parameter(torch.empty(heads, out_dim // heads))  # a₂
        self.bias = nn.Parameter(torch.zeros(out_dim))
        self.sigma = sigma_by_name(activation)
        nn.init.xavier_uniform_(self.attend_target)
        nn.init.xavier_uniform_(self.attend_source)

    def forward(self, graph: Any, Z: Tensor | NodeInput) -> Tensor:
        loops = with_self_loops(graph)  # E' = E + N edges
        Y = self.W(Z).view(-1, self.heads, self.attend_source.shape[1])  # (N, heads, d)
        target, source = (Y * self.attend_target).sum(2), (Y * self.attend_source).sum(2)  # (N, heads) each
        logits = F.leaky_relu(dgl.ops.u_add_v(loops, source, target), NEGATIVE_SLOPE)  # (E', heads)
        alpha = dgl.ops.edge_softmax(loops, logits).unsqueeze(2)  # (E', heads, 1)
        return self.sigma(dgl.ops.u_mul_e_sum(loops, Y, alpha).flatten(1) + self.bias)  # (N, heads·d)
