"""Sums over neighbours against dense matrices."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
import torch

from spgnn_dgl.data.readers.graphs import as_dataset
from spgnn_dgl.data.store import symmetric_lists
from spgnn_dgl.nn.propagation import neighbour_sum
from tests.conftest import random_dataset


def dense(graph) -> np.ndarray:
    """(N, N) number of edges j → i at [i, j]."""
    A = np.zeros((graph.num_nodes(),) * 2)
    source, target = graph.edges()
    np.add.at(A, (target.numpy(), source.numpy()), 1)
    return A


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("directed", [False, True])
def test_neighbours_are_summed_and_so_are_gradients(directed, dtype):
    data = random_dataset(15, 3, directed=directed)
    graph = data.batch(range(len(data)))
    assert (symmetric_lists(graph) is None) == directed
    A, rng = dense(graph), np.random.default_rng(0)
    Y, weights = (rng.normal(size=(graph.num_nodes(), 4)) for _ in range(2))
    given = torch.tensor(Y, dtype=dtype, requires_grad=True)
    summed = neighbour_sum(graph, given)
    np.testing.assert_allclose(summed.detach().numpy(), A @ Y, atol=1e-5)
    summed.backward(torch.tensor(weights, dtype=dtype))
    np.testing.assert_allclose(given.grad.numpy(), A.T @ weights, atol=1e-5)


def test_rows_and_gradients_may_lie_apart_in_memory():
    """Columns of a wider matrix, and the gradient of a plain sum, which is one number for all."""
    graph = random_dataset(5).batch(range(5))
    wide = torch.randn(graph.num_nodes(), 6, requires_grad=True)
    summed = neighbour_sum(graph, wide[:, ::2])
    np.testing.assert_allclose(summed.detach().numpy(), dense(graph) @ wide.detach().numpy()[:, ::2], atol=1e-5)
    summed.sum().backward()
    np.testing.assert_allclose(wide.grad[:, 0].numpy(), dense(graph).sum(0), atol=1e-5)
    assert (wide.grad[:, 1] == 0).all()


def test_no_edges_sum_to_zero():
    graph = as_dataset([nx.empty_graph(3), nx.empty_graph(1)], [0, 1]).batch([0, 1])
    Y = torch.randn(4, 2, requires_grad=True)
    summed = neighbour_sum(graph, Y)
    assert summed.shape == (4, 2)
    assert (summed == 0).all()
    summed.sum().backward()
    assert (Y.grad == 0).all()
