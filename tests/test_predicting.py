"""Predictions of a model and of an ensemble, graph by graph, and in bounded memory."""

from __future__ import annotations

import csv
import shutil
import tracemalloc

import numpy as np
import pytest

from spgnn_dgl.data.readers.graphs import with_labels
from spgnn_dgl.data.saved import open_store, save_store
from spgnn_dgl.errors import DatasetNotFoundError, ModelFileError, RunError
from spgnn_dgl.estimator import GraphClassifier
from spgnn_dgl.fitting import fit_model
from spgnn_dgl.modelfile import load_model, save_model
from spgnn_dgl.predicting import load_predictor, write_predictions
from tests.conftest import random_dataset
from tests.experiments import SMALL, quick_run

DATA = random_dataset(24, max_nodes=14)
NEW = random_dataset(30, seed=1, max_nodes=25, num_labels=6)


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    return quick_run(tmp_path_factory.mktemp("runs"), dataset=DATA)


def test_the_ensemble_of_a_run_averages_its_folds(finished):
    members = [load_model(path)[0] for path in sorted((finished.path / "checkpoints").iterdir())]
    votes = np.stack([m.predict_proba(NEW) for m in members])
    found = list(load_predictor(finished.path).predict(NEW, chunk=7))
    np.testing.assert_allclose([p.probabilities for p in found], votes.mean(axis=0))
    for i, prediction in enumerate(found):
        said = [int(v[i].argmax()) for v in votes]
        assert prediction.graph == i
        assert prediction.predicted == int(votes.mean(axis=0)[i].argmax())
        assert prediction.disagreement == pytest.approx(np.mean([s != prediction.predicted for s in said]))


def test_unseen_labels_and_odd_sizes_are_told(finished):
    known = set(DATA.meta.node_label_names)
    low, high = DATA.node_counts.min(), DATA.node_counts.max()
    offsets = NEW.arrays.node_offsets
    for i, prediction in enumerate(load_predictor(finished.path).predict(NEW)):
        names = [NEW.meta.node_label_names[c] for c in NEW.arrays.node_labels[offsets[i] : offsets[i + 1]]]
        assert prediction.unseen == pytest.approx(np.mean([name not in known for name in names]))
        count = len(names)
        assert prediction.nodes == count
        assert prediction.size == ("smaller" if count < low else "larger" if count > high else "")


def test_one_model_has_nothing_to_disagree_with(tmp_path):
    path = fit_model(DATA, tmp_path / "model", options={**SMALL, "epochs": 1})
    predictor = load_predictor(path)
    found = list(predictor.predict(NEW))
    assert {p.disagreement for p in found} == {None}
    np.testing.assert_allclose([p.probabilities for p in found], load_model(path)[0].predict_proba(NEW))
    assert predictor.fingerprints == {DATA.fingerprint}


def test_a_model_saved_by_the_estimator(tmp_path):
    classifier = GraphClassifier("spgnn", **SMALL, epochs=1).fit(DATA)
    found = list(load_predictor(classifier.save(tmp_path / "model")).predict(NEW))
    np.testing.assert_allclose([p.probabilities for p in found], classifier.predict_proba(NEW))
    assert {p.size for p in found} == {"", "larger"}


def test_a_kernel_has_no_vocabulary_to_miss(tmp_path):
    path = fit_model(DATA, tmp_path / "model", method="wl")
    assert {p.unseen for p in load_predictor(path).predict(DATA)} == {None}


def test_classes_are_optional_and_compared_by_name(finished, tmp_path):
    predictor = load_predictor(finished.path)
    unlabelled = with_labels(NEW, [None] * len(NEW))
    told = write_predictions(tmp_path / "none.csv", predictor.predict(unlabelled), predictor.class_names)
    assert (told["graphs"], told["known"], told["correct"]) == (30, 0, 0)
    # the same classes, but with other codes
    names = ["class 1" if label == 1 else "class 0" for label in NEW.labels]
    swapped = with_labels(NEW, [{"class 0": "class 0", "class 1": "class 1"}[n] for n in names])
    told = write_predictions(tmp_path / "all.csv", predictor.predict(swapped), predictor.class_names)
    lines = list(csv.DictReader((tmp_path / "all.csv").read_text().splitlines()))
    assert told["correct"] == sum(line["true"] == line["predicted"] for line in lines)
    assert told["known"] == 30
    assert {line["true"] for line in lines} == {"class 0", "class 1"}


def test_the_file_has_a_line_per_graph_with_all_that_was_asked_for(finished, tmp_path):
    predictor = load_predictor(finished.path)
    write_predictions(tmp_path / "p.csv", predictor.predict(NEW), predictor.class_names)
    lines = list(csv.DictReader((tmp_path / "p.csv").read_text().splitlines()))
    assert [int(line["graph"]) for line in lines] == list(range(30))
    head = ["graph", "predicted", "probability", "disagreement", "unseen_labels", "nodes", "size", "true"]
    assert list(lines[0]) == [*head, "p(class 0)", "p(class 1)"]
    for line in lines:
        assert float(line["probability"]) == pytest.approx(float(line[f"p({line['predicted']})"]))


def test_predictions_that_break_off_leave_no_file(finished, tmp_path):
    def broken():
        yield next(load_predictor(finished.path).predict(NEW))
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_predictions(tmp_path / "p.csv", broken(), ("class 0", "class 1"))
    assert list(tmp_path.iterdir()) == []


def test_memory_does_not_grow_with_the_number_of_graphs(tmp_path):
    """Ten times the graphs; what waits for the garbage collector is let pass, a list of all predictions is not."""
    predictor = load_predictor(fit_model(DATA, tmp_path / "model", options={**SMALL, "epochs": 1}))
    peaks = []
    for count in (300, 3000):
        save_store(tmp_path / str(count), random_dataset(count, max_nodes=14))
        data = open_store(tmp_path / str(count))
        write_predictions(tmp_path / "warm.csv", predictor.predict(data[:50], chunk=50), predictor.class_names)
        tracemalloc.start()
        write_predictions(tmp_path / "p.csv", predictor.predict(data, chunk=50), predictor.class_names)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 2 * peaks[0]


def test_what_cannot_be_used_is_one_clear_error(finished, tmp_path):
    with pytest.raises(DatasetNotFoundError, match="no model file"):
        load_predictor(tmp_path / "nowhere")
    save_model(tmp_path / "bare", load_model(next((finished.path / "checkpoints").iterdir()))[0], "spgnn", SMALL, {})
    with pytest.raises(ModelFileError, match=r"GraphClassifier\.save"):
        load_predictor(tmp_path / "bare")
    copy = tmp_path / "copy"
    shutil.copytree(finished.path, copy)
    next((copy / "checkpoints").iterdir()).unlink()
    with pytest.raises(RunError, match="2 of 3 models"):
        load_predictor(copy)
    (copy / "results.json").unlink()
    with pytest.raises(RunError, match="not finished"):
        load_predictor(copy)
