"""Ray and Dask: the results are those of one process, also when a machine is lost."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from spgnn_dgl.data.saved import save_store
from spgnn_dgl.evaluation.clusters import connected
from spgnn_dgl.plugins import load_plugin
from tests.conftest import random_dataset
from tests.experiments import SMALL, quick_run
from tests.registries import restored

PATIENCE = 560  # seconds: a cluster is up and done in one minute, but in five where others use the cores


def test_one_machine_needs_no_cluster():
    with connected("loky", 3, None) as cluster:
        assert cluster.jobs == 3


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_dask_gives_the_results_of_one_process_also_when_a_worker_is_killed(tmp_path):
    pytest.importorskip("distributed", reason="distributed is not installed")
    data, plugin = random_dataset(24, max_nodes=14), Path(__file__).with_name("dies_once.py")
    save_store(tmp_path / "data", data)
    options = {**SMALL, "place": str(tmp_path)}
    # in a process of its own: dask leaves threads, files and warnings behind
    command = [sys.executable, "-m", "spgnn_dgl", "--plugin", str(plugin), "train", str(tmp_path / "data")]
    command += ["--method", "dies-once", "-o", *(f"{k}={v}" for k, v in options.items())]
    command += ["--folds", "3", "--epochs", "1,2", "--jobs", "2", "--backend", "dask", "--out", str(tmp_path / "dask")]
    done = subprocess.run(command, capture_output=True, timeout=PATIENCE, check=False)
    assert done.returncode == 0, done.stderr.decode()
    assert (tmp_path / "died").exists()
    (found,) = (tmp_path / "dask").rglob("results.json")
    with restored():
        load_plugin(plugin)
        alone = quick_run(tmp_path / "alone", dataset=data, method="dies-once", options=options, epochs=(1, 2))
    assert found.read_bytes() == (alone.path / "results.json").read_bytes()


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_a_training_whose_machine_is_lost_is_done_elsewhere(tmp_path):
    """Two machines that Ray simulates, of which one is killed in the middle of a training.

    Neither sees the dataset at its path, so that it comes from Ray's object store.
    """
    pytest.importorskip("ray", reason="ray is not installed")
    command = [sys.executable, "-m", "tests.evaluation.two_machines", str(tmp_path)]
    done = subprocess.run(
        command, cwd=Path(__file__).parents[2], capture_output=True, text=True, timeout=PATIENCE, check=False
    )
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "killed").exists()
    with restored():
        alone = load_plugin(Path(__file__).with_name("two_machines.py")).experiment(tmp_path / "alone")
    (found,) = (tmp_path / "ray").rglob("results.json")
    assert found.read_bytes() == (alone.path / "results.json").read_bytes()
