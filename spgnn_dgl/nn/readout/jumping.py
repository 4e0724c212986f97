"""GIN's readout: every layer, the input included, votes by itself."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn

from spgnn_dgl.data.features import InputSpec
from spgnn_dgl.data.folding import COPIES
from spgnn_dgl.errors import OptionError
from spgnn_dgl.nn.head import Dropout
from spgnn_dgl.nn.inputs import NodeInput, Projection
from spgnn_dgl.nn.ops import segment_mean, segment_sum
from spgnn_dgl.nn.readout.base import READOUTS, Readout

POOLS = {"sum": segment_sum, "mean": segment_mean}


@READOUTS.register("jumping")
class JumpingReadout(Readout):
    r"""Pool the nodes of each layer, classify each layer linearly, add the scores.

    Xu et al., *How Powerful are Graph Neural Networks?*, ICLR 2019, Eq. (4.2) and the authors' code.

    .. math::
        \text{scores} = \sum_{l=0}^{L} \mathrm{dropout}\Big(W_l^\top \sum_i Z^{(l)}_i + b_l\Big), \qquad
        Z^{(0)} \text{ the node input}

    Dropout acts on each layer's scores. What comes out is a score per class, so no head is needed. By linearity the
    input layer is projected before it is summed, which turns one-hot input into a look-up.

    Parameters
    ----------
    spec
        What the nodes carry.
    dims
        Widths d_l of the layers.
    num_classes
        C.
    pool
        ``"sum"`` or ``"mean"`` over the nodes.
    dropout
        Share of scores dropped.

    Shape
    -----
    L tensors (N, d_l) → (B, C)
    """

    folds = True

    def __init__(
        self, spec: InputSpec, dims: Sequence[int], num_classes: int, *, pool: str = "sum", dropout: float = 0.5
    ):
        super().__init__()
        if pool not in POOLS:
            raise OptionError(f"pool='{pool}' was given; known: {', '.join(POOLS)}.")
        self.spec, self.pool = spec, POOLS[pool]
        self.input = Projection(spec, num_classes, bias=False)
        self.input_bias = nn.Parameter(torch.zeros(num_classes))
        self.votes = nn.ModuleList(Projection(d, num_classes) for d in dims)
        self.dropout = Dropout(dropout)
        self.out_shape = (num_classes,)

    def forward(self, graph: Any, layers: Sequence[Tensor]) -> Tensor:
        sizes, copies = graph.batch_num_nodes(), graph.ndata.get(COPIES)
        scores = self.dropout(self.pool(self.input(NodeInput.of(graph, self.spec)), sizes, copies) + self.input_bias)
        for vote, Z in zip(self.votes, layers):
            scores = scores + self.dropout(vote(self.pool(Z, sizes, copies)))
        return scores  # (B, C)
