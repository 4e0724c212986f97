"""Attention against a plain loop and PyG's layer with the same weights."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from spgnn_dgl.data.features import FeaturePolicy
from spgnn_dgl.errors import OptionError
from spgnn_dgl.nn.conv.gat import GATConv
from spgnn_dgl.nn.inputs import NodeInput
from tests.conftest import random_dataset


def conv_graph_input(directed=False, activation="elu", dims=(5, 6)):
    torch.manual_seed(0)
    data = random_dataset(12, 2, directed=directed)
    graph = data.batch(range(len(data)))
    conv = GATConv(*dims, heads=2, activation=activation)
    torch.nn.init.normal_(conv.bias)
    return conv, graph, torch.randn(graph.num_nodes(), dims[0])


def attention_by_loop(conv: GATConv, graph, Z: np.ndarray) -> np.ndarray:
    W, b, a1, a2 = (
        p.detach().numpy().astype(np.float64)
        for p in (conv.W.weight, conv.bias, conv.attend_target, conv.attend_source)
    )
    source, target = (ends.numpy() for ends in graph.edges())
    out = np.zeros((graph.num_nodes(), conv.out_dim))
    width = conv.out_dim // conv.heads
    for head in range(conv.heads):
        columns = slice(head * width, (head + 1) * width)
        Y = Z @ W[:, columns]
        for i in range(graph.num_nodes()):
            around = [*source[target == i], i]
            logits = np.array([a1[head] @ Y[i] + a2[head] @ Y[j] for j in around])
            logits = np.where(logits > 0, logits, 0.2 * logits)
            alpha = np.exp(logits) / np.exp(logits).sum()
            out[i, columns] = alpha @ Y[around]
    out = out + b
    return np.where(out > 0, out, np.exp(np.minimum(out, 0)) - 1)


@pytest.mark.parametrize("directed", [False, True])
def test_equations_1_to_5(directed):
    conv, graph, Z = conv_graph_input(directed)
    assert (graph.in_degrees() == 0).any(), "a node without neighbours attends to itself alone"
    expected = attention_by_loop(conv, graph, Z.numpy().astype(np.float64))
    np.testing.assert_allclose(conv(graph, Z).detach().numpy(), expected, atol=1e-5)


def test_it_is_pygs_gat():
    pyg = pytest.importorskip("torch_geometric.nn", reason="torch_geometric is not installed (extra 'bench')")
    conv, graph, Z = conv_graph_input(activation="identity")
    theirs = pyg.GATConv(5, 3, heads=2)
    theirs.lin.weight.data = conv.W.weight.data.t().contiguous()
    theirs.att_src.data = conv.attend_source.data.unsqueeze(0).clone()
    theirs.att_dst.data = conv.attend_target.data.unsqueeze(0).clone()
    theirs.bias.data = conv.bias.data.clone()
    ours, reference = conv(graph, Z), theirs(Z, torch.stack(graph.edges()).long())
    torch.testing.assert_close(ours, reference, atol=1e-5, rtol=1e-5)
    mine = torch.autograd.grad(ours.square().sum(), (conv.W.weight, conv.attend_source, conv.attend_target))
    other = torch.autograd.grad(reference.square().sum(), (theirs.lin.weight, theirs.att_src, theirs.att_dst))
    for got, expected in zip(mine, (other[0].t(), other[1][0], other[2][0])):
        torch.testing.assert_close(got, expected, atol=1e-4, rtol=1e-4)


def test_gradient_over_a_directed_graph():
    conv, graph, Z = conv_graph_input(directed=True, dims=(3, 4))
    conv, Z = conv.double(), Z.double().requires_grad_()
    assert torch.autograd.gradcheck(lambda x: conv(graph, x), (Z,))


def test_one_hot_input_is_looked_up():
    data = random_dataset(8)
    policy = FeaturePolicy.fit(data)
    graph = policy.encoder(data).batch(np.arange(len(data)))
    given = NodeInput.of(graph, policy.spec)
    conv = GATConv(policy.spec, 8)
    torch.testing.assert_close(conv(graph, given), conv(graph, given.matrix()))


@pytest.mark.parametrize("heads", [0, 5])
def test_heads_must_share_the_channels_evenly(heads):
    with pytest.raises(OptionError, match="multiple of the number of heads"):
        GATConv(3, 32, heads=heads)
