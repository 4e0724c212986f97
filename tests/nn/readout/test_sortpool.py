"""SortPool against a plain sort, and against what DGL's own gets wrong."""

from __future__ import annotations

import numpy as np
import torch

from spgnn_dgl.nn.readout import MaxReadout, MeanReadout, SortPool, SumReadout
from tests.conftest import random_dataset


def test_one_order_serves_all_layers():
    torch.manual_seed(0)
    graph = random_dataset(8, 0).batch(range(8))
    layers = [torch.randn(graph.num_nodes(), d) for d in (3, 2)]
    pool = SortPool((3, 2), k=4)
    out = pool(graph, layers).numpy()
    Z, start = torch.cat(layers, 1).numpy(), 0
    for g, size in enumerate(graph.batch_num_nodes().tolist()):
        rows = sorted(Z[start : start + size], key=lambda row: -row[-1])[:4]
        expected = np.zeros((4, 5))
        expected[: len(rows)] = rows
        np.testing.assert_array_equal(out[g], expected.astype(np.float32))
        start += size
    assert pool.select(graph, layers).nodes.shape == (1, 8, 4)


def test_flat_readouts_reduce_every_layer():
    graph = random_dataset(8, 1).batch(range(8))
    layers = [torch.randn(graph.num_nodes(), d) for d in (3, 2)]
    parts = np.split(torch.cat(layers, 1).numpy(), np.cumsum(graph.batch_num_nodes().numpy())[:-1])
    for readout, plain in ((SumReadout, np.sum), (MeanReadout, np.mean), (MaxReadout, np.max)):
        module = readout((3, 2))
        expected = np.stack([plain(part, axis=0) for part in parts])
        np.testing.assert_allclose(module(graph, layers).numpy(), expected, atol=1e-5)
        assert module.out_shape == (5,)
