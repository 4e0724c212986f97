"""GraphClassifier: scikit-learn's manners, every kind of input, files."""

from __future__ import annotations

import json
import struct

import networkx as nx
import numpy as np
import pytest
from safetensors.numpy import save_file
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score

from spgnn_dgl.errors import DatasetError, DatasetNotFoundError, ModelFileError, OptionError, UnknownNameError
from spgnn_dgl.estimator import GraphClassifier
from tests.conftest import random_dataset

QUICK = {"epochs": 2, "k": 10, "channels": 4, "layers": 2}


@pytest.fixture
def fitted(tiny):
    return GraphClassifier("spgnn", **QUICK).fit(tiny)


def rings_and_stars(count=12):
    graphs = [nx.cycle_graph(5 + i % 4) if i % 2 else nx.star_graph(4 + i % 4) for i in range(count)]
    return graphs, ["ring" if i % 2 else "star" for i in range(count)]


def test_fit_predict_score(tiny, fitted):
    probabilities = fitted.predict_proba(tiny)
    assert probabilities.shape == (12, 2)
    np.testing.assert_allclose(probabilities.sum(1), 1)
    np.testing.assert_array_equal(fitted.predict(tiny), probabilities.argmax(1))
    assert fitted.score(tiny) == np.mean(fitted.predict(tiny) == tiny.labels)
    assert fitted.score(tiny, tiny.labels) == fitted.score(tiny)
    assert fitted.class_names_ == tiny.meta.class_names
    assert len(fitted.history_) == 2


def test_lists_of_networkx_graphs_with_named_classes():
    graphs, y = rings_and_stars()
    classifier = GraphClassifier("spgnn", epochs=40, k=10, lr=0.01).fit(graphs, y)
    assert set(classifier.predict(graphs)) <= {"ring", "star"}
    assert classifier.score(graphs, y) == 1.0


def test_lists_of_dgl_graphs(tiny):
    graphs = [graph for graph, _ in tiny]
    by_list = GraphClassifier("spgnn", **QUICK).fit(graphs, tiny.labels)
    by_dataset = GraphClassifier("spgnn", **QUICK).fit(tiny)
    np.testing.assert_array_equal(by_list.predict_proba(graphs), by_dataset.predict_proba(tiny))


def test_parameters_and_clone():
    classifier = GraphClassifier("spgnn", k=12, lr=0.01, seed=3)
    assert classifier.get_params() == {"method": "spgnn", "seed": 3, "k": 12, "lr": 0.01}
    copy = clone(classifier).set_params(k=15)
    assert copy.get_params()["k"] == 15
    assert classifier.get_params()["k"] == 12
    with pytest.raises(OptionError, match="Did you mean 'lr'"):
        copy.set_params(lrr=1)


def test_cross_val_score_and_grid_search(tiny):
    scores = cross_val_score(GraphClassifier("spgnn", **QUICK), tiny, tiny.labels, cv=3)
    assert scores.shape == (3,)
    search = GridSearchCV(GraphClassifier("spgnn", **QUICK), {"k": [10, 12], "lr": [0.1]}, cv=2).fit(tiny, tiny.labels)
    assert search.best_params_["k"] in (10, 12)
    assert search.predict(tiny).shape == (12,)


def test_wrong_names_are_answered_at_once():
    with pytest.raises(UnknownNameError, match="Did you mean 'spgnn'"):
        GraphClassifier("spgn")
    with pytest.raises(OptionError, match=r"'epoch' is not an option.*Did you mean 'epochs'.*layers=4"):
        GraphClassifier("spgnn", epoch=3)
    with pytest.raises(OptionError, match="k='many'"):
        GraphClassifier("spgnn", k="many").fit(random_dataset())
    with pytest.raises(OptionError, match="k=5 was given, but the CNN head needs k >= 10"):
        GraphClassifier("spgnn", k=5).fit(random_dataset())


def test_what_cannot_be_fitted_is_refused(tiny):
    with pytest.raises(DatasetError, match="every graph has the class 'class 0'; training needs two or more"):
        GraphClassifier("spgnn").fit(tiny.subset(tiny.labels == 0))
    with pytest.raises(NotFittedError):
        GraphClassifier("spgnn").predict(tiny)


def test_select_gives_node_numbers_inside_each_graph(tiny, fitted):
    for (graph, _), selection in zip(tiny, fitted.select(tiny)):
        n = graph.num_nodes()
        assert selection.nodes.shape == (2, 10)
        assert selection.importance.shape == (2, n)
        for layer in selection.nodes.tolist():
            kept = [node for node in layer if node >= 0]
            assert sorted(kept) == list(range(n))[: len(kept)] if n <= 10 else len(set(kept)) == 10


# ---- files ---------------------------------------------------------------------------------------------------------


def test_a_loaded_model_predicts_the_same_bits(tiny, fitted, tmp_path):
    path = fitted.save(tmp_path / "model.safetensors")
    loaded = GraphClassifier.load(path)
    np.testing.assert_array_equal(loaded.predict_proba(tiny), fitted.predict_proba(tiny))
    assert loaded.get_params() == fitted.get_params()
    assert loaded.class_names_ == fitted.class_names_
    assert [p.name for p in tmp_path.iterdir()] == ["model.safetensors"]


def test_a_model_knows_label_values_and_not_codes(tiny, fitted, tmp_path):
    """The same graphs in a dataset that numbers its labels differently get the same predictions."""
    from dataclasses import replace

    from spgnn_dgl.data.store import GraphDataset

    names = tiny.meta.node_label_names
    other = GraphDataset(
        replace(tiny.arrays, node_labels=(len(names) - 1 - tiny.arrays.node_labels).astype(np.int32)),
        replace(tiny.meta, node_label_names=names[::-1]),
    )
    loaded = GraphClassifier.load(fitted.save(tmp_path / "m"))
    np.testing.assert_array_equal(loaded.predict_proba(other), fitted.predict_proba(tiny))


def edit_header(path, change) -> None:
    """Rewrite the JSON header of a model file."""
    raw = path.read_bytes()
    (size,) = struct.unpack("<Q", raw[:8])
    head = json.loads(raw[8 : 8 + size])
    ours = json.loads(head["__metadata__"]["spgnn_dgl"])
    change(ours)
    head["__metadata__"]["spgnn_dgl"] = json.dumps(ours)
    text = json.dumps(head).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + raw[8 + size :])


def test_damaged_foreign_and_newer_files_are_refused(fitted, tmp_path):
    good = fitted.save(tmp_path / "good")
    with pytest.raises(DatasetNotFoundError, match="there is no model file"):
        GraphClassifier.load(tmp_path / "absent")

    (tmp_path / "cut").write_bytes(good.read_bytes()[:-100])
    with pytest.raises(ModelFileError, match="damaged"):
        GraphClassifier.load(tmp_path / "cut")

    (tmp_path / "text").write_text("not a model")
    with pytest.raises(ModelFileError, match="not a safetensors file"):
        GraphClassifier.load(tmp_path / "text")

    save_file({"x": np.zeros(2)}, tmp_path / "foreign")
    with pytest.raises(ModelFileError, match="not a model saved by spgnn_dgl"):
        GraphClassifier.load(tmp_path / "foreign")

    cases = [
        (lambda h: h.update(version=99), "newer spgnn_dgl"),
        (lambda h: h.update(format="x"), "format 'x'"),
        (lambda h: h.pop("state"), "header .* is damaged"),
        (lambda h: h["options"].update(channels=7), "weights do not fit"),
    ]
    for change, message in cases:
        path = fitted.save(tmp_path / "edited")
        edit_header(path, change)
        with pytest.raises(ModelFileError, match=message):
            GraphClassifier.load(path)
