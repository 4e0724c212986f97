"""Graph U-Nets' encoder with gPool."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from torch import nn

from spgnn_dgl.data.features import InputSpec
from spgnn_dgl.data.store import DatasetInfo
from spgnn_dgl.errors import OptionError
from spgnn_dgl.methods.base import METHODS, GNNMethod
from spgnn_dgl.nn.conv.gcn import GCNConv
from spgnn_dgl.nn.head import MLPHead
from spgnn_dgl.nn.ops import segment_max, segment_mean, segment_sum
from spgnn_dgl.nn.pool.base import check_pooling
from spgnn_dgl.nn.pool.gpool import GPool, check_power
from spgnn_dgl.nn.poolnet import Level, PoolNet

STATISTICS = (segment_max, segment_sum, segment_mean)


@METHODS.register("gpool", "graph-u-nets")
class GPoolMethod(GNNMethod):
    """Graph U-Nets' encoder: convolutions, with gPool between them.

    Gao and Ji: *Graph U-Nets*, ICML 2019.

    A GCN layer, then one more before each pooling. Of every level the maximum, the sum and the mean of its nodes are
    read, as in the authors' code, and an MLP classifies them. The decoder, which brings the nodes back, is left out:
    a class belongs to the graph.

    Parameters
    ----------
    channels
        Of every convolution.
    ratios
        Share of the nodes that each pooling keeps, one number per pooling.
    power
        2 joins the kept nodes that were at most two hops apart, as in the paper. That is an edge between any two
        neighbours of a hub: for graphs like those of REDDIT, 1 keeps only the edges there are.
    activation
        σ of the convolutions.
    hidden
        Hidden units of the MLP.
    ties
        ``"keep"``: where the last node kept has equals, they stay too, so that predictions do not depend on the
        numbering of the nodes. ``"cut"``: exactly the share, as in the original.
    dropout
        In the MLP.
    """

    reference = "Gao and Ji, ICML 2019"
    training_defaults: ClassVar[dict[str, Any]] = {"batch_size": 64}

    def __init__(
        self,
        *,
        channels: int = 64,
        ratios: Sequence[float] = (0.9, 0.8, 0.7),
        power: int = 2,
        activation: str = "elu",
        hidden: int = 512,
        ties: str = "keep",
        dropout: float = 0.3,
        **training: Any,
    ):
        super().__init__(**training)
        if channels < 1 or hidden < 1:
            raise OptionError(f"channels={channels}, hidden={hidden} was given; both must be at least 1.")
        if isinstance(ratios, str | int | float) or not all(isinstance(r, int | float) for r in ratios):
            raise OptionError(f"ratios={ratios!r} was given; it is a list of shares, such as [0.9, 0.8, 0.7].")
        for ratio in ratios:
            check_pooling(ratio, ties)
        check_power(power)
        self.channels, self.ratios, self.power, self.activation = channels, tuple(ratios), power, activation
        self.hidden, self.ties, self.dropout = hidden, ties, dropout

    def build(self, info: DatasetInfo, spec: InputSpec) -> nn.Module:
        levels = [Level(GCNConv(spec, self.channels, activation=self.activation))]
        for ratio in self.ratios:
            conv = GCNConv(self.channels, self.channels, activation=self.activation)
            levels.append(Level(conv, GPool(self.channels, ratio, self.ties, power=self.power)))
        width = len(STATISTICS) * self.channels * len(levels)
        head = MLPHead((width,), info.num_classes, hidden=self.hidden, dropout=self.dropout)
        return PoolNet(spec, levels, head, statistics=STATISTICS, add=False)
