"""Cat-Agg against the paper's equations, written as plain loops."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
import torch

from spgnn_dgl._dgl import dgl
from spgnn_dgl.data.features import FeaturePolicy, InputSpec
from spgnn_dgl.errors import OptionError, UnknownNameError
from spgnn_dgl.nn.conv.catagg import CatAggConv
from spgnn_dgl.nn.inputs import NodeInput
from spgnn_dgl.nn.propagation import node_message_view
from tests.conftest import random_dataset

POOLS = {"sum": np.sum, "mean": np.mean, "max": np.max}


def catagg_by_loop(graph, Z, conv: CatAggConv, pool) -> np.ndarray:
    """Z'_i = relu(Mᵀ concat(Y_i, pool of the in-neighbours' Y)), Y = relu(Z W), node by node."""
    W, bW, M, bM = (
        p.detach().numpy().astype(np.float64) for p in (conv.W.weight, conv.W.bias, conv.M.weight, conv.M.bias)
    )
    Y = np.maximum(Z @ W + bW, 0)
    source, target = (ends.numpy() for ends in graph.edges())
    out = []
    for i in range(graph.num_nodes()):
        neighbours = source[target == i]
        pooled = pool(Y[neighbours], axis=0) if len(neighbours) else np.zeros(Y.shape[1])
        out.append(np.maximum(M.T @ np.concatenate([Y[i], pooled]) + bM, 0))
    return np.array(out)


def conv_and_input(data, pool="sum", in_dim=5, out_dim=7, seed=0):
    torch.manual_seed(seed)
    graph = data.batch(range(len(data)))
    conv = CatAggConv(in_dim, out_dim, pool=pool)
    torch.nn.init.normal_(conv.W.bias)
    torch.nn.init.normal_(conv.M.bias)
    return graph, conv, torch.randn(graph.num_nodes(), in_dim)


@pytest.mark.parametrize("pool", POOLS)
@pytest.mark.parametrize("directed", [False, True])
def test_equations_3_and_4(pool, directed):
    graph, conv, Z = conv_and_input(random_dataset(10, 1, directed=directed), pool)
    assert (graph.in_degrees() == 0).any(), "isolated nodes belong to this test"
    expected = catagg_by_loop(graph, Z.numpy().astype(np.float64), conv, POOLS[pool])
    np.testing.assert_allclose(conv(graph, Z).detach().numpy(), expected, atol=1e-5)


@pytest.mark.parametrize("pool", POOLS)
def test_a_users_reduce_function_agrees_with_the_fused_one(pool):
    def reduce(nodes):
        message = nodes.mailbox["m"]
        pooled = getattr(message, {"sum": "sum", "mean": "mean", "max": "amax"}[pool])(1)
        return {"pooled": pooled}

    graph, fused, Z = conv_and_input(random_dataset(10, 2), pool)
    own = CatAggConv(5, 7, pool=reduce)
    own.load_state_dict(fused.state_dict())
    torch.testing.assert_close(own(graph, Z), fused(graph, Z), atol=1e-6, rtol=0)


@pytest.mark.parametrize("pool", [*POOLS, lambda nodes: {"pooled": nodes.mailbox["m"].sum(1)}])
def test_a_batch_without_edges_pools_to_zero(pool):
    graph = dgl.graph(([], []), num_nodes=4)
    conv = CatAggConv(5, 7, pool=pool)
    Z = torch.randn(4, 5)
    Y = torch.relu(conv.W(Z))
    expected = torch.relu(conv.M(torch.cat([Y, torch.zeros_like(Y)], 1)))
    torch.testing.assert_close(conv(graph, Z), expected)
    conv(graph, Z).sum().backward()
    assert conv.W.weight.grad is not None


def test_the_papers_example_of_two_stars():
    """x_a ≠ x_b = x_c: a star centred at a and one centred at b differ under Cat-Agg, and coincide under a sum."""
    x = {"a": [1.0, 0.0], "b": [0.0, 1.0], "c": [0.0, 1.0]}
    star_a, star_b = nx.Graph([("a", "b"), ("a", "c")]), nx.Graph([("b", "a"), ("b", "c")])
    torch.manual_seed(3)
    conv = CatAggConv(2, 16)
    centres, sums = [], []
    for star, centre in ((star_a, "a"), (star_b, "b")):
        nodes = sorted(star)
        graph = dgl.from_networkx(nx.convert_node_labels_to_integers(star, ordering="sorted"))
        Z = torch.tensor([x[n] for n in nodes])
        centres.append(conv(graph, Z)[nodes.index(centre)])
        sums.append(sum(np.array(x[n]) for n in [centre, *star[centre]]))
    np.testing.assert_array_equal(sums[0], sums[1])
    assert (centres[0] - centres[1]).abs().max() > 1e-3


@pytest.mark.parametrize("num_codes", [9, 1000], ids=["fewer labels than nodes", "more labels than nodes"])
def test_one_hot_input_is_looked_up_with_the_same_result(num_codes):
    graph, spec = random_dataset(8, 3).batch(range(8)), InputSpec(num_codes, 0)
    assert 9 < graph.num_nodes() < 1000
    Z = NodeInput(spec, torch.randint(9, (graph.num_nodes(),)), None)
    conv, dense = CatAggConv(spec, 6), CatAggConv(spec.dim, 6)
    torch.nn.init.normal_(conv.W.weight)
    dense.load_state_dict(conv.state_dict())
    found, expected = conv(graph, Z), dense(graph, Z.matrix())
    torch.testing.assert_close(found, expected)
    weights = torch.randn_like(found)
    for layer, out in ((conv, found), (dense, expected)):
        (out * weights).sum().backward()
        assert layer.W.weight.grad.abs().sum() > 0
    for ours, theirs in zip(conv.parameters(), dense.parameters(), strict=True):
        torch.testing.assert_close(ours.grad, theirs.grad, atol=1e-4, rtol=1e-4)


def test_labels_and_attributes_together():
    data = random_dataset(8, 4, attributes=3)
    policy = FeaturePolicy.fit(data, "labels+attributes")
    graph = policy.encoder(data).batch(np.arange(8))
    Z = NodeInput.of(graph, policy.spec)
    conv, dense = CatAggConv(policy.spec, 6), CatAggConv(policy.spec.dim, 6)
    dense.load_state_dict(conv.state_dict())
    torch.testing.assert_close(conv(graph, Z), dense(graph, Z.matrix()))


@pytest.mark.parametrize("directed", [False, True])
def test_gradients_are_those_of_the_adjacency_matrix(directed):
    """Against autograd through a dense adjacency matrix."""
    graph, conv, Z = conv_and_input(random_dataset(10, 5, directed=directed))
    Z.requires_grad_()
    conv(graph, Z).pow(2).sum().backward()
    ours = [Z.grad.clone(), *[p.grad.clone() for p in conv.parameters()]]
    Z.grad = None
    conv.zero_grad()
    A = torch.zeros(graph.num_nodes(), graph.num_nodes())
    source, target = graph.edges()
    A[target.long(), source.long()] = 1.0
    Y = torch.relu(conv.W(Z))
    torch.relu(conv.M(torch.cat([Y, A @ Y], 1))).pow(2).sum().backward()
    for a, b in zip(ours, [Z.grad, *[p.grad for p in conv.parameters()]]):
        torch.testing.assert_close(a, b, atol=1e-4, rtol=1e-4)


@pytest.mark.parametrize(("directed", "formats"), [(False, {"csc"}), (True, {"csc", "csr"})])
def test_backward_of_an_undirected_batch_builds_no_transposed_graph(directed, formats):
    """DGL makes a second sparse format, CSR, for the reversed graph; it must do so for directed batches only."""
    graph, conv, Z = conv_and_input(random_dataset(10, 6, directed=directed))
    Z.requires_grad_()
    conv(graph, Z).sum().backward()
    assert set(graph.formats()["created"]) | set(node_message_view(graph).formats()["created"]) == formats


def test_adding_an_edge_ends_the_symmetry():
    """A changed copy of an undirected batch must not keep the shortcut of the original."""
    data = random_dataset(6, 7)
    graph, conv, Z = conv_and_input(data)
    changed = dgl.add_edges(graph, [0], [graph.num_nodes() - 1])
    expected = catagg_by_loop(changed, Z.numpy().astype(np.float64), conv, np.sum)
    np.testing.assert_allclose(conv(changed, Z).detach().numpy(), expected, atol=1e-5)


def test_wrong_names_are_answered_with_the_right_ones():
    with pytest.raises(OptionError, match="Did you mean 'mean'"):
        CatAggConv(2, 2, pool="meen")
    with pytest.raises(UnknownNameError, match="Did you mean 'relu'"):
        CatAggConv(2, 2, activation="rellu")
