from __future__ import annotations

import logging
import sys

import networkx as nx
import numpy as np
import pytest

from spgnn_dgl.data.readers.graphs import as_dataset
from spgnn_dgl.data.store import GraphDataset
from spgnn_dgl.errors import BudgetExceeded, DatasetError, MissingExtraError, OptionError
from spgnn_dgl.methods import make_method
from spgnn_dgl.methods.budget import Deadline
from spgnn_dgl.methods.kernels import rw
from tests.conftest import random_dataset

NO_LIMIT = Deadline(None, "test")


def walks(data: GraphDataset, i: int, j: int, decay: float, labelled: bool) -> float:
    """1ᵀ (I - λ A×)⁻¹ 1 with the direct product written out node by node."""
    (one, _), (other, _) = data[i], data[j]
    nodes = [
        (u, v)
        for u in range(one.num_nodes())
        for v in range(other.num_nodes())
        if not labelled or one.ndata["label"][u] == other.ndata["label"][v]
    ]
    edges = [set(zip(*(ends.tolist() for ends in graph.edges()))) for graph in (one, other)]
    product = np.array([[(a, c) in edges[0] and (b, d) in edges[1] for c, d in nodes] for a, b in nodes], dtype=float)
    apart = one.num_nodes() * other.num_nodes() - len(nodes)  # GraKeL counts these pairs as walks of length 0
    return (np.linalg.solve(np.eye(len(nodes)) - decay * product, np.ones(len(nodes))).sum() if nodes else 0) + apart


@pytest.mark.parametrize("labelled", [True, False])
def test_counts_common_walks(labelled: bool) -> None:
    pytest.importorskip("grakel")
    data = random_dataset(6, 2, max_nodes=6, num_labels=2)
    method = make_method("rw")
    method.labels_ = "labels" if labelled else "constant"
    raw = np.array([[walks(data, i, j, 0.01, labelled) for j in range(6)] for i in range(6)])
    scale = np.sqrt(np.diag(raw))
    (kernel,) = method.kernels(data, data, (0.01,), NO_LIMIT)
    np.testing.assert_allclose(kernel, raw / np.outer(scale, scale), rtol=1e-4)
    (block,) = method.kernels(data[:2], data[2:], (0.01,), NO_LIMIT)
    np.testing.assert_allclose(block, kernel[:2, 2:], rtol=1e-5)


def test_a_decay_whose_sum_does_not_exist_is_left_out_or_refused(caplog: pytest.LogCaptureFixture) -> None:
    pytest.importorskip("grakel")
    data = as_dataset([nx.complete_graph(8), nx.path_graph(4)], [0, 1])  # radius 7: below 1 / 49
    with caplog.at_level(logging.INFO):
        assert make_method("rw").candidates(data, NO_LIMIT) == (1e-2, 1e-3, 1e-4, 1e-5)
    assert "left out" in caplog.text
    with pytest.raises(OptionError, match=r"below 0\.0204"):
        make_method("rw", {"decay": 0.1}).fit(data)
    dense = as_dataset([nx.complete_graph(400), nx.path_graph(4)], [0, 1])  # beyond all five
    (only,) = make_method("rw").candidates(dense, NO_LIMIT)
    assert only == pytest.approx(0.9 / 399**2, rel=1e-2)


def test_radii_are_those_of_networkx() -> None:
    graphs = [nx.gnp_random_graph(n, p, seed=n) for n, p in ((1, 0), (5, 0.5), (250, 0.05))]
    ours = rw._spectral_radii(as_dataset(graphs, [0, 1, 0]), NO_LIMIT)
    expected = [max(np.abs(nx.adjacency_spectrum(graph))) for graph in graphs]
    np.testing.assert_allclose(ours, expected, atol=1e-6)


def test_a_new_graph_whose_sum_does_not_exist_is_worth_nothing(caplog: pytest.LogCaptureFixture) -> None:
    pytest.importorskip("grakel")
    train = as_dataset([nx.path_graph(n) for n in (2, 3, 4, 5)], [0, 0, 1, 1])
    method = make_method("rw", {"decay": 0.1, "C": 1.0}).fit(train)
    with caplog.at_level(logging.WARNING):
        dense, edgeless = method.predict_proba(as_dataset([nx.complete_graph(9), nx.empty_graph(1)], [0, 1]))
    assert "does not exist for 1 graphs" in caplog.text
    assert np.isfinite(dense).all()
    assert np.isfinite(edgeless).all()


def test_without_labels_walks_are_unlabelled(tiny: GraphDataset) -> None:
    assert make_method("rw").label_kind(tiny) == "labels"
    assert make_method("rw").label_kind(as_dataset([nx.path_graph(2)], [0])) == "constant"


def test_the_budget_ends_it_between_pairs() -> None:
    pytest.importorskip("grakel")
    with pytest.raises(BudgetExceeded, match="rw kernel"):
        make_method("rw", {"budget": 0.2}).fit(random_dataset(300))


def test_dense_matrices_beyond_the_memory_are_refused(tiny: GraphDataset, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("grakel")
    monkeypatch.setattr(rw, "physical_memory", lambda: 1000.0)
    with pytest.raises(DatasetError, match="features='constant'"):
        make_method("rw").fit(tiny)


def test_a_missing_package_is_told_with_the_command(tiny: GraphDataset, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "grakel", None)
    monkeypatch.setitem(sys.modules, "grakel.kernels", None)
    with pytest.raises(MissingExtraError, match=r"spgnn_dgl\[kernels\]"):
        make_method("rw").fit(tiny)
