"""What is learned: convs, readouts, heads, and the pure tensor operations under them."""

from spgnn_dgl.nn.conv import CONVS, CatAggConv, Conv, GATConv, GCNConv, GINConv
from spgnn_dgl.nn.conv.base import stack
from spgnn_dgl.nn.diffusion import DiffusionNet
from spgnn_dgl.nn.graphnet import GraphNet
from spgnn_dgl.nn.head import CNNHead, MLPHead, head_for
from spgnn_dgl.nn.inputs import NodeInput, Projection
from spgnn_dgl.nn.pool import GPool, NodePool, SAGPool
from spgnn_dgl.nn.poolnet import Level, PoolNet
from spgnn_dgl.nn.readout import (
    READOUTS,
    JumpingReadout,
    MaxReadout,
    MeanReadout,
    Readout,
    SAGPoolReadout,
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
    "DiffusionNet",
    "GATConv",
    "GCNConv",
    "GINConv",
    "GPool",
    "GraphNet",
    "JumpingReadout",
    "Level",
    "MLPHead",
    "MaxReadout",
    "MeanReadout",
    "NodeInput",
    "NodePool",
    "PoolNet",
    "Projection",
    "Readout",
    "SAGPool",
    "SAGPoolReadout",
    "Selection",
    "SortPool",
    "SumReadout",
    "WLSortPool",
    "head_for",
    "stack",
]
