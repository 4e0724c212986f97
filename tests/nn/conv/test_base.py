"""Convs in a row."""

from __future__ import annotations

from spgnn_dgl.data.features import InputSpec
from spgnn_dgl.nn.conv.base import stack
from spgnn_dgl.nn.conv.gcn import GCNConv


def test_each_conv_reads_the_one_before():
    spec = InputSpec(num_codes=4, num_dense=2)
    convs = stack(GCNConv, spec, [8, 3, 1], norm="random-walk")
    assert [tuple(conv.W.weight.shape) for conv in convs] == [(6, 8), (8, 3), (3, 1)]
    assert convs[0].W.spec == spec
    assert {conv.norm for conv in convs} == {"random-walk"}
