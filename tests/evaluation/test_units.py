"""The unit of work: pure, with one thread, and its record and models written whole."""

from __future__ import annotations

import json

import numpy as np
import pytest
import torch

from spgnn_dgl.errors import BudgetExceeded
from spgnn_dgl.evaluation.units import FINAL, SELECT, Unit, one_thread, run_unit, unit_name
from spgnn_dgl.modelfile import load_model
from spgnn_dgl.runs import RunDir
from tests.conftest import random_dataset
from tests.evaluation.records import without_times
from tests.experiments import SMALL, quick_run


def unit(stage=FINAL, **changes):
    settings = {
        "repeat": 0, "fold": 1, "candidate": 0, "method": "spgnn", "options": {**SMALL, "epochs": 2},
        "train": np.arange(12), "validation": None, "test": np.arange(12, 18), "epochs": (1, 2), "seed": 5, **changes,
    }  # fmt: skip
    return Unit(stage, **settings)


def test_a_unit_is_a_pure_function(tmp_path):
    data = random_dataset(18)
    torch.manual_seed(1)
    first = run_unit(unit(), data, tmp_path / "a", checkpoints=False, heartbeat=False)
    torch.manual_seed(2)  # the state of global generators, and graphs of no part in it, change nothing
    torch.rand(3)
    second = run_unit(unit(), random_dataset(18), tmp_path / "b", checkpoints=True, heartbeat=True)
    assert without_times(first) == without_times(second)
    other = run_unit(unit(seed=6), data, tmp_path / "c", checkpoints=False, heartbeat=False)
    assert without_times(other) != without_times(first)


def test_the_record_is_what_was_returned_and_leaves_no_other_file(tmp_path):
    record = run_unit(unit(), random_dataset(18), tmp_path, checkpoints=False, heartbeat=True)
    assert RunDir(tmp_path).unit("final-r00-f01") == json.loads(json.dumps(record))
    assert [p.name for p in tmp_path.rglob("*") if p.is_file()] == ["final-r00-f01.json"]


def test_probabilities_of_the_record_survive_json_to_the_last_bit(tmp_path):
    data = random_dataset(18)
    record = run_unit(unit(), data, tmp_path, checkpoints=True, heartbeat=False)
    method, header = load_model(tmp_path / "checkpoints" / "r00-f01-epoch2.safetensors")
    np.testing.assert_array_equal(
        np.array(record["probabilities"]["2"]), method.predict_proba(data.subset(unit().test))
    )
    assert header["notes"]["class_names"] == ["class 0", "class 1"]


@pytest.mark.parametrize("epochs", [(0,), ()])  # of the paper protocol, and of the fair one
def test_a_transductive_method_sees_the_judged_graphs_under_every_protocol(tmp_path, epochs):
    pytest.importorskip("gensim", reason="needs the extra 'embeddings'")
    options = {"dimensions": 4, "epochs": 2, "transductive": True}
    wanted = unit(method="graph2vec", options=options, validation=np.arange(4), epochs=epochs)
    record = run_unit(wanted, random_dataset(18), tmp_path, checkpoints=False, heartbeat=False)
    assert (record["status"], record["fitted"]["transductive"]) == ("done", True)
    assert np.shape(record["probabilities"]["0"]) == (6, 2)


def test_models_of_all_candidate_epochs_are_kept_until_one_is_chosen(tmp_path):
    data = random_dataset(18)
    record = run_unit(unit(), data, tmp_path, checkpoints=True, heartbeat=False)
    for epoch in (1, 2):
        method, _ = load_model(tmp_path / "checkpoints" / f"r00-f01-epoch{epoch}.safetensors")
        found = method.predict_proba(data.subset(unit().test))
        np.testing.assert_array_equal(np.array(record["probabilities"][str(epoch)]), found)


def test_a_finished_run_keeps_the_model_of_the_reported_epoch(tmp_path):
    run = quick_run(tmp_path)
    epochs = {(f["repeat"], f["fold"]): f["optimistic"]["epoch"] for f in run.results["folds"]}
    expected = {f"r{r:02d}-f{f:02d}-epoch{epoch}.safetensors" for (r, f), epoch in epochs.items()}
    assert {p.name for p in (run.path / "checkpoints").iterdir()} == expected


def test_selection_units_keep_no_models(tmp_path):
    data = random_dataset(18)
    select = unit(SELECT, validation=np.arange(12, 18), test=None)
    run_unit(select, data, tmp_path, checkpoints=True, heartbeat=False)
    assert not (tmp_path / "checkpoints").exists()


def test_the_kept_epoch_of_early_stopping_is_the_judged_one(tmp_path):
    data = random_dataset(18)
    stopped = unit(
        validation=np.arange(9, 12), train=np.arange(9), epochs=(), options={**SMALL, "epochs": 4, "patience": 1}
    )
    record = run_unit(stopped, data, tmp_path, checkpoints=True, heartbeat=False)
    losses = [line["validation_loss"] for line in record["history"]]
    (epoch,) = record["probabilities"]
    assert int(epoch) == 1 + losses.index(min(losses))


def test_a_method_over_its_budget_is_a_timeout_and_no_error(spy, tmp_path):
    spy.raises = BudgetExceeded("the kernel is not done after its budget of 1 seconds.")
    run = quick_run(tmp_path, method="spy", dataset=random_dataset(24))
    assert run.results["status"] == "timeout"
    assert "not done after its budget" in run.report.read_text()


def test_mistakes_of_the_program_are_not_swallowed(spy, tmp_path):
    spy.raises = ZeroDivisionError("a bug")
    with pytest.raises(ZeroDivisionError):
        quick_run(tmp_path, method="spy", dataset=random_dataset(24))


def test_one_thread_inside_and_as_before_outside():
    torch.set_num_threads(2)
    try:
        with one_thread():
            assert torch.get_num_threads() == 1
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(1)


def test_names_sort_in_the_order_of_repeats_and_folds():
    names = [unit_name(FINAL, r, f) for r in range(12) for f in range(12)]
    assert names == sorted(names)
