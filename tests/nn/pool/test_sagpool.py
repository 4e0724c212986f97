"""SAGPool against PyG's layer with the same weights."""

from __future__ import annotations

import pytest
import torch

from spgnn_dgl.nn.pool import SAGPool
from spgnn_dgl.nn.structure import induced_subgraph
from tests.conftest import random_dataset


def pool_graph_input(ties="cut"):
    torch.manual_seed(0)
    data = random_dataset(15, 4)
    graph = data.batch(range(len(data)))
    pool = SAGPool(5, 0.5, ties)
    torch.nn.init.normal_(pool.score.bias)
    return pool, graph, torch.randn(graph.num_nodes(), 5)


def test_it_is_pygs_sagpooling():
    pyg = pytest.importorskip("torch_geometric.nn", reason="torch_geometric is not installed (extra 'bench')")
    pool, graph, Z = pool_graph_input()
    theirs = pyg.SAGPooling(5, 0.5, GNN=pyg.GCNConv)
    theirs.gnn.lin.weight.data = pool.score.W.weight.data.t().contiguous()
    theirs.gnn.bias.data = pool.score.bias.data.clone()
    theirs.select.weight.data.fill_(1.0)
    batch = torch.repeat_interleave(torch.arange(15), graph.batch_num_nodes())
    x, edges, _, of_graph, perm, _ = theirs(Z, torch.stack(graph.edges()).long(), batch=batch)

    smaller, kept = pool(graph, Z)
    order = perm.argsort()  # PyG orders the kept nodes by score, we leave them as they were
    torch.testing.assert_close(kept, x[order], atol=1e-5, rtol=1e-5)
    assert smaller.batch_num_nodes().tolist() == torch.bincount(of_graph, minlength=15).tolist()
    rank = order.argsort()
    ours = set(zip(*map(torch.Tensor.tolist, smaller.edges())))
    assert ours == set(zip(*rank[edges].tolist()))


def test_the_score_learns_through_the_gate():
    pool, graph, Z = pool_graph_input("keep")
    pool(graph, Z)[1].square().sum().backward()
    assert pool.score.W.weight.grad.abs().sum() > 0


def test_the_gate_is_tanh_of_the_score():
    pool, graph, Z = pool_graph_input()
    score = pool.score(graph, Z).squeeze(1)
    keep = pool.kept(graph, Z, score)
    smaller, kept = pool(graph, Z)
    torch.testing.assert_close(kept, Z[keep] * torch.tanh(score[keep])[:, None])
    assert smaller.num_edges() == induced_subgraph(graph, keep).num_edges()
