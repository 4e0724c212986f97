"""GAT with sum pooling."""

from __future__ import annotations

from typing import Any

from torch import nn

from spgnn_dgl.data.features import InputSpec
from spgnn_dgl.data.store import DatasetInfo
from spgnn_dgl.errors import OptionError
from spgnn_dgl.methods.base import METHODS, GNNMethod
from spgnn_dgl.nn.conv.base import stack
from spgnn_dgl.nn.conv.gat import GATConv, check_heads
from spgnn_dgl.nn.graphnet import GraphNet
from spgnn_dgl.nn.head import MLPHead
from spgnn_dgl.nn.readout.flat import SumReadout


@METHODS.register("gat")
class GAT(GNNMethod):
    """Graph Attention Network with sum pooling.

    Veličković et al.: *Graph Attention Networks*, ICLR 2018.

    GAT was made for classifying nodes. As in the SPGNN paper, the sum-pooled representations of all layers stand side
    by side and an MLP classifies them.

    Parameters
    ----------
    layers, channels
        Attention layers, and the channels of each, all heads together.
    heads
        Attention heads per layer.
    dropout
        In the MLP.
    """

    reference = "Veličković et al., ICLR 2018"

    def __init__(self, *, layers: int = 4, channels: int = 32, heads: int = 4, dropout: float = 0.5, **training: Any):
        super().__init__(**training)
        if layers < 1 or channels < 1:
            raise OptionError(f"layers={layers}, channels={channels} was given; both must be at least 1.")
        check_heads(channels, heads)
        self.layers, self.channels, self.heads, self.dropout = layers, channels, heads, dropout

    def build(self, info: DatasetInfo, spec: InputSpec) -> nn.Module:
        dims = [self.channels] * self.layers
        convs = stack(GATConv, spec, dims, heads=self.heads)
        readout = SumReadout(dims)
        return GraphNet(convs, readout, MLPHead(readout.out_shape, info.num_classes, dropout=self.dropout), spec)
