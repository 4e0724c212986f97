"""Graph convolutions, one file each. Importing this package registers them."""

from spgnn_dgl.nn.conv.base import CONVS, Conv
from spgnn_dgl.nn.conv.catagg import CatAggConv
from spgnn_dgl.nn.conv.gat import GATConv
from spgnn_dgl.nn.conv.gcn import GCNConv
from spgnn_dgl.nn.conv.gin import GINConv

__all__ = ["CONVS", "CatAggConv", "Conv", "GATConv", "GCNConv", "GINConv"]
