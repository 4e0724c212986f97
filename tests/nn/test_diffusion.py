"""DCNN against dense powers of the transition matrix."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from spgnn_dgl.data.features import FeaturePolicy
from spgnn_dgl.errors import OptionError
from spgnn_dgl.nn.diffusion import DiffusionNet, diffused_sums
from spgnn_dgl.nn.inputs import NodeInput
from tests.conftest import random_dataset


def encoded(kind="labels", directed=False):
    data = random_dataset(12, 2, directed=directed, attributes=3)
    policy = FeaturePolicy.fit(data, kind)
    return policy.spec, policy.encoder(data).batch(np.arange(len(data)))


def sums_by_dense_powers(graph, spec, hops) -> np.ndarray:
    """(B, H, F) 1ᵀ P^h X of each graph, with P = D⁻¹A as a matrix."""
    A = np.zeros((graph.num_nodes(),) * 2)
    source, target = (ends.numpy() for ends in graph.edges())
    A[target, source] = 1
    P = A / np.maximum(A.sum(1, keepdims=True), 1)
    X = NodeInput.of(graph, spec).matrix().numpy()
    bounds = np.cumsum(graph.batch_num_nodes().numpy())[:-1]
    spread = [np.linalg.matrix_power(P, h) @ X for h in range(hops)]
    return np.stack([[part.sum(0) for part in np.split(Y, bounds)] for Y in spread], axis=1)


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("kind", ["labels", "attributes", "labels+attributes"])
def test_diffused_sums(kind, directed):
    spec, graph = encoded(kind, directed)
    assert (graph.in_degrees() == 0).any()
    got = diffused_sums(graph, NodeInput.of(graph, spec), 4)
    np.testing.assert_allclose(got.numpy(), sums_by_dense_powers(graph, spec, 4), atol=1e-4)


@pytest.mark.parametrize("pool", ["mean", "sum"])
def test_equation_5(pool):
    torch.manual_seed(0)
    spec, graph = encoded()
    net = DiffusionNet(spec, 2, hops=3, pool=pool)
    torch.nn.init.normal_(net.W)
    S = sums_by_dense_powers(graph, spec, 3)
    if pool == "mean":
        S = S / graph.batch_num_nodes().numpy()[:, None, None]
    Z = np.tanh(net.W.detach().numpy() * S).reshape(len(S), -1)
    expected = Z @ net.out.weight.detach().numpy() + net.out.bias.detach().numpy()
    np.testing.assert_allclose(net(graph).detach().numpy(), expected, atol=1e-4)


def test_a_label_never_seen_is_neutral():
    spec, graph = encoded()
    torch.manual_seed(0)
    net = DiffusionNet(spec, 2)
    graph.ndata["code"] = torch.full_like(graph.ndata["code"], spec.num_codes - 1)
    torch.testing.assert_close(net(graph), net.out.bias.expand(graph.batch_size, 2))


@pytest.mark.parametrize(("options", "message"), [({"hops": 0}, "at least 1"), ({"pool": "max"}, "known: mean, sum")])
def test_wrong_options_are_refused(options, message):
    with pytest.raises(OptionError, match=message):
        DiffusionNet(encoded()[0], 2, **options)
