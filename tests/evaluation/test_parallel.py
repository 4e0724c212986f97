"""Units over processes and clusters: the dataset travels as a path, and the results are those of one process."""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys

import cloudpickle
import numpy as np
import pytest

from spgnn_dgl.data.convert import with_labels
from spgnn_dgl.data.saved import open_store, save_store
from spgnn_dgl.errors import MissingExtraError, OptionError, RunError
from spgnn_dgl.evaluation import parallel
from spgnn_dgl.evaluation.parallel import check_parallel, shared, store_of
from spgnn_dgl.evaluation.units import FINAL, Unit
from spgnn_dgl.methods import METHODS
from spgnn_dgl.plugins import load_plugin
from tests.conftest import random_dataset
from tests.experiments import SMALL, quick_run


def test_a_stored_dataset_travels_as_its_path(tmp_path):
    save_store(tmp_path / "store", random_dataset(400, max_nodes=40))
    data = open_store(tmp_path / "store")[5:300]
    with shared(data) as sent:
        text = pickle.dumps(sent)
        received = pickle.loads(text).open()
    assert sent.folder == str(tmp_path / "store")
    assert len(text) < 10_000 < data.arrays.neighbours.nbytes
    assert store_of(received) == tmp_path / "store"  # mapped, not copied
    np.testing.assert_array_equal(received.labels, data.labels)
    np.testing.assert_array_equal(received.members, data.members)
    assert received.meta == data.meta


def test_a_dataset_in_memory_gets_a_store_for_the_time_being():
    data = random_dataset(20)[3:15]
    with shared(data) as sent:
        received = sent.open()
        np.testing.assert_array_equal(received.labels, data.labels)
        assert received.batch([2]).num_edges() == data.batch([2]).num_edges()
    assert not os.path.exists(sent.folder)


def test_changed_labels_are_not_taken_from_the_store(tmp_path):
    save_store(tmp_path / "store", random_dataset(8))
    changed = with_labels(open_store(tmp_path / "store"), ["a", "b"] * 3 + ["c", "c"])
    assert store_of(changed) is None
    with shared(changed) as sent:
        np.testing.assert_array_equal(sent.open().labels, changed.labels)


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
    with shared(random_dataset(24)) as data:
        parallel._work(unit, data, tmp_path, how, (), method)
    assert (tmp_path / "units" / "final-r00-f00.json").exists()


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


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_local_clusters_of_ray_and_dask_give_the_results_of_one_process(tmp_path):
    packages = {"ray": "ray", "dask": "distributed"}
    for package in packages.values():
        pytest.importorskip(package, reason=f"{package} is not installed")
    data = random_dataset(24, max_nodes=14)
    save_store(tmp_path / "data", data)
    # in processes of their own: these packages leave threads, files and warnings behind
    command = [sys.executable, "-m", "spgnn_dgl", "train", str(tmp_path / "data"), "--folds", "3", "--epochs", "1,2"]
    command += ["-o", *(f"{k}={v}" for k, v in SMALL.items()), "--jobs", "2", "--out"]
    processes = {
        backend: subprocess.Popen(
            [*command, str(tmp_path / backend), "--backend", backend], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
        )
        for backend in packages
    }
    alone = quick_run(tmp_path / "alone", dataset=data)
    for backend, process in processes.items():
        _, errors = process.communicate(timeout=280)
        assert process.returncode == 0, errors.decode()
        (found,) = (tmp_path / backend).rglob("results.json")
        assert found.read_bytes() == (alone.path / "results.json").read_bytes()
