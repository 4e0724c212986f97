"""WL-SortPool against Eq. (5), written as plain loops."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from spgnn_dgl.errors import OptionError
from spgnn_dgl.nn.readout import SortPool, WLSortPool
from tests.conftest import random_dataset


def pooled_by_loop(graph, layers, pool: WLSortPool) -> tuple[np.ndarray, np.ndarray]:
    """concat over layers of sort-k(concat(Z, MLP(Z))), graph by graph, for importance without ties."""
    sizes = graph.batch_num_nodes().tolist()
    starts = np.cumsum([0, *sizes[:-1]])
    Z_G = np.zeros((len(sizes), *pool.out_shape), dtype=np.float64)
    nodes = np.full((len(layers), len(sizes), pool.k), -1)
    for layer, (Z, mlp) in enumerate(zip(layers, pool.importance)):
        first, _, last = mlp
        Z = Z.detach().numpy().astype(np.float64)
        hidden = np.maximum(Z @ first.weight.detach().numpy().T + first.bias.detach().numpy(), 0)
        importance = hidden @ last.weight.detach().numpy().T + last.bias.detach().numpy()
        H = np.concatenate([Z, importance], axis=1)
        offset = sum(z.shape[1] + 1 for z in layers[:layer])
        for g, (start, size) in enumerate(zip(starts, sizes)):
            order = start + np.argsort(-importance[start : start + size, 0])[: pool.k]
            nodes[layer, g, : len(order)] = order
            Z_G[g, : len(order), offset : offset + H.shape[1]] = H[order]
    return Z_G, nodes


@pytest.mark.parametrize("dims", [(4, 4, 4), (3, 5, 1)], ids=["equal widths", "different widths"])
@pytest.mark.parametrize("k", [1, 4, 12])
def test_equation_5(dims, k):
    torch.manual_seed(0)
    graph = random_dataset(10, 0).batch(range(10))
    layers = [torch.randn(graph.num_nodes(), d) for d in dims]
    pool = WLSortPool(dims, k, hidden=6)
    for p in pool.parameters():
        torch.nn.init.normal_(p)
    expected, nodes = pooled_by_loop(graph, layers, pool)
    np.testing.assert_allclose(pool(graph, layers).detach().numpy(), expected, atol=1e-5)
    selection = pool.select(graph, layers)
    np.testing.assert_array_equal(selection.nodes.numpy(), nodes)
    assert selection.importance.shape == (len(dims), graph.num_nodes())


def test_padding_comes_last_even_when_every_importance_is_negative():
    data = random_dataset(10, 1)
    graph = data.batch(range(10))
    pool = WLSortPool([3, 3], k=20)
    for mlp in pool.importance:
        torch.nn.init.constant_(mlp[2].bias, -1e3)
    Z_G = pool(graph, [torch.randn(graph.num_nodes(), 3) for _ in range(2)])
    for g, size in enumerate(graph.batch_num_nodes().tolist()):
        assert (Z_G[g, :size, 3] < 0).all()
        assert (Z_G[g, size:] == 0).all()


def test_the_importance_channel_carries_gradient_to_every_mlp():
    torch.manual_seed(0)
    graph = random_dataset(10, 2).batch(range(10))
    pool = WLSortPool([4, 4], k=5)
    pool(graph, [torch.rand(graph.num_nodes(), 4) for _ in range(2)]).pow(2).sum().backward()
    for mlp in pool.importance:
        for p in mlp.parameters():
            assert p.grad is not None
            assert p.grad.abs().sum() > 0


@pytest.mark.parametrize("readout", [lambda k: WLSortPool([3], k), lambda k: SortPool([3], k)])
def test_k_below_one_is_refused(readout):
    with pytest.raises(OptionError, match="k=0"):
        readout(0)
