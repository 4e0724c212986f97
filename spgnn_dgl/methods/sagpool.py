"""SAGPool."""

from __future__ import annotations

from typing import Any, ClassVar

from torch import nn

from spgnn_dgl.data.features import InputSpec
from spgnn_dgl.data.store import DatasetInfo
from spgnn_dgl.errors import OptionError
from spgnn_dgl.methods.base import METHODS, GNNMethod
from spgnn_dgl.nn.conv.base import stack
from spgnn_dgl.nn.conv.gcn import GCNConv
from spgnn_dgl.nn.graphnet import GraphNet
from spgnn_dgl.nn.head import Dropout
from spgnn_dgl.nn.inputs import Projection
from spgnn_dgl.nn.pool.base import check_pooling
from spgnn_dgl.nn.pool.sagpool import SAGPool
from spgnn_dgl.nn.poolnet import Level, PoolNet
from spgnn_dgl.nn.readout.pooled import SAGPoolReadout
from spgnn_dgl.registry import did_you_mean

VARIANTS = ("hierarchical", "global")


@METHODS.register("sagpool")
class SAGPoolMethod(GNNMethod):
    """Self-Attention Graph Pooling: a graph convolution scores the nodes, the best stay.

    Lee, Lee, Kang: *Self-Attention Graph Pooling*, ICML 2019.

    Three GCN layers of 128 channels, the mean and the maximum of the nodes, an MLP with 128 and 64 hidden units;
    learning rate, weight decay and batch size as in the authors' code.

    Parameters
    ----------
    variant
        ``"hierarchical"``: every layer is pooled and read, the readouts are added. ``"global"``: the layers are
        concatenated and pooled once. (The SPGNN paper's row mixes them: NCI1 is global, D&D and PROTEINS are
        hierarchical.)
    layers, channels
        Convolutions, and the channels of each.
    ratio
        Share of the nodes that a pooling keeps.
    ties
        ``"keep"``: where the last node kept has equals, they stay too, so that predictions do not depend on the
        numbering of the nodes. ``"cut"``: exactly the share, as in the original.
    dropout
        In the MLP.
    """

    reference = "Lee, Lee, Kang, ICML 2019"
    training_defaults: ClassVar[dict[str, Any]] = {"lr": 5e-4, "weight_decay": 1e-4, "batch_size": 128}

    def __init__(
        self,
        *,
        variant: str = "hierarchical",
        layers: int = 3,
        channels: int = 128,
        ratio: float = 0.5,
        ties: str = "keep",
        dropout: float = 0.5,
        **training: Any,
    ):
        super().__init__(**training)
        if variant not in VARIANTS:
            raise OptionError(
                f"variant={variant!r} was given.{did_you_mean(str(variant), VARIANTS)} Known: {', '.join(VARIANTS)}."
            )
        if layers < 1 or channels < 2:
            raise OptionError(f"layers={layers}, channels={channels} was given; at least 1 and 2 are needed.")
        check_pooling(ratio, ties)
        self.variant, self.layers, self.channels = variant, layers, channels
        self.ratio, self.ties, self.dropout = ratio, ties, dropout

    def build(self, info: DatasetInfo, spec: InputSpec) -> nn.Module:
        dims = [self.channels] * self.layers
        convs = stack(GCNConv, spec, dims)
        if self.variant == "global":
            readout = SAGPoolReadout(dims, self.ratio, self.ties)
            return GraphNet(convs, readout, self._head(readout.out_shape[0], info.num_classes), spec)
        levels = [Level(conv, SAGPool(conv.out_dim, self.ratio, self.ties)) for conv in convs]
        return PoolNet(spec, levels, self._head(2 * self.channels, info.num_classes))

    def _head(self, dim: int, num_classes: int) -> nn.Module:
        """Linear · ReLU · dropout · Linear · ReLU · Linear, each half as wide as the one before."""
        return nn.Sequential(
            Projection(dim, self.channels),
            nn.ReLU(),
            Dropout(self.dropout),
            Projection(self.channels, self.channels // 2),
            nn.ReLU(),
            Projection(self.channels // 2, num_classes),
        )
