from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler

from spgnn_dgl.data.readers.graphs import as_dataset
from spgnn_dgl.data.store import GraphDataset
from spgnn_dgl.errors import DatasetError, OptionError
from spgnn_dgl.methods import make_method
from tests.conftest import random_dataset


def plain_features(data: GraphDataset, labels: list[int]) -> np.ndarray:
    rows = []
    for i in range(len(data)):
        own = data[i][0].ndata["label"].tolist()
        rows.append([*(own.count(label) for label in labels), np.log(len(own))])
    return np.array(rows)


@pytest.mark.parametrize("classes", [2, 3])
def test_is_logistic_regression_on_label_counts_and_size(classes: int) -> None:
    data = random_dataset(60, 3, num_classes=classes)
    train, test = data[:40], data[40:]
    method = make_method("fingerprint", {"C": 0.5}).fit(train, watch=test)
    scaler = StandardScaler().fit(plain_features(train, [0, 1, 2, 3]))
    model = LogisticRegression(C=0.5, max_iter=1000)
    model.fit(scaler.transform(plain_features(train, [0, 1, 2, 3])), train.labels)
    expected = model.predict_proba(scaler.transform(plain_features(test, [0, 1, 2, 3])))
    np.testing.assert_allclose(method.predict_proba(test), expected, atol=1e-4)
    np.testing.assert_array_equal(method.watched[0], method.predict_proba(test))


def test_sees_no_edge() -> None:
    graphs = [nx.path_graph(5), nx.complete_graph(5), nx.empty_graph(5), nx.star_graph(7)]
    method = make_method("fingerprint").fit(as_dataset(graphs, [0, 1, 0, 1]))
    one, other, third, larger = method.predict_proba(as_dataset(graphs, [0, 1, 0, 1]))
    np.testing.assert_array_equal(one, other)
    np.testing.assert_array_equal(one, third)
    assert not np.allclose(one, larger)  # without labels the size is all there is


def labelled(*labels: str) -> nx.Graph:
    graph = nx.empty_graph(len(labels))
    nx.set_node_attributes(graph, dict(enumerate(labels)), "label")
    return graph


def test_labels_are_matched_by_value_and_unknown_ones_are_not_counted() -> None:
    train = as_dataset([labelled("b", "b"), labelled("c", "c"), labelled("b"), labelled("c")], [0, 1, 0, 1])
    method = make_method("fingerprint").fit(train)
    other_codes = as_dataset([labelled("a", "a"), labelled("b", "b"), labelled("c", "c")], [0, 0, 1])
    probabilities = method.predict_proba(other_codes)
    np.testing.assert_allclose(probabilities[1:], method.predict_proba(train[:2]))
    assert method.predict(other_codes[1:]).tolist() == [0, 1]
    assert probabilities[0, 0] == pytest.approx(0.5, abs=1e-6)  # neither b nor c
    with pytest.raises(DatasetError, match="have none"):
        method.predict(as_dataset([nx.path_graph(2)], [0]))


def test_state_brings_it_back(tiny: GraphDataset) -> None:
    method, again = make_method("fingerprint").fit(tiny[:8]), make_method("fingerprint")
    again.restore(*method.state())
    np.testing.assert_array_equal(again.predict_proba(tiny), method.predict_proba(tiny))


def test_a_class_that_did_not_occur_has_probability_zero() -> None:
    data = random_dataset(30, num_classes=3)
    method = make_method("fingerprint").fit(data[data.labels != 1])
    probabilities = method.predict_proba(data)
    assert (probabilities[:, 1] == 0).all()
    np.testing.assert_allclose(probabilities.sum(axis=1), 1)


def test_the_penalty_is_positive() -> None:
    with pytest.raises(OptionError, match="C=0"):
        make_method("fingerprint", {"C": 0})
