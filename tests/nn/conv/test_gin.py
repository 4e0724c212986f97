"""GIN's convolution against a plain loop and PyG's layer with the same weights."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import nn

from spgnn_dgl.data.features import FeaturePolicy
from spgnn_dgl.nn.conv.gin import GINConv
from spgnn_dgl.nn.inputs import NodeInput
from tests.conftest import random_dataset


def conv_graph_input(directed=False, batch_norm=False):
    torch.manual_seed(0)
    data = random_dataset(12, 2, directed=directed)
    graph = data.batch(range(len(data)))
    conv = GINConv(5, 4, batch_norm=batch_norm)
    with torch.no_grad():
        conv.epsilon.fill_(0.3)
        conv.bias.normal_()
        conv.second.bias.normal_()
    return conv, graph, torch.randn(graph.num_nodes(), 5)


@pytest.mark.parametrize("directed", [False, True])
def test_equation_2(directed):
    conv, graph, Z = conv_graph_input(directed)
    W1, b1, W2, b2 = (p.detach().numpy() for p in (conv.first.weight, conv.bias, conv.second.weight, conv.second.bias))
    source, target = (ends.numpy() for ends in graph.edges())
    X = Z.numpy()
    expected = []
    for i in range(graph.num_nodes()):
        mixed = 1.3 * X[i] + sum((X[j] for j in source[target == i]), np.zeros(5))
        expected.append(np.maximum(np.maximum(mixed @ W1 + b1, 0) @ W2 + b2, 0))
    np.testing.assert_allclose(conv(graph, Z).detach().numpy(), expected, atol=1e-5)


def test_it_is_pygs_gin_with_the_mlp_of_the_original_code():
    pyg = pytest.importorskip("torch_geometric.nn", reason="torch_geometric is not installed (extra 'bench')")
    conv, graph, Z = conv_graph_input(batch_norm=True)
    mlp = nn.Sequential(nn.Linear(5, 4), nn.BatchNorm1d(4), nn.ReLU(), nn.Linear(4, 4), nn.BatchNorm1d(4), nn.ReLU())
    theirs = pyg.GINConv(mlp, eps=0.3)
    mlp[0].weight.data, mlp[0].bias.data = conv.first.weight.data.t().contiguous(), conv.bias.data.clone()
    mlp[3].weight.data, mlp[3].bias.data = conv.second.weight.data.t().contiguous(), conv.second.bias.data.clone()
    edges = torch.stack(graph.edges()).long()
    torch.testing.assert_close(conv(graph, Z), theirs(Z, edges), atol=1e-5, rtol=1e-5)
    torch.testing.assert_close(conv.eval()(graph, Z), theirs.eval()(Z, edges), atol=1e-5, rtol=1e-5)


def test_epsilon_learns_only_where_it_is_asked_to():
    _, graph, Z = conv_graph_input()
    for learn in (True, False):
        conv = GINConv(5, 4, learn_epsilon=learn)
        conv(graph, Z).sum().backward()
        assert (conv.epsilon.grad is not None and float(conv.epsilon.grad) != 0) == learn


def test_one_hot_input_is_looked_up():
    data = random_dataset(8)
    policy = FeaturePolicy.fit(data)
    graph = policy.encoder(data).batch(np.arange(len(data)))
    given = NodeInput.of(graph, policy.spec)
    conv = GINConv(policy.spec, 4)
    torch.testing.assert_close(conv(graph, given), conv(graph, given.matrix()))
