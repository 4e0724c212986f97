"""Pools that coarsen a batch: a smaller graph and its node representations. One idea per file."""

from spgnn_dgl.nn.pool.base import NodePool, top_nodes
from spgnn_dgl.nn.pool.gpool import GPool
from spgnn_dgl.nn.pool.sagpool import SAGPool

__all__ = ["GPool", "NodePool", "SAGPool", "top_nodes"]
