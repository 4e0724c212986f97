from __future__ import annotations

import logging

import networkx as nx
import numpy as np
import pytest

from spgnn_dgl.bench.kernels import grakel_graphs
from spgnn_dgl.data.readers.graphs import as_dataset
from spgnn_dgl.data.store import GraphDataset
from spgnn_dgl.errors import BudgetExceeded, OptionError
from spgnn_dgl.methods import make_method
from spgnn_dgl.methods.budget import Deadline
from tests.conftest import random_dataset
from tests.data.substructures.test_walks import product_sum

NO_LIMIT = Deadline(None, "test")


@pytest.mark.parametrize("kind", ["labels", "constant"])
def test_the_matrix_is_normalised(kind: str) -> None:
    data = random_dataset(6, 2, max_nodes=6, num_labels=2)
    method = make_method("rw")
    method.labels_ = kind
    raw = np.array([[product_sum(data, i, j, 0.01, kind == "labels") for j in range(6)] for i in range(6)])
    scale = np.sqrt(np.diag(raw))
    (kernel,) = method.kernels(data, data, (0.01,), NO_LIMIT)
    np.testing.assert_allclose(kernel, raw / np.outer(scale, scale), rtol=1e-6)
    (block,) = method.kernels(data[:2], data[2:], (0.01,), NO_LIMIT)
    np.testing.assert_allclose(block, kernel[:2, 2:], rtol=1e-6)


def test_equals_grakel_but_for_pairs_of_different_labels(real_dataset) -> None:
    grakel = pytest.importorskip("grakel.kernels.random_walk")
    data = real_dataset("MUTAG")[:20]
    theirs = grakel.RandomWalkLabeled(lamda=0.01, normalize=False).fit_transform(grakel_graphs(data))
    labels = [np.bincount(data[i][0].ndata["label"].numpy(), minlength=data.num_node_labels) for i in range(len(data))]
    equal = np.array([[np.dot(x, y) for y in labels] for x in labels])
    sums = theirs - (np.multiply.outer(data.node_counts, data.node_counts) - equal)
    method = make_method("rw")
    method.labels_ = "labels"
    (kernel,) = method.kernels(data, data, (0.01,), NO_LIMIT)
    scale = np.sqrt(np.diag(sums))
    np.testing.assert_allclose(kernel, sums / np.outer(scale, scale), rtol=1e-4)  # GraKeL stops at a residual of 1e-6


def test_a_decay_whose_sum_does_not_exist_is_left_out_or_refused(caplog: pytest.LogCaptureFixture) -> None:
    data = as_dataset([nx.complete_graph(8), nx.path_graph(4)], [0, 1])  # radius 7: below 1 / 49
    with caplog.at_level(logging.INFO):
        assert make_method("rw").candidates(data, NO_LIMIT) == (1e-2, 1e-3, 1e-4, 1e-5)
    assert "left out" in caplog.text
    with pytest.raises(OptionError, match=r"below 0\.0204"):
        make_method("rw", {"decay": 0.1}).fit(data)
    dense = as_dataset([nx.complete_graph(400), nx.path_graph(4)], [0, 1])  # beyond all five
    (only,) = make_method("rw").candidates(dense, NO_LIMIT)
    assert only == pytest.approx(0.9 / 399**2, rel=1e-2)


def test_a_new_graph_whose_sum_does_not_exist_is_worth_nothing(caplog: pytest.LogCaptureFixture) -> None:
    train = as_dataset([nx.path_graph(n) for n in (2, 3, 4, 5)], [0, 0, 1, 1])
    method = make_method("rw", {"decay": 0.1, "C": 1.0}).fit(train)
    new = as_dataset([nx.complete_graph(9), nx.empty_graph(1)], [0, 1])
    with caplog.at_level(logging.WARNING):
        dense, edgeless = method.predict_proba(new)
    assert "does not exist for 1 graphs" in caplog.text
    assert np.isfinite(dense).all()
    assert np.isfinite(edgeless).all()
    (block,) = method.kernels(new, train, (0.1,), NO_LIMIT)
    assert not block[0].any()
    assert block[1].all()


def test_without_labels_walks_are_unlabelled(tiny: GraphDataset) -> None:
    assert make_method("rw").label_kind(tiny) == "labels"
    assert make_method("rw").label_kind(as_dataset([nx.path_graph(2)], [0])) == "constant"


def test_the_budget_ends_it() -> None:
    with pytest.raises(BudgetExceeded, match="rw kernel"):
        make_method("rw", {"budget": 0.01}).fit(random_dataset(300))
