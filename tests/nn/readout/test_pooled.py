"""SAGPool's global readout by hand."""

from __future__ import annotations

import torch

from spgnn_dgl.nn.readout import SAGPoolReadout
from tests.conftest import random_dataset


def test_mean_and_maximum_of_the_kept_nodes():
    torch.manual_seed(0)
    data = random_dataset(9)
    graph = data.batch(range(len(data)))
    layers = [torch.randn(graph.num_nodes(), d) for d in (4, 3)]
    readout = SAGPoolReadout([4, 3], 0.5)
    Z = torch.cat(layers, dim=1)
    score = readout.pool.score(graph, Z).squeeze(1)
    keep = readout.pool.kept(graph, Z, score)
    expected, start = [], 0
    for n in graph.batch_num_nodes().tolist():
        mine = slice(start, start + n)
        rows = (Z[mine] * torch.tanh(score[mine])[:, None])[keep[mine]]
        expected.append(torch.cat([rows.mean(0), rows.amax(0)]))
        start += n
    got = readout(graph, layers)
    assert got.shape[1:] == readout.out_shape
    torch.testing.assert_close(got, torch.stack(expected))
