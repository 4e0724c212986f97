"""Readouts that sum, average or maximise over nodes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import torch
from torch import Tensor

from spgnn_dgl.data.folding import COPIES
from spgnn_dgl.nn.ops import segment_max, segment_mean, segment_sum
from spgnn_dgl.nn.readout.base import READOUTS, Readout


class FlatReadout(Readout):
    """One number per channel and layer, layers side by side.

    Parameters
    ----------
    dims
        Widths d_l of the layers.

    Shape
    -----
    L tensors (N, d_l) → (B, Σ d_l)
    """

    folds = True
    reduce: ClassVar[staticmethod[[Tensor, Tensor, Tensor | None], Tensor]]

    def __init__(self, dims: Sequence[int]):
        super().__init__()
        self.out_shape = (sum(dims),)

    def forward(self, graph: Any, layers: Sequence[Tensor]) -> Tensor:
        Z = torch.cat(list(layers), dim=1)
        return type(self).reduce(Z, graph.batch_num_nodes(), graph.ndata.get(COPIES))


@READOUTS.register("sum")
class SumReadout(FlatReadout):
    r"""Sum over the nodes of a graph: :math:`Z_G = \sum_i \mathrm{concat}_l Z^{(l)}_i`."""

    reduce = staticmethod(segment_sum)


@READOUTS.register("mean")
class MeanReadout(FlatReadout):
    r"""Average over the nodes of a graph: :math:`Z_G = \frac1n \sum_i \mathrm{concat}_l Z^{(l)}_i`."""

    reduce = staticmethod(segment_mean)


@READOUTS.register("max")
class MaxReadout(FlatReadout):
    r"""Channel-wise maximum over the nodes of a graph: :math:`Z_G = \max_i \mathrm{concat}_l Z^{(l)}_i`."""

    reduce = staticmethod(segment_max)
