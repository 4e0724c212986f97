"""Graph convolution with self-loops and a fixed normalisation: Kipf and Welling's, and DGCNN's."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from spgnn_dgl.data.features import InputSpec
from spgnn_dgl.data.store import degrees
from spgnn_dgl.errors import OptionError
from spgnn_dgl.nn.activation import Activation
from spgnn_dgl.nn.activation import activation as sigma_by_name
from spgnn_dgl.nn.conv.base import CONVS, Conv
from spgnn_dgl.nn.inputs import NodeInput, Projection
from spgnn_dgl.nn.propagation import neighbour_sum
from spgnn_dgl.registry import did_you_mean

NORMS = ("symmetric", "random-walk")


@CONVS.register("gcn")
class GCNConv(Conv):
    r"""Average over a node and its neighbours.

    With :math:`\tilde A = A + I` and its degrees :math:`\tilde D`,

    .. math::
        Z' = \sigma\big(\tilde D^{-1/2} \tilde A \tilde D^{-1/2} Z W + b\big)
        \qquad\text{or}\qquad
        Z' = \sigma\big(\tilde D^{-1} \tilde A Z W + b\big)

    The first is Kipf and Welling, *Semi-Supervised Classification with Graph Convolutional Networks*, ICLR 2017; the
    second Zhang et al., *An End-to-End Deep Learning Architecture for Graph Classification*, AAAI 2018 (DGCNN).

    Parameters
    ----------
    in_dim, out_dim
        Widths of Z and Z'.
    norm
        ``"symmetric"`` or ``"random-walk"``.
    activation
        σ, by name or as a function.

    Shape
    -----
    graph with N nodes, Z (N, in) or NodeInput → (N, out)

    Examples
    --------
    >>> from spgnn_dgl._dgl import dgl
    >>> conv = GCNConv(1, 1, norm="random-walk", activation="identity")
    >>> _ = torch.nn.init.ones_(conv.W.weight)
    >>> edge = dgl.graph(([0, 1], [1, 0]), num_nodes=3)
    >>> conv(edge, torch.tensor([[2.0], [4.0], [6.0]])).squeeze(1).tolist()
    [3.0, 3.0, 6.0]
    """

    folds = True

    def __init__(
        self,
        in_dim: int | InputSpec,
        out_dim: int,
        *,
        norm: str = "symmetric",
        activation: str | Activation = "relu",
    ):
        super().__init__()
        if norm not in NORMS:
            raise OptionError(f"unknown norm '{norm}'.{did_you_mean(norm, NORMS)} Known: {', '.join(NORMS)}.")
        self.out_dim = out_dim
        self.norm = norm
        self.W = Projection(in_dim, out_dim, bias=False)
        self.bias = nn.Parameter(torch.zeros(out_dim))
        self.sigma = sigma_by_name(activation, in_place=True)  # of sums that nothing else reads

    def forward(self, graph: Any, Z: Tensor | NodeInput) -> Tensor:
        Y = self.W(Z)  # (N, d)
        D = (degrees(graph) + 1).to(Y.dtype).unsqueeze(1)  # (N, 1)
        if self.norm == "symmetric":
            scale = D.rsqrt()
            Y = Y * scale
        else:
            scale = D.reciprocal()
        summed = neighbour_sum(graph, Y).add_(Y)
        return self.sigma(torch.addcmul(self.bias, summed, scale))
