"""Graphs made out of a batch, against dense matrices and DGL's own operations."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
import torch

from spgnn_dgl._dgl import dgl
from spgnn_dgl.data.readers.graphs import as_dataset
from spgnn_dgl.data.store import symmetric_lists
from spgnn_dgl.nn.structure import induced_subgraph, neighbour_lists, two_hop_subgraph, with_self_loops
from tests.conftest import random_dataset


def matrix(graph) -> np.ndarray:
    """(N, N) number of edges j → i at [i, j]."""
    A = np.zeros((graph.num_nodes(),) * 2, dtype=int)
    source, target = graph.edges()
    np.add.at(A, (target.numpy(), source.numpy()), 1)
    return A


def batch(directed=False, seed=3):
    data = random_dataset(15, seed, directed=directed)
    return data.batch(range(len(data)))


def some_nodes(graph, share=0.5, seed=0):
    return torch.from_numpy(np.random.default_rng(seed).random(graph.num_nodes()) < share)


def sizes_by_loop(graph, keep):
    return [int(part.sum()) for part in torch.split(keep, graph.batch_num_nodes().tolist())]


@pytest.mark.parametrize("directed", [False, True])
def test_self_loops_are_added_once_to_every_node(directed):
    graph = batch(directed)
    looped = with_self_loops(graph)
    np.testing.assert_array_equal(matrix(looped), matrix(graph) + np.eye(graph.num_nodes(), dtype=int))
    assert torch.equal(looped.batch_num_nodes(), graph.batch_num_nodes())
    assert int(looped.batch_num_edges().sum()) == looped.num_edges()
    assert with_self_loops(graph) is looped


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("share", [0.0, 0.5, 1.0])
def test_an_induced_subgraph_is_the_submatrix(directed, share):
    graph = batch(directed)
    keep = some_nodes(graph, share)
    smaller = induced_subgraph(graph, keep)
    np.testing.assert_array_equal(matrix(smaller), matrix(graph)[keep][:, keep])
    reference = dgl.node_subgraph(graph, keep.nonzero().squeeze(1).int())
    assert sorted(zip(*map(torch.Tensor.tolist, smaller.edges()))) == sorted(
        zip(*map(torch.Tensor.tolist, reference.edges()))
    )
    assert smaller.batch_num_nodes().tolist() == sizes_by_loop(graph, keep)
    graphs = dgl.unbatch(smaller)  # the edges are counted graph by graph, or this would fail or mix them
    assert [g.num_edges() for g in graphs] == smaller.batch_num_edges().tolist()


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("share", [0.0, 0.5, 1.0])
def test_a_two_hop_subgraph_joins_what_is_at_most_two_hops_apart(directed, share):
    graph = batch(directed)
    keep = some_nodes(graph, share)
    reach = matrix(graph) + np.eye(graph.num_nodes(), dtype=int)
    expected = (reach @ reach > 0).astype(int)
    np.fill_diagonal(expected, 0)
    pooled = two_hop_subgraph(graph, keep)
    np.testing.assert_array_equal(matrix(pooled), expected[keep][:, keep])
    assert pooled.batch_num_nodes().tolist() == sizes_by_loop(graph, keep)
    assert int(pooled.batch_num_edges().sum()) == pooled.num_edges()


@pytest.mark.parametrize("directed", [False, True])
def test_two_hops_in_ego_networks_and_others_mixed(directed):
    """A graph with a node that is joined to all others takes a short cut; an arrow to all is not enough."""
    graphs = [nx.star_graph(5), nx.path_graph(6), nx.complete_graph(4), nx.empty_graph(1), nx.wheel_graph(6)]
    graph = as_dataset(graphs, range(5)).batch([0, 1, 2, 3, 4])
    if directed:
        arrows = [
            torch.tensor([(a, b) for a, b in g.edges() if a < b], dtype=torch.int64).view(-1, 2).t() for g in graphs
        ]
        graph = dgl.batch([dgl.graph((*ends,), num_nodes=len(g)) for ends, g in zip(arrows, graphs)])
    for seed in range(5):
        keep = some_nodes(graph, 0.7, seed)
        reach = matrix(graph) + np.eye(graph.num_nodes(), dtype=int)
        expected = (reach @ reach > 0) & ~np.eye(graph.num_nodes(), dtype=bool)
        np.testing.assert_array_equal(matrix(two_hop_subgraph(graph, keep)), expected[keep][:, keep])


@pytest.mark.parametrize("make", [induced_subgraph, two_hop_subgraph])
def test_a_subgraph_is_undirected_where_the_graph_is(make):
    for directed in (False, True):
        graph = batch(directed)
        assert (symmetric_lists(make(graph, some_nodes(graph))) is None) == directed


def test_subgraphs_of_subgraphs():
    graph = batch()
    first = some_nodes(graph, 0.7)
    once = induced_subgraph(graph, first)
    second = some_nodes(once, 0.6, seed=1)
    both = first.clone()
    both[first] = second
    np.testing.assert_array_equal(matrix(induced_subgraph(once, second)), matrix(induced_subgraph(graph, both)))


def test_any_dgl_graph_has_neighbour_lists():
    """Of 64-bit numbers and in COO too, as a user would make it."""
    graph = dgl.graph(([2, 0, 1], [0, 1, 0]), num_nodes=4)
    indptr, neighbours = neighbour_lists(graph)
    assert (indptr.tolist(), neighbours.dtype) == ([0, 2, 3, 3, 3], torch.int32)
    assert sorted(neighbours[:2].tolist()) == [1, 2]


def test_messages_may_read_edge_data_of_a_batch():
    """DGL's kernels stop at a graph whose edges have no numbers."""
    graph = batch()
    weights = torch.rand(graph.num_edges(), 1, requires_grad=True)
    Z = torch.rand(graph.num_nodes(), 3, requires_grad=True)
    out = dgl.ops.u_mul_e_sum(graph, Z, weights)
    expected = torch.zeros_like(Z)
    for number, (j, i) in enumerate(zip(*map(torch.Tensor.tolist, graph.edges(order="eid")))):
        expected[i] += (Z[j] * weights[number]).detach()
    torch.testing.assert_close(out.detach(), expected)
    out.sum().backward()
    assert weights.grad.abs().sum() > 0
