"""DGCNN."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from torch import nn

from spgnn_dgl.data.features import InputSpec
from spgnn_dgl.data.store import DatasetInfo
from spgnn_dgl.errors import OptionError
from spgnn_dgl.methods.base import METHODS, GNNMethod
from spgnn_dgl.methods.spgnn import choose_k
from spgnn_dgl.nn.conv.base import stack
from spgnn_dgl.nn.conv.gcn import GCNConv
from spgnn_dgl.nn.graphnet import GraphNet
from spgnn_dgl.nn.head import CNNHead
from spgnn_dgl.nn.readout.sortpool import SortPool

SHARE, SMALLEST = 0.6, 10
HIDDEN = 128


def original_k(node_counts: np.ndarray) -> int:
    """k by the rule of the DGCNN paper: 60 % of the training graphs have more than k nodes; at least 10.

    (The authors' script takes the 60 % quantile instead, where 60 % of the graphs have *at most* k nodes.)

    >>> original_k(np.array([5, 20, 30, 40, 50]))
    29
    """
    descending = np.sort(node_counts)[::-1]
    return max(SMALLEST, int(descending[math.ceil(SHARE * len(descending)) - 1]) - 1)


@METHODS.register("dgcnn")
class DGCNN(GNNMethod):
    """Deep Graph CNN: random-walk convolutions, SortPool, CNN.

    Zhang, Cui, Neumann, Chen: *An End-to-End Deep Learning Architecture for Graph Classification*, AAAI 2018.

    The last convolution has one channel, by which SortPool sorts the nodes. Nodes that tie there are ordered by the
    channels before it, all of them together and not one after the other as in that paper, where rounding could swap
    them. Then its CNN: 16 filters over a node, pooling by two, 32 filters of width 5, 128 hidden units.

    Parameters
    ----------
    layers, channels
        Convolutions with tanh before the one that sorts, and the width of each.
    k
        Nodes kept; ``"auto"`` chooses as for `spgnn`, so that the two can be compared like for like, ``"original"``
        by the rule of the DGCNN paper (60 % of the training graphs have more than k nodes, at least 10).
    dropout
        In the head.
    """

    reference = "Zhang et al., AAAI 2018"

    def __init__(
        self, *, layers: int = 3, channels: int = 32, k: int | str = "auto", dropout: float = 0.5, **training: Any
    ):
        super().__init__(**training)
        if layers < 1 or channels < 1:
            raise OptionError(f"layers={layers}, channels={channels} was given; both must be at least 1.")
        if not (k in ("auto", "original") or isinstance(k, int)):
            raise OptionError(f"k={k!r} was given; k is a number of nodes, 'auto' or 'original'.")
        self.layers, self.channels, self.k, self.dropout = layers, channels, k, dropout

    def search_space(self, info: DatasetInfo) -> dict[str, tuple[Any, ...]]:
        candidates = choose_k(info.node_counts, info.domain)
        return {"k": candidates} if self.k == "auto" and len(candidates) > 1 else {}

    def resolve(self, info: DatasetInfo) -> dict[str, Any]:
        if self.k == "auto":
            return {"k": max(choose_k(info.node_counts, info.domain))}
        return {"k": original_k(info.node_counts) if self.k == "original" else self.k}

    def build(self, info: DatasetInfo, spec: InputSpec) -> nn.Module:
        dims = [self.channels] * self.layers + [1]
        convs = stack(GCNConv, spec, dims, norm="random-walk", activation="tanh")
        readout = SortPool(dims, self.resolved["k"])
        head = CNNHead(readout.out_shape, info.num_classes, hidden=HIDDEN, dropout=self.dropout)
        return GraphNet(convs, readout, head, spec)
