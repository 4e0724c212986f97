"""Fold files: round trip, the published forms, and one clear error for each way a file can be wrong."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from spgnn_dgl.data import folds as folds_module
from spgnn_dgl.data.fold_files import load_folds
from spgnn_dgl.data.folds import Fold, Folds, stratified_folds
from spgnn_dgl.errors import DatasetError, DatasetNotFoundError


def write(folder: Path, content: object) -> Path:
    path = folder / "folds.json"
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    return path


def test_round_trip(tmp_path, tiny):
    folds = stratified_folds(tiny.labels, 3, seed=4).of(tiny)
    folds.save(tmp_path / "folds.json")
    again = load_folds(tmp_path / "folds.json", len(tiny))
    assert again.same_as(folds)
    assert (again.source, again.dataset, again.fingerprint) == (folds.source, tiny.name, tiny.fingerprint)
    assert [p.name for p in tmp_path.iterdir()] == ["folds.json"]


def test_test_parts_alone_train_on_the_rest(tmp_path):
    path = write(tmp_path, {"test": [[2, 0], [1]], "n_graphs": 4, "source": "published"})
    folds = load_folds(path, 4, allow_missing=True)
    assert [fold.train.tolist() for fold in folds] == [[1, 3], [0, 2, 3]]
    assert folds.never_tested.tolist() == [3]
    assert folds.source == "published"
    with pytest.raises(DatasetError, match="1 of 4 graphs are in no test part, the first is graph 3"):
        load_folds(path, 4)


def test_three_parts_per_fold(tmp_path):
    content = {"train": [[0], [3]], "validation": [[1], [2]], "test": [[2, 3], [0, 1]]}
    folds = load_folds(write(tmp_path, content), 4)
    assert [fold.train.tolist() for fold in folds] == [[0], [3]]
    assert [fold.validation.tolist() for fold in folds] == [[1], [2]]
    assert folds.to_json()["validation"] == [[1], [2]]


def test_a_list_of_folds_as_errica_et_al_publish_them(tmp_path):
    content = [
        {"test": [3, 2], "model_selection": [{"train": [0], "validation": [1]}]},
        {"test": [0, 1], "model_selection": [{"train": [3], "validation": [2]}]},
    ]
    folds = load_folds(write(tmp_path, content), 4)
    assert [fold.test.tolist() for fold in folds] == [[2, 3], [0, 1]]
    assert [fold.train.tolist() for fold in folds] == [[0], [3]]
    assert [fold.validation.tolist() for fold in folds] == [[1], [2]]


def test_validation_without_train_is_kept_out_of_training(tmp_path):
    folds = load_folds(write(tmp_path, {"validation": [[1], [2]], "test": [[2, 3], [0, 1]]}), 4)
    assert [fold.train.tolist() for fold in folds] == [[0], [3]]


def test_one_fold_may_be_flat_lists(tmp_path):
    folds = load_folds(write(tmp_path, {"train": [0, 1], "validation": [2], "test": [[3]]}), 4, allow_missing=True)
    assert (len(folds), folds[0].train.tolist(), folds[0].test.tolist()) == (1, [0, 1], [3])


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{", "not a JSON file"),
        ([[0], [1]], "a list of folds, but fold 0 has no 'test' beside a 'model_selection'"),
        ([{"test": [0, 1, 2, 3], "model_selection": []}], "fold 0 has no 'test' beside a 'model_selection' of one"),
        ([], "list of positions for each fold"),
        ("3", "has no 'test'"),
        ({"test": []}, "list of positions for each fold"),
        ({"test": [[0], []]}, "test part of fold 1 is empty"),
        ({"test": [[0, "1"], [2, 3]]}, "'1' in the test part of fold 0"),
        ({"test": [[0, True], [2, 3]]}, "True in the test part of fold 0"),
        ({"test": [[0, 1.5], [2, 3]]}, "1.5 in the test part of fold 0"),
        ({"test": [[0, 1], [2, 4]]}, "names graph 4 in fold 1"),
        ({"test": [[-1, 0, 1], [2, 3]]}, "names graph -1 in fold 0"),
        ({"test": [[0, 0, 1], [2, 3]]}, "graph 0 twice"),
        ({"test": [[0, 1], [1, 2, 3]]}, "graph 1 is tested in fold 0 and in fold 1"),
        ({"test": [[0, 1], [2, 3]], "train": [[1, 2, 3], [0, 1]]}, "graph 1 is in train and test of fold 0"),
        (
            {"test": [[0, 1], [2, 3]], "train": [[2], [0]], "validation": [[2], [1]]},
            "graph 2 is in train and validation of fold 0",
        ),
        ({"test": [[0, 1], [2, 3]], "train": [[2, 3]]}, "1 lists in 'train', but 2 in 'test'"),
        ({"test": [[0, 1], [2, 3]], "n_graphs": 188}, "for 188 graphs, but the dataset has 4"),
        ({"test": [[0], [1]]}, "no test part"),
    ],
)
def test_what_a_file_can_get_wrong(tmp_path, content, message):
    path = write(tmp_path, content)
    with pytest.raises(DatasetError, match=message) as caught:
        load_folds(path, 4)
    assert str(path) in str(caught.value)


def test_a_missing_file(tmp_path):
    with pytest.raises(DatasetNotFoundError, match=r"no fold file .*nowhere\.json"):
        load_folds(tmp_path / "nowhere.json", 4)


@pytest.mark.real_data
@pytest.mark.parametrize(("name", "num_graphs", "missing"), [("MUTAG", 188, 8), ("NCI1", 4110, 0), ("PTC", 344, 4)])
def test_folds_published_with_dgcnn(published_folds, name, num_graphs, missing):
    folds = load_folds(published_folds / "dgcnn" / f"{name}.json", num_graphs, allow_missing=True)
    assert len(folds) == 10
    assert len(folds.never_tested) == missing
    assert all(len(fold.train) + len(fold.test) == num_graphs for fold in folds)


@pytest.mark.real_data
@pytest.mark.parametrize(("name", "num_graphs"), [("PROTEINS", 1113), ("REDDIT-MULTI-5K", 4999)])
def test_folds_of_the_fair_comparison(published_folds, name, num_graphs):
    folds = load_folds(published_folds / "errica2020" / f"{name}.json", num_graphs)
    assert len(folds) == 10
    for fold in folds:
        everything = np.concatenate([fold.train, fold.validation, fold.test])
        assert sorted(everything.tolist()) == list(range(num_graphs))


@pytest.mark.real_data
def test_the_scaffold_split_is_one_fold(published_folds):
    folds = load_folds(published_folds / "ogb" / "HIV_molhiv.json", 41127, allow_missing=True)
    assert [len(part) for part in (folds[0].train, folds[0].validation, folds[0].test)] == [32901, 4113, 4113]


@pytest.mark.real_data
def test_a_file_for_another_dataset(published_folds):
    with pytest.raises(DatasetError, match="belongs to another dataset"):
        load_folds(published_folds / "dgcnn" / "MUTAG.json", 344)


def test_of_many_graphs_the_training_parts_are_left_out(tmp_path, monkeypatch):
    made = stratified_folds(np.arange(40) % 2, num_folds=4)
    monkeypatch.setattr(folds_module, "SPELLED_OUT", 39)
    assert "train" not in made.to_json()
    made.save(tmp_path / "folds.json")
    assert load_folds(tmp_path / "folds.json", 40).same_as(made)
    fixed = Folds(40, tuple(Fold(f.train[1:], f.test, f.train[:1]) for f in made))
    assert len(fixed.to_json()["train"]) == 4  # not what is left of the tested ones
    assert not fixed.same_as(made)
