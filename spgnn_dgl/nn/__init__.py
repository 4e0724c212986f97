"""What is learned: convs, readouts, heads, and the pure tensor operations under them."""

from spgnn_dgl.nn.conv import CONVS, CatAggConv, Conv, GINConv
from spgnn_dgl.nn.graphnet import GraphNet
from spgnn_dgl.nn.head import CNNHead, MLPHead
from spgnn_dgl.nn.readout import (
    READOUTS,
    MaxReadout,
    MeanReadout,
    Readout,
    Selection,
    SortPool,
    SumReadout,
    WLSortPool,
)

__all__ = [
    "CONVS",
    "READOUTS",
    "CNNHead",
    "CatAggConv",
    "Conv",
    "GINConv",
    "GraphNet",
    "MLPHead",
    "MaxReadout",
    "MeanReadout",
    "Readout",
    "Selection",
    "SortPool",
    "SumReadout",
    "WLSortPool",
]
