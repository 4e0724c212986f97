"""One final model with a run's chosen settings."""

from __future__ import annotations

import json

import numpy as np
import pytest

from spgnn_dgl.errors import OptionError, RunError
from spgnn_dgl.estimator import GraphClassifier
from spgnn_dgl.fitting import chosen_settings, fit_model
from spgnn_dgl.methods import make_method
from spgnn_dgl.modelfile import load_model
from spgnn_dgl.runs import RunDir
from tests.conftest import random_dataset
from tests.experiments import SMALL, named, quick_run


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    return quick_run(tmp_path_factory.mktemp("runs"), search={"lr": (0.01, 0.001)}, epochs=(1, 2, 3))


def test_a_run_is_followed_in_method_options_and_epoch(finished, tmp_path):
    data = random_dataset(24, max_nodes=14)
    _, header = load_model(fit_model(data, tmp_path / "model", like=finished.path))
    averages = {int(e): a for e, a in finished.results["epochs"]["mean_accuracy"].items()}
    rates = [fold["options"]["lr"] for fold in finished.results["folds"]]
    assert header["method"] == "spgnn"
    assert averages[header["options"]["epochs"]] == max(averages.values())
    assert header["options"]["lr"] == max(sorted(set(rates)), key=rates.count)
    assert {k: header["options"][k] for k in SMALL} == SMALL


def test_the_model_is_that_of_a_training_on_all_graphs(tmp_path):
    data = random_dataset(24)
    path = fit_model(data, tmp_path / "model", options={**SMALL, "epochs": 2}, seed=3)
    expected = make_method("spgnn", {**SMALL, "epochs": 2}).fit(data, seed=3)
    np.testing.assert_array_equal(load_model(path)[0].predict_proba(data), expected.predict_proba(data))
    np.testing.assert_array_equal(GraphClassifier.load(path).predict_proba(data), expected.predict_proba(data))


def test_the_epoch_of_a_fair_run_is_the_median_and_nothing_is_held_out(tmp_path):
    run = quick_run(tmp_path, protocol="fair", epochs=(4,))
    method, options = chosen_settings(RunDir.open(run.path))
    assert method == "spgnn"
    assert options["epochs"] == int(np.median([fold["honest"]["epoch"] for fold in run.results["folds"]]))
    assert "patience" not in options


def test_given_options_win_and_another_method_is_refused(finished, tmp_path):
    data = random_dataset(24)
    _, header = load_model(fit_model(data, tmp_path / "model", like=finished.path, options={"epochs": 1, "lr": 0.5}))
    assert (header["options"]["epochs"], header["options"]["lr"]) == (1, 0.5)
    with pytest.raises(OptionError, match="is a run of 'spgnn'"):
        fit_model(data, tmp_path / "model", like=finished.path, method="gin")
    with pytest.raises(OptionError, match="'kk' is not an option"):
        fit_model(data, tmp_path / "model", options={"kk": 1})


def test_settings_from_another_dataset_are_told(finished, tmp_path, caplog):
    fit_model(named("other"), tmp_path / "model", like=finished.path)
    assert "a run on random0, the data is other" in caplog.text


def test_the_papers_settings_apply_without_a_run(tmp_path):
    _, header = load_model(fit_model(named("DD"), tmp_path / "model", options={**SMALL, "epochs": 1}))
    assert header["options"]["weight_decay"] == 0.05


def test_a_place_that_cannot_be_written_to_is_one_clear_error(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(RunError, match="cannot write"):
        fit_model(random_dataset(24), tmp_path / "file" / "model", options={**SMALL, "epochs": 1})


def test_a_run_without_results_cannot_be_followed(finished, tmp_path):
    run = RunDir.start(tmp_path / "run", {"dataset": "x"})
    run.close()
    with pytest.raises(RunError, match="not finished"):
        fit_model(random_dataset(24), tmp_path / "model", like=tmp_path / "run")
    (tmp_path / "run" / "results.json").write_text(json.dumps({"folds": [], "numbers": {}}))
    with pytest.raises(RunError, match="no finished training"):
        fit_model(random_dataset(24), tmp_path / "model", like=tmp_path / "run")


def test_a_fit_that_was_stopped_goes_on_and_leaves_the_model_alone(tmp_path):
    """The same command ends with the same model; its checkpoint is gone."""
    data, settings = random_dataset(24), {"options": {**SMALL, "epochs": 4}, "seed": 3, "checkpoint_every": 0}

    def stop(record):
        if record.epoch == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fit_model(data, tmp_path / "model", on_epoch=stop, **settings)
    assert [path.name for path in tmp_path.iterdir()] == ["model.checkpoint"]
    with pytest.raises(RunError, match=r"options\.epochs: 4 there, 5 now"):
        fit_model(data, tmp_path / "model", options={**SMALL, "epochs": 5}, seed=3)
    with pytest.raises(RunError, match="  graphs: '"):
        fit_model(random_dataset(24, 1), tmp_path / "model", **settings)
    seen = []
    fit_model(data, tmp_path / "model", on_epoch=lambda record: seen.append(record.epoch), **settings)
    assert seen == [3, 4]
    assert [path.name for path in tmp_path.iterdir()] == ["model"]
    expected = make_method("spgnn", {**SMALL, "epochs": 4}).fit(data, seed=3)
    np.testing.assert_array_equal(load_model(tmp_path / "model")[0].predict_proba(data), expected.predict_proba(data))


def test_a_method_without_epochs_has_nothing_to_go_on_from(tmp_path):
    with pytest.raises(OptionError, match="'majority' trains no network"):
        fit_model(random_dataset(24), tmp_path / "model", method="majority", checkpoint=tmp_path / "c")
