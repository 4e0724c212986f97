"""SortPool of DGCNN: one order for all layers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from spgnn_dgl.data.folding import COPIES
from spgnn_dgl.errors import OptionError
from spgnn_dgl.nn.inputs import Projection
from spgnn_dgl.nn.ops import take_rows, top_k
from spgnn_dgl.nn.propagation import is_folded
from spgnn_dgl.nn.readout.base import READOUTS, Readout
from spgnn_dgl.nn.readout.wlsortpool import Selection


@READOUTS.register("sortpool")
class SortPool(Readout):
    r"""Sort nodes by the last channel of the last layer, keep k, concatenate all layers.

    Zhang et al., *An End-to-End Deep Learning Architecture for Graph Classification*, AAAI 2018.

    .. math::
        Z_G = \mathrm{sort\text{-}k}\big(\mathrm{concat}(Z^{(1)}, \dots, Z^{(L)})\big)

    Ties are broken by the other channels. (``dgl.nn.SortPooling`` is not this: it sorts the channels inside every
    node first.)

    Parameters
    ----------
    dims
        Widths d_l of the layers.
    k
        Nodes to keep per graph.

    Shape
    -----
    L tensors (N, d_l) → (B, k, Σ d_l)
    """

    folds = True

    def __init__(self, dims: Sequence[int], k: int):
        super().__init__()
        if k < 1:
            raise OptionError(f"k={k} was given; SortPool keeps at least one node, so k must be 1 or more.")
        self.k = k
        self.out_shape = (k, sum(dims))

    def forward(self, graph: Any, layers: Sequence[Tensor]) -> Tensor:
        return take_rows(*self._sorted(graph, layers), repeated=is_folded(graph))

    def projected(self, graph: Any, layers: Sequence[Tensor], linear: Projection) -> Tensor:
        """Maps the nodes, then sorts."""
        Z, ids = self._sorted(graph, layers)
        rows = take_rows(Z @ linear.weight, ids, repeated=is_folded(graph))  # (B, k, out)
        return rows if linear.bias is None else rows + linear.bias

    def select(self, graph: Any, layers: Sequence[Tensor]) -> Selection:
        """The one order, as a selection of one layer."""
        Z, ids = self._sorted(graph, layers)
        return Selection(ids.unsqueeze(0), Z[:, -1].unsqueeze(0))

    def _sorted(self, graph: Any, layers: Sequence[Tensor]) -> tuple[Tensor, Tensor]:
        """(N, Σ d) all layers side by side, and (B, k) who is kept, -1 where there are fewer than k."""
        Z = torch.cat(list(layers), dim=1)
        return Z, top_k(Z, Z[:, -1], graph.batch_num_nodes(), self.k, graph.ndata.get(COPIES))
