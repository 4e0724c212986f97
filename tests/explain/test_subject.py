"""What is explained: run folders fold by fold, model files, and parts of them."""

from __future__ import annotations

import json
import logging

import numpy as np
import pytest

from spgnn_dgl.errors import DatasetError, DatasetNotFoundError, OptionError, RunError, UnknownNameError
from spgnn_dgl.explain.subject import open_subject
from spgnn_dgl.runs import RunDir
from tests.conftest import random_dataset
from tests.experiments import quick_run
from tests.explained import motif_data, motif_model, motif_subject


@pytest.fixture(scope="module")
def data():
    return random_dataset(24, max_nodes=14)


@pytest.fixture(scope="module")
def run_path(tmp_path_factory, data):
    return quick_run(tmp_path_factory.mktemp("runs"), dataset=data, epochs=(2,)).path


def test_every_graph_of_a_run_is_explained_by_the_model_of_its_fold(run_path, data):
    subject = open_subject(run_path, data)
    assert subject.held_out is True
    assert sorted(subject.graphs.tolist()) == list(range(24))
    recorded = {}
    for record in RunDir.open(run_path).units():
        rows = record["probabilities"]["2"]
        recorded |= {graph: row for graph, row in zip(record["graphs"], rows)}
    for graph, row in zip(subject.graphs, subject.probabilities()):
        np.testing.assert_allclose(row, recorded[graph], atol=1e-6)
    assert len(subject.pooled()) == 24
    assert [len(part.history) for part in subject.parts] == [2, 2, 2]


def test_results_come_in_the_order_of_the_graphs(run_path, data):
    subject = open_subject(run_path, data)
    np.testing.assert_array_equal(subject.explained.labels, subject.labels)
    assert [p.num_nodes for p in subject.pooled()] == data.node_counts[subject.graphs].tolist()
    some = subject.of([20, 3])
    assert sorted(some.graphs.tolist()) == [3, 20]
    rows = dict(zip(subject.graphs.tolist(), subject.probabilities()))
    for graph, row in zip(some.graphs.tolist(), some.probabilities()):
        np.testing.assert_allclose(row, rows[graph], atol=1e-6)


def test_other_data_than_the_runs_is_refused(run_path):
    with pytest.raises(DatasetError, match="is not the data of"):
        open_subject(run_path, random_dataset(24, seed=5, max_nodes=14))


def test_a_run_without_models_says_so(run_path, data, tmp_path):
    copy = tmp_path / "run"
    copy.mkdir()
    for name in ("config.json", "environment.json"):
        (copy / name).write_bytes((run_path / name).read_bytes())
    with pytest.raises(RunError, match="no models"):
        open_subject(copy, data)


def test_an_unfinished_run_is_explained_as_far_as_it_is(run_path, data, tmp_path, caplog):
    import shutil

    copy = tmp_path / "run"
    shutil.copytree(run_path, copy)
    next((copy / "checkpoints").glob("r00-f01-*")).unlink()
    with caplog.at_level(logging.WARNING, logger="spgnn_dgl"):
        subject = open_subject(copy, data)
    assert len(subject.parts) == 2
    assert "2 of 3 folds have a model" in caplog.text


def test_of_several_epochs_the_last_is_taken(run_path, data, tmp_path):
    import shutil

    copy = tmp_path / "run"
    shutil.copytree(run_path, copy)
    (first,) = (copy / "checkpoints").glob("r00-f00-*")
    (other,) = (copy / "checkpoints").glob("r00-f01-*")
    shutil.copy(other, first.with_name("r00-f00-epoch10.safetensors"))
    subject = open_subject(copy, data)
    a, b = (part.method.state()[0] for part in subject.parts[:2])
    assert all((a[name] == b[name]).all() for name in a)


def test_a_model_file_does_not_know_what_it_was_trained_on(tmp_path):
    file = motif_model().save(tmp_path / "m.safetensors")
    subject = open_subject(file)
    assert subject.held_out is None
    assert subject.title == "spgnn on MOTIFS"
    assert len(subject.graphs) == 300
    given = open_subject(file, motif_data())
    np.testing.assert_allclose(given.probabilities()[45:], motif_subject().probabilities(), atol=1e-6)


def test_a_path_without_anything_names_the_commands(tmp_path):
    with pytest.raises(DatasetNotFoundError, match="spgnn train"):
        open_subject(tmp_path / "nothing")
    with pytest.raises(RunError, match="not a run folder"):
        open_subject(tmp_path)


def test_graphs_and_classes_that_are_not_there_are_refused():
    with pytest.raises(OptionError, match="graph 3 was asked for"):
        motif_subject().of([50, 3])
    with pytest.raises(UnknownNameError, match="Known: hubs-apart"):
        motif_subject().of_class("hub")
    assert set(motif_subject().of_class("ring").labels) == {2}


def test_classes_are_matched_by_name(tmp_path):
    file = motif_model().save(tmp_path / "m.safetensors")
    data = motif_data()
    renamed = type(data)(
        data.arrays, type(data.meta)(**{**data.meta.to_json(), "class_names": ("ring", "new", "hubs-apart")})
    )
    labels = open_subject(file, renamed).labels
    assert labels[:6].tolist() == [2, -1, 0, 2, -1, 0]


def test_data_is_found_where_it_was_read_from(run_path, tmp_path, data):
    """A dataset that was given by its path has a name under which nothing is found."""
    from spgnn_dgl.data.saved import save_store

    place = tmp_path / "store"
    save_store(place, data)
    import shutil

    copy = tmp_path / "run"
    shutil.copytree(run_path, copy)
    environment = json.loads((copy / "environment.json").read_text())
    environment["dataset"]["source"] = str(place)
    (copy / "environment.json").write_text(json.dumps(environment))
    assert len(open_subject(copy).graphs) == 24
    with pytest.raises(DatasetNotFoundError, match="random0"):
        open_subject(run_path)
