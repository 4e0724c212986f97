from __future__ import annotations

import numpy as np

from spgnn_dgl.data.store import GraphDataset
from spgnn_dgl.methods import make_method
from tests.conftest import random_dataset


def test_probabilities_are_the_class_frequencies() -> None:
    data = random_dataset(10, num_classes=3)  # classes 0 1 2 0 1 2 0 1 2 0
    method = make_method("majority").fit(data[[0, 1, 3, 4, 7]], watch=data[:2])
    np.testing.assert_allclose(method.predict_proba(data[:2]), [[0.4, 0.6, 0.0]] * 2)
    np.testing.assert_array_equal(method.watched[0], method.predict_proba(data[:2]))
    assert method.predict(data).tolist() == [1] * 10


def test_state_is_the_frequencies(tiny: GraphDataset) -> None:
    method, again = make_method("majority").fit(tiny), make_method("majority")
    again.restore(*method.state())
    np.testing.assert_array_equal(again.predict_proba(tiny), method.predict_proba(tiny))
    assert again.num_classes == 2
