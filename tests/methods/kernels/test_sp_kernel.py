from __future__ import annotations

import numpy as np
import pytest

from spgnn_dgl.bench.kernels import grakel_dictionaries
from spgnn_dgl.errors import BudgetExceeded
from spgnn_dgl.methods import make_method
from spgnn_dgl.methods.budget import Deadline
from tests.conftest import random_dataset


@pytest.mark.parametrize(("features", "with_labels"), [("labels", True), ("constant", False)])
def test_equals_grakel(features: str, with_labels: bool) -> None:
    grakel = pytest.importorskip("grakel.kernels.shortest_path")
    data = random_dataset(25, 2, max_nodes=10, num_labels=3)
    data = data[data.edge_counts > 0]  # GraKeL divides by zero where there is no path
    method = make_method("sp")
    method.labels_ = features
    (ours,) = method.kernels(data, data, (None,), Deadline(None, "test"))
    kernel = grakel.ShortestPath(normalize=True, with_labels=with_labels, algorithm_type="dijkstra")
    np.testing.assert_allclose(ours, kernel.fit_transform(grakel_dictionaries(data)), rtol=1e-6)


def test_the_budget_is_looked_at_between_graphs() -> None:
    with pytest.raises(BudgetExceeded):
        make_method("sp", {"budget": 1e-9}).fit(random_dataset(40))
