"""DGCNN: its rule for k, its layers, its order of nodes."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from spgnn_dgl.errors import OptionError
from spgnn_dgl.methods import make_method
from spgnn_dgl.methods.dgcnn import original_k
from spgnn_dgl.methods.spgnn import choose_k
from tests.conftest import random_dataset


def test_the_rule_for_k_of_its_paper():
    rng = np.random.default_rng(0)
    for _ in range(20):
        counts = rng.integers(15, 300, rng.integers(1, 60))
        k = original_k(counts)
        assert np.mean(counts > k) >= 0.6
        assert np.mean(counts > k + 1) < 0.6, "the largest such k"
    assert original_k(np.full(10, 4)) == 10


def test_k_is_spgnns_unless_told_otherwise():
    data = random_dataset(20, max_nodes=90)
    for k, expected in (
        ("auto", max(choose_k(data.node_counts))),
        ("original", original_k(data.node_counts)),
        (12, 12),
    ):
        method = make_method("dgcnn", {"epochs": 1, "k": k}).fit(data)
        assert method.net.readout.k == method.fitted_options()["k"] == expected
    assert make_method("dgcnn").search_space(data.info) == {"k": choose_k(data.node_counts)}


def test_architecture_of_its_paper():
    net = make_method("dgcnn", {"epochs": 1}).fit(random_dataset(10)).net
    assert [conv.out_dim for conv in net.convs] == [32, 32, 32, 1]
    assert {conv.norm for conv in net.convs} == {"random-walk"}
    assert net.readout.out_shape == (30, 97)
    assert net.head.hidden.weight.shape[1] == 128


def test_nodes_are_sorted_by_the_last_channel():
    data = random_dataset(10, max_nodes=40)
    method = make_method("dgcnn", {"epochs": 1}).fit(data)
    graph = method.policy.encoder(data).batch(np.arange(len(data)))
    with torch.no_grad():
        Z = torch.cat(method.net.eval().layers(graph), dim=1)
    start = 0
    for selection, n in zip(method.select(data), graph.batch_num_nodes().tolist()):
        nodes = selection.nodes[0]
        kept = nodes[nodes >= 0]
        assert len(kept) == min(n, 30)
        last = Z[start : start + n, -1]
        torch.testing.assert_close(last[kept], last.sort(descending=True).values[: len(kept)])
        start += n


@pytest.mark.parametrize("options", [{"k": "many"}, {"layers": 0}, {"channels": 0}])
def test_wrong_options_are_refused(options):
    with pytest.raises(OptionError, match="was given"):
        make_method("dgcnn", options)
