"""GCN and DGCNN convolutions against dense matrices and PyG."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from spgnn_dgl.data.features import FeaturePolicy
from spgnn_dgl.errors import OptionError
from spgnn_dgl.nn.conv.gcn import GCNConv
from spgnn_dgl.nn.inputs import NodeInput
from tests.conftest import random_dataset


def dense(graph) -> np.ndarray:
    """(N, N) A + I."""
    A = np.eye(graph.num_nodes())
    source, target = graph.edges()
    A[target.numpy(), source.numpy()] += 1
    return A


def conv_graph_input(norm, directed=False, activation="tanh"):
    torch.manual_seed(0)
    data = random_dataset(12, 2, directed=directed)
    graph = data.batch(range(len(data)))
    conv = GCNConv(5, 3, norm=norm, activation=activation)
    torch.nn.init.normal_(conv.bias)
    return conv, graph, torch.randn(graph.num_nodes(), 5)


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("norm", ["symmetric", "random-walk"])
def test_it_is_the_dense_product(norm, directed):
    conv, graph, Z = conv_graph_input(norm, directed)
    A = dense(graph)
    D = A.sum(1)
    P = A / np.sqrt(np.outer(D, D)) if norm == "symmetric" else A / D[:, None]
    W, b = conv.W.weight.detach().numpy(), conv.bias.detach().numpy()
    np.testing.assert_allclose(conv(graph, Z).detach().numpy(), np.tanh(P @ Z.numpy() @ W + b), atol=1e-5)


def test_symmetric_is_pygs_gcn():
    pyg = pytest.importorskip("torch_geometric.nn", reason="torch_geometric is not installed (extra 'bench')")
    conv, graph, Z = conv_graph_input("symmetric", activation="identity")
    theirs = pyg.GCNConv(5, 3)
    theirs.lin.weight.data = conv.W.weight.data.t().contiguous()
    theirs.bias.data = conv.bias.data.clone()
    edges = torch.stack(graph.edges()).long()
    torch.testing.assert_close(conv(graph, Z), theirs(Z, edges), atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("norm", ["symmetric", "random-walk"])
def test_gradient(norm, directed):
    conv, graph, Z = conv_graph_input(norm, directed)
    conv, Z = conv.double(), Z.double().requires_grad_()
    assert torch.autograd.gradcheck(lambda x: conv(graph, x), (Z,))


def test_one_hot_input_is_looked_up():
    data = random_dataset(8)
    policy = FeaturePolicy.fit(data)
    graph = policy.encoder(data).batch(np.arange(len(data)))
    given = NodeInput.of(graph, policy.spec)
    conv = GCNConv(policy.spec, 4)
    torch.testing.assert_close(conv(graph, given), conv(graph, given.matrix()))


def test_an_unknown_norm_is_refused():
    with pytest.raises(OptionError, match="Did you mean 'symmetric'"):
        GCNConv(3, 3, norm="symetric")
