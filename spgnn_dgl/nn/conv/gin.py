"""GIN's graph convolution."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from spgnn_dgl.data.features import InputSpec
from spgnn_dgl.data.folding import COPIES
from spgnn_dgl.nn.activation import Activation
from spgnn_dgl.nn.activation import activation as sigma_by_name
from spgnn_dgl.nn.conv.base import CONVS, Conv
from spgnn_dgl.nn.inputs import NodeInput, Projection
from spgnn_dgl.nn.norm import BatchNorm, NoNorm
from spgnn_dgl.nn.propagation import neighbour_sum


@CONVS.register("gin")
class GINConv(Conv):
    r"""Graph isomorphism convolution. Paper, Eq. (2); Xu et al., ICLR 2019.

    .. math::
        Z'_i = \mathrm{MLP}\Big((1 + \varepsilon) Z_i + \sum_{j \in \mathcal N(i)} Z_j\Big)

    The first linear map of the MLP is applied before the sum, which is the same by linearity and turns one-hot input
    into a look-up.

    Parameters
    ----------
    in_dim, out_dim
        Widths; the MLP has one hidden layer of width `out_dim`.
    learn_epsilon
        Train ε (the paper's Eq. 2); otherwise it stays 0 (GIN-0).
    batch_norm
        Batch norm inside the MLP and after it, as in the original code.
    activation
        σ after the MLP and inside it.

    Shape
    -----
    graph with N nodes, Z (N, in) or NodeInput → (N, out)
    """

    folds = True

    def __init__(
        self,
        in_dim: int | InputSpec,
        out_dim: int,
        *,
        learn_epsilon: bool = True,
        batch_norm: bool = False,
        activation: str | Activation = "relu",
    ):
        super().__init__()
        self.out_dim = out_dim
        self.epsilon = nn.Parameter(torch.zeros(()), requires_grad=learn_epsilon)
        self.first = Projection(in_dim, out_dim, bias=False)
        self.bias = nn.Parameter(torch.zeros(out_dim))
        self.second = Projection(out_dim, out_dim)
        self.fold_at = 0.5 if batch_norm else self.fold_at  # batch norm over copies takes longer
        self.norm1 = BatchNorm(out_dim) if batch_norm else NoNorm()
        self.norm2 = BatchNorm(out_dim) if batch_norm else NoNorm()
        self.sigma = sigma_by_name(activation, in_place=True)  # of what nothing else reads

    def forward(self, graph: Any, Z: Tensor | NodeInput) -> Tensor:
        copies = graph.ndata.get(COPIES)  # (N,) how often a node of a folded batch counts in the batch norms
        T = self.first(Z)  # (N, d)
        pooled = neighbour_sum(graph, T).add_(self.bias)
        hidden = self.sigma(self.norm1(torch.addcmul(pooled, T, 1 + self.epsilon), copies))
        return self.sigma(self.norm2(self.second(hidden), copies))
