"""The whole network: invariance, independence, gradients, and what it can tell apart."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from networkx.generators.atlas import graph_atlas_g
from scipy.spatial.distance import pdist

from spgnn_dgl.data.arrays import DatasetMeta, assemble
from spgnn_dgl.data.features import FeaturePolicy
from spgnn_dgl.data.store import GraphDataset
from spgnn_dgl.errors import OptionError
from spgnn_dgl.methods import make_method
from spgnn_dgl.nn import CatAggConv, GraphNet, MLPHead, SumReadout
from tests.conftest import random_dataset


def spgnn_net(data, k=10, seed=0, **options):
    """An SPGNN with random weights, biases included, in evaluation mode; and the encoder of `data`."""
    method = make_method("spgnn", {"k": k, **options})
    policy = FeaturePolicy.fit(data)
    method.resolved = {"k": k}
    torch.manual_seed(seed)
    net = method.build(data.info, policy.spec).eval()
    for p in net.parameters():
        if p.dim() == 1:
            torch.nn.init.normal_(p, std=0.1)
    return net, policy.encoder(data)


def permuted(data: GraphDataset, seed: int) -> GraphDataset:
    """The same graphs with their nodes in another order."""
    rng = np.random.default_rng(seed)
    source, target, labels, start = [], [], [], 0
    for i in range(len(data)):
        graph, _ = data[i]
        order = rng.permutation(graph.num_nodes())
        u, v = (ends.numpy() for ends in graph.edges())
        source.append(order[u] + start)
        target.append(order[v] + start)
        moved = np.empty(graph.num_nodes(), dtype=np.int64)
        moved[order] = graph.ndata["label"].numpy()
        labels.append(moved)
        start += graph.num_nodes()
    arrays, _ = assemble(
        data.node_counts,
        np.concatenate(source),
        np.concatenate(target),
        labels=data.labels,
        node_labels=np.concatenate(labels),
    )
    return GraphDataset(arrays, data.meta)


@given(st.integers(0, 100_000), st.sampled_from(["as it is", "constant importance", "dead ReLUs"]))
@settings(deadline=None, max_examples=40)
def test_theorem_1_isomorphic_graphs_get_the_same_representation(seed, case):
    data = random_dataset(6, seed, max_nodes=16)
    net, encoder = spgnn_net(data, seed=seed)
    if case == "constant importance":
        for mlp in net.readout.importance:
            torch.nn.init.zeros_(mlp[2].weight)
    if case == "dead ReLUs":
        for conv in net.convs:
            torch.nn.init.constant_(conv.M.bias, -1.0)
    everything = np.arange(6)
    other = encoder.policy.encoder(permuted(data, seed))
    with torch.no_grad():
        graph, moved = encoder.batch(everything), other.batch(everything)
        Z_G = net.readout(graph, net.layers(graph))
        Z_H = net.readout(moved, net.layers(moved))
    torch.testing.assert_close(Z_G, Z_H, atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("directed", [False, True])
def test_a_batch_is_its_graphs_one_by_one_in_any_company(directed):
    data = random_dataset(12, 3, directed=directed)
    net, encoder = spgnn_net(data)
    with torch.no_grad():
        together = net(encoder.batch(np.arange(12)))
        alone = torch.cat([net(encoder.batch(np.array([i]))) for i in range(12)])
        reversed_ = net(encoder.batch(np.arange(12)[::-1])).flip(0)
    torch.testing.assert_close(together, alone, atol=1e-5, rtol=1e-5)
    torch.testing.assert_close(together, reversed_, atol=1e-5, rtol=1e-5)


def test_gradient_reaches_every_parameter():
    data = random_dataset(40, 4, max_nodes=20)
    net, encoder = spgnn_net(data)
    torch.nn.functional.cross_entropy(net(encoder.batch(np.arange(40))), data.batch_labels(np.arange(40))).backward()
    for name, p in net.named_parameters():
        assert p.grad is not None, name
        assert p.grad.abs().sum() > 0, name


def test_select_gives_the_nodes_that_are_pooled():
    data = random_dataset(5, 5)
    net, encoder = spgnn_net(data)
    graph = encoder.batch(np.arange(5))
    with torch.no_grad():
        layers = net.layers(graph)
        Z_G, selection = net.readout(graph, layers), net.select(graph)
    for layer, Z in enumerate(layers):
        for g in range(5):
            for rank, node in enumerate(selection.nodes[layer, g].tolist()):
                row = Z_G[g, rank, layer * 33 : (layer + 1) * 33]
                if node < 0:
                    assert (row == 0).all()
                else:
                    torch.testing.assert_close(row[:32], Z[node])
                    torch.testing.assert_close(row[32], selection.importance[layer, node])


def test_without_a_spec_the_network_reads_dense_features():
    torch.manual_seed(0)
    graph = random_dataset(4, 6).batch(range(4))
    graph.ndata["x"] = torch.randn(graph.num_nodes(), 3)
    readout = SumReadout([5])
    net = GraphNet([CatAggConv(3, 5)], readout, MLPHead(readout.out_shape, 2)).eval()
    expected = net.head(readout(graph, [net.convs[0](graph, graph.ndata["x"])]))
    torch.testing.assert_close(net(graph), expected, rtol=0, atol=0)


def test_a_readout_that_sums_up_selects_nothing():
    net = GraphNet([CatAggConv(3, 5)], SumReadout([5]), MLPHead((5,), 2))
    with pytest.raises(OptionError, match="SumReadout keeps no nodes"):
        net.select(random_dataset(4, 6).batch(range(4)))


def atlas_dataset() -> tuple[GraphDataset, list[nx.Graph]]:
    """All 1 252 graphs with one to seven nodes (the atlas' first graph has none)."""
    graphs = [g for g in graph_atlas_g() if g.number_of_nodes()]
    counts = np.array([g.number_of_nodes() for g in graphs])
    starts = np.concatenate([[0], np.cumsum(counts)[:-1]])
    ends = np.concatenate([np.array(g.edges, dtype=np.int64).reshape(-1, 2) + s for g, s in zip(graphs, starts)])
    arrays, _ = assemble(counts, ends[:, 0], ends[:, 1], labels=np.arange(len(graphs)) % 2)
    return GraphDataset(arrays, DatasetMeta("atlas", class_names=("0", "1"))), graphs


def test_graphs_that_1_wl_tells_apart_get_different_representations():
    """Oracle: networkx's WL hash, coloured by degree and with as many rounds as there are layers."""
    data, graphs = atlas_dataset()
    net, encoder = spgnn_net(data, k=10, seed=1, activation="tanh")
    with torch.no_grad():
        batch = encoder.batch(np.arange(len(data)))
        Z_G = net.readout(batch, net.layers(batch)).flatten(1).double().numpy()
    classes: dict[str, list[int]] = {}
    for i, graph in enumerate(graphs):
        nx.set_node_attributes(graph, dict(graph.degree), "degree")
        colours = nx.weisfeiler_lehman_graph_hash(graph, node_attr="degree", iterations=4)
        classes.setdefault(f"{graph.number_of_nodes()} {colours}", []).append(i)
    assert len(classes) > 1000
    representatives = Z_G[[members[0] for members in classes.values()]]
    assert pdist(representatives, "chebyshev").min() > 1e-5
    for members in classes.values():  # and graphs that 1-WL cannot tell apart coincide
        np.testing.assert_allclose(Z_G[members], np.repeat(Z_G[members[:1]], len(members), 0), atol=1e-5)
