"""Readouts, one idea per file. Importing this package registers them."""

from spgnn_dgl.nn.readout.base import READOUTS, Readout
from spgnn_dgl.nn.readout.flat import MaxReadout, MeanReadout, SumReadout
from spgnn_dgl.nn.readout.jumping import JumpingReadout
from spgnn_dgl.nn.readout.pooled import SAGPoolReadout
from spgnn_dgl.nn.readout.sortpool import SortPool
from spgnn_dgl.nn.readout.wlsortpool import Selection, WLSortPool

__all__ = [
    "READOUTS",
    "JumpingReadout",
    "MaxReadout",
    "MeanReadout",
    "Readout",
    "SAGPoolReadout",
    "Selection",
    "SortPool",
    "SumReadout",
    "WLSortPool",
]
