"""Node scores against other ways to compute them."""

from __future__ import annotations

import numpy as np
import pytest

from spgnn_dgl.errors import OptionError, UnknownNameError
from spgnn_dgl.explain.explainers import EXPLAINERS
from spgnn_dgl.explain.selection import pooled
from spgnn_dgl.nn.conv import CatAggConv
from tests.explained import motif_data, motif_model


def scores(name, seed=0):
    return EXPLAINERS.get(name)(motif_model().method_, motif_data()[45:50], seed)


def test_there_is_a_score_per_node():
    for name in EXPLAINERS.names():
        assert [len(s) for s in scores(name)] == motif_data()[45:50].node_counts.tolist()


def test_degree_is_that_of_dgl():
    for score, (graph, _) in zip(scores("degree"), motif_data()[45:50]):
        assert score.tolist() == graph.in_degrees().tolist()


def test_pooled_is_the_order_of_the_figure():
    for score, found in zip(scores("pooled"), pooled(motif_model().method_, motif_data()[45:50])):
        assert np.argsort(-score, kind="stable").tolist() == found.order().tolist()


def test_random_is_seeded():
    assert [s.tolist() for s in scores("random")] == [s.tolist() for s in scores("random")]
    assert [s.tolist() for s in scores("random")] != [s.tolist() for s in scores("random", seed=1)]


def test_saliency_is_the_length_of_the_gradient(monkeypatch):
    """By the chain rule on the path where labels are looked up, node by node: (∂s/∂XW) Wᵀ."""
    monkeypatch.setattr(CatAggConv, "_transformed", lambda conv, Z: (conv.sigma(conv.W(Z)), lambda per_node: per_node))
    method, data = motif_model().method_, motif_data()[45:50]
    net, products = method.net, []
    net.eval()
    projection = net.convs[0].W

    def note(module, inputs, output):
        output.retain_grad()
        products.append(output)
        return output.clone()  # σ overwrites what it is given

    hook = projection.register_forward_hook(note)
    try:
        best = net(method.policy.encoder(data).batch(np.arange(5))).max(dim=1).values
        best.sum().backward()
    finally:
        hook.remove()
        net.zero_grad()
    expected = (products[0].grad @ projection.weight.detach().T).norm(dim=1)
    np.testing.assert_allclose(np.concatenate(scores("saliency")), expected, rtol=1e-4, atol=1e-7)


def test_saliency_needs_a_gradient():
    class NoNetwork:
        pass

    with pytest.raises(OptionError, match="leave the explainer 'saliency' out"):
        EXPLAINERS.get("saliency")(NoNetwork(), motif_data(), 0)


def test_a_wrong_name_is_answered_with_the_known_ones():
    with pytest.raises(UnknownNameError, match="Did you mean 'saliency'"):
        EXPLAINERS.get("salience")
