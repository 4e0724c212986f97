"""gPool against PyG's TopKPooling with the same weights, and A² as a dense product."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from spgnn_dgl._dgl import dgl
from spgnn_dgl.errors import OptionError
from spgnn_dgl.nn.pool import GPool
from tests.conftest import random_dataset


def pool_graph_input():
    torch.manual_seed(0)
    data = random_dataset(15, 4)
    graph = data.batch(range(len(data)))
    return GPool(5, 0.7, "cut"), graph, torch.randn(graph.num_nodes(), 5)


def test_nodes_and_gate_are_those_of_pygs_topkpooling():
    pyg = pytest.importorskip("torch_geometric.nn", reason="torch_geometric is not installed (extra 'bench')")
    pool, graph, Z = pool_graph_input()
    theirs = pyg.TopKPooling(5, 0.7, nonlinearity=torch.sigmoid)
    theirs.select.weight.data = pool.direction.data.unsqueeze(0).clone()
    batch = torch.repeat_interleave(torch.arange(15), graph.batch_num_nodes())
    x, _, _, of_graph, perm, _ = theirs(Z, torch.stack(graph.edges()).long(), batch=batch)
    smaller, kept = pool(graph, Z)
    torch.testing.assert_close(kept, x[perm.argsort()], atol=1e-5, rtol=1e-5)
    assert smaller.batch_num_nodes().tolist() == torch.bincount(of_graph, minlength=15).tolist()


def test_equations_2_and_4_by_dense_matrices():
    pool, graph, Z = pool_graph_input()
    p = pool.direction.detach().numpy().astype(np.float64)
    score = Z.numpy() @ p / np.sqrt(p @ p)
    A = np.eye(graph.num_nodes())
    source, target = (ends.numpy() for ends in graph.edges())
    A[target, source] = 1
    square = (A @ A > 0) & ~np.eye(len(A), dtype=bool)
    kept, start = [], 0
    for n in graph.batch_num_nodes().tolist():
        best = np.argsort(-score[start : start + n])[: int(np.ceil(0.7 * n - 1e-9))]
        kept.extend(sorted(start + best))
        start += n
    smaller, rows = pool(graph, Z)
    expected = Z.numpy()[kept] / (1 + np.exp(-score[kept]))[:, None]
    np.testing.assert_allclose(rows.detach().numpy(), expected, atol=1e-5)
    found = np.zeros((len(kept),) * 2, dtype=bool)
    source, target = (ends.numpy() for ends in smaller.edges())
    found[target, source] = True
    np.testing.assert_array_equal(found, square[np.ix_(kept, kept)])


def test_the_direction_learns_through_the_gate():
    pool, graph, Z = pool_graph_input()
    pool(graph, Z)[1].square().sum().backward()
    assert pool.direction.grad.abs().sum() > 0


def test_the_first_power_is_the_induced_subgraph():
    _, graph, Z = pool_graph_input()
    pool = GPool(5, 0.7, power=1)
    keep = pool.kept(graph, Z, Z @ pool.direction / pool.direction.norm())
    smaller, _ = pool(graph, Z)
    expected = dgl.node_subgraph(graph, keep.nonzero().squeeze(1).int())
    assert smaller.num_edges() == expected.num_edges()
    with pytest.raises(OptionError, match="power=3 was given"):
        GPool(5, power=3)
