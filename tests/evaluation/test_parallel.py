"""Units over processes: the results are those of one process, wherever a unit runs and whatever it can see."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys

import cloudpickle
import numpy as np
import pytest

from spgnn_dgl.errors import MissingExtraError, OptionError, RunError
from spgnn_dgl.evaluation import parallel
from spgnn_dgl.evaluation.parallel import check_parallel
from spgnn_dgl.evaluation.sharing import marked, shared
from spgnn_dgl.evaluation.units import FINAL, Unit
from spgnn_dgl.methods import METHODS
from spgnn_dgl.plugins import load_plugin
from tests.conftest import random_dataset
from tests.experiments import SMALL, quick_run


@pytest.mark.parametrize("jobs", [0, -1])
def test_fewer_than_one_job(jobs):
    with pytest.raises(OptionError, match="give 1 or more"):
        check_parallel(jobs, "loky")


def test_a_backend_that_is_not_installed_names_its_extra(monkeypatch):
    monkeypatch.setattr(parallel.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(MissingExtraError, match=r"spgnn_dgl\[cluster\]"):
        check_parallel(2, "ray")


def test_results_are_bit_equal_for_any_number_of_jobs(tmp_path):
    texts = []
    for jobs in (1, 2):
        result = quick_run(tmp_path / str(jobs), jobs=jobs, search={"lr": (0.01, 0.001)})
        texts.append([(result.path / name).read_text() for name in ("results.json", "predictions.csv")])
    assert texts[0] == texts[1]


def test_a_worker_starts_without_scikit_learn():
    """It takes half of the time that all imports take, and a training does not need it."""
    code = "import sys, spgnn_dgl.evaluation.parallel\nprint('torch' in sys.modules, 'sklearn' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.split() == ["True", "False"]


def test_an_error_in_a_worker_arrives_as_it_is(tmp_path):
    with pytest.raises(OptionError, match="k=3"):  # the head needs ten rows, which only the network's builder knows
        quick_run(tmp_path, jobs=2, options={**SMALL, "k": 3})


def test_a_method_of_a_script_works_in_other_processes(spy, tmp_path, monkeypatch):
    """Its class is defined in ``__main__``, which no worker can import: it travels as a whole."""
    monkeypatch.setattr(spy, "__module__", "__main__")
    parts = np.arange(16), None, np.arange(16, 24)
    unit = Unit(FINAL, 0, 0, 0, "spy", {"epochs": 3}, *parts, (1, 2), 0)
    sent = cloudpickle.dumps((unit, parallel._sendable("spy")))
    del METHODS._things["spy"], METHODS._keys["spy"]  # as it is in a fresh process
    unit, method = cloudpickle.loads(sent)
    how = {"checkpoints": False, "heartbeat": False}
    with shared(random_dataset(24)) as data, marked(tmp_path) as mark:
        assert parallel._work(unit, data, mark, how, (), method) == []
    assert [path.name for path in tmp_path.rglob("*")] == ["units", "final-r00-f00.json"]


def test_a_worker_that_does_not_see_the_run_folder_sends_its_files(tmp_path):
    parts = np.arange(16), None, np.arange(16, 24)
    unit = Unit(FINAL, 0, 0, 0, "spgnn", {**SMALL, "epochs": 2}, *parts, (1, 2), 0)
    how = {"checkpoints": True, "heartbeat": True}
    with shared(random_dataset(24)) as data, marked(tmp_path / "seen") as mark:
        sent = dict(parallel._work(unit, data, tmp_path / "elsewhere" / mark.name, how, (), None))
        parallel._work(unit, data, mark, how, (), None)
    assert not (tmp_path / "elsewhere").exists()
    written = {p.relative_to(tmp_path / "seen").as_posix(): p for p in (tmp_path / "seen").rglob("*") if p.is_file()}
    assert (
        sent.keys()
        == written.keys()
        == {
            "units/final-r00-f00.json",
            "checkpoints/r00-f00-epoch1.safetensors",
            "checkpoints/r00-f00-epoch2.safetensors",
        }
    )
    probabilities = [
        json.loads(text)["probabilities"]
        for text in (sent["units/final-r00-f00.json"], written["units/final-r00-f00.json"].read_bytes())
    ]
    assert probabilities[0] == probabilities[1]


def test_files_that_workers_send_reach_the_run_folder(tmp_path, monkeypatch):
    monkeypatch.setattr(parallel, "marked", lambda folder: contextlib.nullcontext(folder / "not" / "seen"))
    elsewhere, alone = quick_run(tmp_path / "2", jobs=2), quick_run(tmp_path / "1")
    assert (elsewhere.path / "results.json").read_bytes() == (alone.path / "results.json").read_bytes()


def test_an_address_without_a_cluster():
    with pytest.raises(OptionError, match="Give --backend ray or --backend dask"):
        check_parallel(2, "loky", "auto")


def test_the_method_of_a_plugin_is_left_to_the_plugin(tmp_path, spy):
    (tmp_path / "mine.py").write_text(
        "from spgnn_dgl.methods import METHODS\n@METHODS.register('mine')\nclass Mine(METHODS.get('spy')): pass\n"
    )
    load_plugin(tmp_path / "mine.py")
    assert parallel._sendable("mine") is None
    assert parallel._sendable("spgnn") is METHODS.get("spgnn")


def _die(*args, **how):
    os.kill(os.getpid(), signal.SIGKILL)


def test_a_worker_that_dies_is_one_clear_error(tmp_path, monkeypatch):
    monkeypatch.setattr(parallel, "_work", _die)
    with pytest.raises(RunError, match="a worker process died"):
        quick_run(tmp_path, jobs=2)
