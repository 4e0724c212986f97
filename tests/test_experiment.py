"""Whole experiments: resumed, refused, searched, killed; and every mistake answered before anything is trained."""

from __future__ import annotations

import errno
import json
import multiprocessing
import os
import random
import sys
import time
from pathlib import Path

import pytest

import spgnn_dgl as sp
from spgnn_dgl import experiment
from spgnn_dgl.errors import (
    MissingExtraError,
    RunError,
    TrainingError,
)
from spgnn_dgl.evaluation import parallel
from spgnn_dgl.evaluation.units import run_unit
from spgnn_dgl.experiment import run
from spgnn_dgl.runs import RunDir
from tests.conftest import random_dataset
from tests.experiments import SMALL, command_line, quick_run

FILES = (
    "config.json", "environment.json", "folds.json", "history.csv", "predictions.csv", "results.json", "report.md",
    "checkpoints", "figures",
)  # fmt: skip


def test_a_run_folder_has_everything_the_design_names(tmp_path):
    result = quick_run(tmp_path, pictures=True)
    assert result.path == tmp_path / "random0" / "spgnn@channels=4,k=10,layers=2" / "paper-seed0"
    assert all((result.path / name).exists() for name in FILES)
    assert result.report.read_text().startswith("# spgnn on random0: paper protocol, seed 0")
    assert [figure.name for figure in result.figures] == ["curves.png", "confusion.png"]
    assert all(figure.stat().st_size > 1000 for figure in result.figures)


def test_the_names_of_the_package_run_an_experiment(tmp_path):
    result = sp.run(sp.RunConfig("MOTIFS", options=SMALL, folds=3, epochs=(1,), out=tmp_path))
    assert result.results["status"] == "complete"


def test_environment_says_what_a_reader_needs_to_repeat_the_run(tmp_path):
    data = random_dataset(24)
    environment = RunDir(quick_run(tmp_path, dataset=data).path).read_json("environment.json")
    assert environment["dataset"]["fingerprint"] == data.fingerprint
    assert {"spgnn_dgl", "torch", "dgl", "numpy", "python"} <= set(environment["versions"])
    assert environment["machine"]["cores"] == os.cpu_count()
    assert environment["command"] == sys.argv


def test_stored_folds_are_those_that_were_tested(tmp_path):
    result = quick_run(tmp_path, repeats=2)
    folds = json.loads((result.path / "folds.json").read_text())
    tests = [folds["test"], *folds["further_repeats"]]
    for record in RunDir(result.path).units():
        assert record["graphs"] == tests[record["repeat"]][record["fold"]]
    again = sp.load_folds(result.path / "folds.json", 24)
    assert [fold.test.tolist() for fold in again] == folds["test"]


# ---- resuming --------------------------------------------------------------------------------------------------------


@pytest.fixture
def counted(monkeypatch) -> list[str]:
    """Names of the units that are really run."""
    names: list[str] = []

    def counting(unit, *args, **how):
        names.append(unit.name)
        return run_unit(unit, *args, **how)

    monkeypatch.setattr(parallel, "run_unit", counting)
    return names


def test_finished_units_are_never_done_again(tmp_path, counted):
    first = quick_run(tmp_path, search={"lr": (0.01, 0.001)})
    assert len(counted) == 3 * 2 + 3
    text = (first.path / "results.json").read_text()
    (first.path / "units" / "final-r00-f01.json").unlink()
    (first.path / "units" / "select-r00-f02-c001.json").unlink()
    counted.clear()
    second = quick_run(tmp_path, search={"lr": (0.01, 0.001)})
    assert counted == ["select-r00-f02-c001", "final-r00-f01"]
    assert (second.path / "results.json").read_text() == text


def test_damaged_results_are_moved_aside_and_nothing_is_trained_again(tmp_path, counted):
    first = quick_run(tmp_path)
    text = (first.path / "results.json").read_text()
    (first.path / "results.json").write_text(text[:100])
    counted.clear()
    quick_run(tmp_path)
    assert counted == []
    assert (first.path / "results.json").read_text() == text
    assert (first.path / "results.json.damaged").read_text() == text[:100]


def test_an_interrupted_run_keeps_what_is_done_and_goes_on(tmp_path, monkeypatch):
    whole = quick_run(tmp_path / "whole")

    def interrupted(unit, *args, **how):
        if unit.fold == 1:
            raise KeyboardInterrupt
        return run_unit(unit, *args, **how)

    with monkeypatch.context() as patch:
        patch.setattr(parallel, "run_unit", interrupted)
        with pytest.raises(KeyboardInterrupt):
            quick_run(tmp_path / "broken")
    resumed = quick_run(tmp_path / "broken")
    assert resumed.results == whole.results


def test_another_configuration_in_the_same_place_is_refused(tmp_path):
    quick_run(tmp_path)
    with pytest.raises(RunError, match=r"(?s)num_folds: 3 there, 4 now.*--force"):
        quick_run(tmp_path, folds=4)
    with pytest.raises(RunError, match="fingerprint"):
        quick_run(tmp_path, dataset=random_dataset(24, max_nodes=13))
    assert quick_run(tmp_path, folds=4, force=True).results["status"] == "complete"
    assert (tmp_path / "random0" / "spgnn@channels=4,k=10,layers=2" / "paper-seed0.before" / "results.json").exists()


def test_another_part_of_the_same_graphs_is_other_data(tmp_path):
    data = random_dataset(60, max_nodes=14)
    quick_run(tmp_path, dataset=data[:24])
    with pytest.raises(RunError, match="fingerprint"):
        quick_run(tmp_path, dataset=data[24:48])


def test_a_full_disk_ends_with_one_error_and_the_run_goes_on_later(tmp_path, monkeypatch):
    whole = quick_run(tmp_path / "whole")
    replace = os.replace

    def full(source, target):
        if str(target).endswith("final-r00-f01.json"):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return replace(source, target)

    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", full)
        with pytest.raises(RunError, match="the disk is full"):
            quick_run(tmp_path / "full")
    assert quick_run(tmp_path / "full").results == whole.results


# ---- the same numbers on every way there -----------------------------------------------------------------------------


def test_the_seed_decides(tmp_path):
    first, other = (quick_run(tmp_path, seed=seed) for seed in (0, 1))
    assert first.results["numbers"] != other.results["numbers"]
    assert {f["seed"] for f in first.results["folds"]}.isdisjoint({f["seed"] for f in other.results["folds"]})


@pytest.mark.slow
def test_killed_at_random_moments_it_ends_as_if_undisturbed(tmp_path):
    """SIGKILL several times, then a last run to the end: the same results.json as a run in peace."""
    arguments = ["train", "MOTIFS", "--folds", "4", "--epochs", "3,6", "--search", "lr=0.01,0.001"]
    arguments += ["-o", *(f"{k}={v}" for k, v in SMALL.items()), "--out", str(tmp_path / "killed")]
    place = Path("MOTIFS") / "spgnn@channels=4,k=10,layers=2,lr=0.01+0.001" / "paper-seed0"
    units = tmp_path / "killed" / place / "units"
    processes = multiprocessing.get_context("forkserver")
    processes.set_forkserver_preload(["spgnn_dgl.experiment", "spgnn_dgl.cli"])  # imports once, not at every start
    rng, left = random.Random(0), []

    def finished() -> int:
        return len(list(units.glob("[!.]*.json")))

    def start() -> multiprocessing.process.BaseProcess:
        process = processes.Process(target=command_line, args=arguments)
        process.start()
        return process

    for _ in range(5):
        before, process = finished(), start()
        while process.is_alive() and finished() == before:
            time.sleep(0.005)  # until it has done one unit more
        time.sleep(rng.uniform(0, 0.3))
        process.kill()
        process.join()
        left.append(12 - finished())
    assert left[0] > left[2] > 0  # each time it was in the middle of its work, and went on
    last = start()
    last.join()
    assert last.exitcode == 0
    config = sp.RunConfig("MOTIFS", options=SMALL, folds=4, epochs=(3, 6), search={"lr": (0.01, 0.001)}, out=tmp_path)
    killed = (tmp_path / "killed" / place / "results.json").read_bytes()
    assert killed == (run(config).path / "results.json").read_bytes()


# ---- searching -------------------------------------------------------------------------------------------------------


def test_search_chooses_on_validation_and_reports_the_choice(tmp_path):
    data = sp.load_dataset("MOTIFS")[:150]  # a tenth of a training part is ten graphs
    result = quick_run(tmp_path, search={"lr": (1e-12, 0.01)}, dataset=data, epochs=(30,))
    chosen = [fold["options"]["lr"] for fold in result.results["folds"]]
    assert chosen == [0.01] * 3  # a network that does not move cannot win
    assert "| 0 | 0 | 100 | 50 | 0.01 |" in result.report.read_text()


def test_fold_files_are_used_and_graphs_that_are_never_tested_are_told(tmp_path):
    tests = [[0, 1, 2, 3], [4, 5, 6, 7]]
    (tmp_path / "folds.json").write_text(json.dumps({"test": tests}))
    result = quick_run(tmp_path / "runs", folds_file=tmp_path / "folds.json", repeats=2)
    assert [record["graphs"] for record in RunDir(result.path).units()] == tests * 2
    assert "16 graphs are in no finished tested part" in result.report.read_text()
    assert RunDir(result.path).config["shared_folds"] is True


# ---- settings --------------------------------------------------------------------------------------------------------


def test_a_method_without_epochs(tmp_path):
    result = quick_run(tmp_path, method="wl", pictures=True)
    assert result.results["difference_points"] == 0
    assert {fold["honest"]["epoch"] for fold in result.results["folds"]} == {0}
    assert [figure.name for figure in result.figures] == ["confusion.png"]


def test_tensorboard_files_hold_the_history(tmp_path):
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    result = quick_run(tmp_path, tensorboard=True)
    events = EventAccumulator(str(result.path / "tensorboard" / "final-r00-f00")).Reload()
    history = next(iter(RunDir(result.path).units()))["history"]
    assert [event.step for event in events.Scalars("loss")] == [1, 2]
    assert [event.value for event in events.Scalars("loss")] == pytest.approx([line["loss"] for line in history])


def test_nothing_of_tensorboard_is_needed_unless_asked_for(tmp_path, monkeypatch):
    for module in ("tensorboard", "torch.utils.tensorboard"):
        monkeypatch.setitem(sys.modules, module, None)  # importing it fails
    assert quick_run(tmp_path).results["status"] == "complete"
    with pytest.raises(MissingExtraError, match=r"spgnn_dgl\[tensorboard\]"):
        quick_run(tmp_path, tensorboard=True)


def test_a_broken_candidate_does_not_stop_the_others(tmp_path, monkeypatch):
    from spgnn_dgl.methods.spgnn import SPGNN

    fit = SPGNN.fit

    def broken(self, *args, **how):
        if self.training.lr == 0.5:
            raise TrainingError("the loss became nan in epoch 1.")
        return fit(self, *args, **how)

    monkeypatch.setattr(SPGNN, "fit", broken)
    result = quick_run(tmp_path, search={"lr": (0.5, 0.01)})
    assert result.results["status"] == "complete"
    assert {fold["options"]["lr"] for fold in result.results["folds"]} == {0.01}


def test_a_large_dataset_is_not_audited_at_every_start(tmp_path, monkeypatch, caplog):
    monkeypatch.setattr(experiment, "AUDITED_NODES", 50)
    monkeypatch.setattr(experiment, "audit", lambda *_, **__: pytest.fail("it was audited"))
    done = quick_run(tmp_path)
    assert "nodes are too many to look for twins at every start" in caplog.text
    assert "`spgnn audit`" in json.loads((done.path / "environment.json").read_text())["dataset"]["remarks"][0]
