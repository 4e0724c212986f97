"""PoolNet: conv, pool and readout of every level, written out by hand."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import nn

from spgnn_dgl.data.features import FeaturePolicy
from spgnn_dgl.nn.conv.gcn import GCNConv
from spgnn_dgl.nn.inputs import NodeInput
from spgnn_dgl.nn.ops import segment_max, segment_mean, segment_sum
from spgnn_dgl.nn.pool import GPool, SAGPool
from spgnn_dgl.nn.poolnet import Level, PoolNet
from tests.conftest import random_dataset


def encoded(seed=1):
    data = random_dataset(10, seed)
    policy = FeaturePolicy.fit(data)
    return policy.spec, policy.encoder(data).batch(np.arange(len(data)))


@pytest.mark.parametrize("add", [True, False])
def test_levels_by_hand(add):
    torch.manual_seed(0)
    spec, graph = encoded()
    levels = [
        Level(GCNConv(spec, 4)),
        Level(GCNConv(4, 4), SAGPool(4, 0.6)),
        Level(GCNConv(4, 4), GPool(4, 0.6)),
    ]
    net = PoolNet(spec, levels, nn.Identity(), statistics=(segment_mean, segment_max, segment_sum), add=add)
    got = net(graph)

    Z, readouts = NodeInput.of(graph, spec).matrix(), []
    at = graph
    for level in levels:
        Z = level.conv(at, Z)
        if level.pool is not None:
            at, Z = level.pool(at, Z)
        parts = torch.split(Z, at.batch_num_nodes().tolist())
        readouts.append(torch.stack([torch.cat([p.mean(0), p.amax(0), p.sum(0)]) for p in parts]))
    expected = sum(readouts) if add else torch.cat(readouts, dim=1)
    torch.testing.assert_close(got, expected)
    assert at.num_nodes() < graph.num_nodes()
