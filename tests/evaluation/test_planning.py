"""Every mistake is answered before anything is written or trained; settings come from where they should."""

from __future__ import annotations

import numpy as np
import pytest

from spgnn_dgl.data.folds import stratified_folds
from spgnn_dgl.errors import DatasetError, DatasetNotFoundError, OptionError, UnknownNameError
from spgnn_dgl.evaluation.planning import prepare
from tests.conftest import random_dataset
from tests.experiments import SMALL, named, quick_config, quick_run


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"method": "spgn"}, UnknownNameError, "Did you mean 'spgnn'"),
        ({"options": {"kk": 3}}, OptionError, "'kk' is not an option"),
        ({"options": {"layers": 0}}, OptionError, "layers=0"),
        ({"options": {"threads": 4}}, OptionError, "--jobs"),
        ({"search": {"lrr": (1, 2)}}, OptionError, "'lrr' is not an option"),
        ({"search": {"lr": ()}}, OptionError, "needs a list"),
        ({"search": {"lr": "0.1"}}, OptionError, "needs a list"),
        ({"search": {"k": (10, 12)}}, OptionError, "both set to 10 and searched"),
        ({"search": {"epochs": (1, 2)}}, OptionError, "cannot be searched"),
        ({"protocol": "pape"}, UnknownNameError, "Did you mean 'paper'"),
        ({"folds": 13}, OptionError, "13 folds were asked for"),
        ({"folds": 1}, OptionError, "at least 2"),
        ({"repeats": 0}, OptionError, "repeats=0"),
        ({"jobs": 0}, OptionError, "jobs=0"),
        ({"backend": "mpi"}, OptionError, "Known: loky, ray, dask"),
        ({"dataset": "NOSUCHSET"}, DatasetNotFoundError, "NOSUCHSET"),
        ({"folds_file": "nowhere.json"}, DatasetNotFoundError, "nowhere.json"),
    ],
)
def test_mistakes_are_answered_before_anything_is_written(tmp_path, changes, error, message):
    with pytest.raises(error, match=message):
        quick_run(tmp_path, **changes)
    assert list(tmp_path.iterdir()) == []


def test_a_fold_file_for_another_dataset_is_refused(tmp_path):
    data, other = random_dataset(24), random_dataset(24, seed=1)
    for folds in (stratified_folds(other.labels, 3).of(other), stratified_folds(np.arange(30) % 2, 3)):
        folds.save(tmp_path / "folds.json")
        with pytest.raises(DatasetError, match=r"another dataset|other data"):
            quick_run(tmp_path / "runs", dataset=data, folds_file=tmp_path / "folds.json")


def test_options_that_no_file_can_hold_are_refused(tmp_path):
    with pytest.raises(OptionError, match="cannot be written to a file"):
        quick_run(tmp_path, options={**SMALL, "activation": "relu", "pool": lambda nodes: None})


def test_the_papers_settings_apply_unless_told_otherwise(tmp_path):
    for changes, expected in (({}, 0.05), ({"preset": False}, None), ({"options": {"weight_decay": 0.1}}, 0.1)):
        config = quick_config(tmp_path, dataset=named("DD"), **changes)
        assert prepare(config).identity["options"].get("weight_decay") == expected


def test_a_budget_reaches_methods_that_have_one_and_is_told_where_not(tmp_path, caplog):
    assert prepare(quick_config(tmp_path, method="wl", budget="2m")).identity["options"]["budget"] == 120.0
    assert "budget" not in prepare(quick_config(tmp_path, budget="2m")).identity["options"]
    assert "has no option 'budget'" in caplog.text
