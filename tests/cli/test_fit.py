"""``spgnn fit``: one model on all of the data."""

from __future__ import annotations

import csv
import subprocess
import sys

import numpy as np
import pytest

from spgnn_dgl.data.load import load_dataset
from spgnn_dgl.fitting import fit_model
from spgnn_dgl.modelfile import load_model
from spgnn_dgl.plugins import load_plugin
from tests.cli.experiments import call, saved
from tests.ranks import finish, start
from tests.registries import restored


def test_fit_like_a_run_then_predict(finished_runs, tmp_path, capsys):
    model, out = tmp_path / "model.safetensors", tmp_path / "p.csv"
    assert call("fit", finished_runs.data(0), "--like", finished_runs.spgnn, "--out", model) == 0
    assert f"model: {model}" in capsys.readouterr().out
    assert call("predict", model, finished_runs.data(1), "--out", out) == 0
    shown = capsys.readouterr().out
    assert "24 graphs predicted by one model" in shown
    assert "accuracy on the 24 graphs of known class" in shown
    assert "trained on" not in shown
    assert len(list(csv.DictReader(out.read_text().splitlines()))) == 24


def test_mistakes_are_one_message(finished_runs, tmp_path, capsys):
    assert call("fit", "NOSUCHSET", "--out", tmp_path / "m") == 2
    assert "the dataset 'NOSUCHSET' was not found" in capsys.readouterr().err
    assert call("fit", finished_runs.data(0), "--out", tmp_path / "m", "-o", "kk=1") == 2
    assert "'kk' is not an option" in capsys.readouterr().err
    assert call("fit", finished_runs.data(0), "--out", tmp_path / "m", "--like", tmp_path) == 2
    assert "not a run folder" in capsys.readouterr().err


MORTAL = """
import os, pathlib, signal
from spgnn_dgl.methods import METHODS

@METHODS.register("mortal")
class Mortal(METHODS.get("spgnn")):
    def fit(self, train, *, on_epoch=None, **how):
        marker = pathlib.Path(__file__).with_name("was killed")

        def on_epoch(record):
            if record.epoch == 3 and os.environ.get("RANK") == "1" and not marker.exists():
                marker.touch()
                os.kill(os.getpid(), signal.SIGKILL)

        return super().fit(train, on_epoch=on_epoch, **how)
"""


@pytest.fixture
def mortal(tmp_path):
    """Arguments of a training whose second rank is killed once, and the predictions of one that lives."""
    (tmp_path / "mortal.py").write_text(MORTAL)
    data, model = saved(tmp_path), tmp_path / "model.safetensors"
    settings = {"epochs": 5, "dropout": 0.0, "k": 10, "channels": 4, "layers": 2}
    arguments = ["--plugin", str(tmp_path / "mortal.py"), "fit", str(data), "-m", "mortal", "--out", str(model)]
    arguments += ["--checkpoint-every", "0", "-o", *(f"{k}={v}" for k, v in settings.items())]
    with restored():
        load_plugin(tmp_path / "mortal.py")
        graphs = load_dataset(data)
        expected = load_model(fit_model(graphs, tmp_path / "expected", method="mortal", options=settings))[0]

        def check():
            assert not model.with_name("model.safetensors.checkpoint").exists()
            found = load_model(model)[0].predict_proba(graphs)
            np.testing.assert_allclose(found, expected.predict_proba(graphs), atol=1e-4)

        yield arguments, model, check


@pytest.mark.slow
def test_a_rank_that_dies_ends_the_job_with_one_message_and_one_process_goes_on(mortal, capsys):
    arguments, model, check = mortal
    survivor, victim = finish(start(["-m", "spgnn_dgl", *arguments]))
    assert (survivor[0], victim[0]) == (2, -9)
    assert survivor[2].count("error:") == 1
    assert "Traceback" not in survivor[2]
    message = " ".join(survivor[2].split())
    assert f"The last checkpoint is '{model}.checkpoint'" in message
    assert "the same command goes on from it, also with another number of processes" in message
    assert not model.exists()
    assert call(*arguments) == 0
    assert f"model: {model}" in capsys.readouterr().out
    check()


def torchrun(*arguments):
    """Exit code, output and errors of ``torchrun ARGUMENTS`` with two ranks."""
    launcher = [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node", "2"]
    launcher += ["--rdzv-backend", "c10d", "--rdzv-endpoint", "localhost:0"]  # any free port
    process = subprocess.Popen([*launcher, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        shown, errors = process.communicate(timeout=150)
    finally:
        process.terminate()  # it ends its ranks too
    return process.returncode, shown, errors


@pytest.mark.slow
def test_torchrun_restarts_a_training_whose_rank_has_died(mortal):
    arguments, model, check = mortal
    status, shown, errors = torchrun("--max-restarts", "1", "-m", "spgnn_dgl", *arguments)
    assert status == 0, errors
    assert "trained on all 24 graphs of random0, by 2 processes" in shown
    assert errors.count("error:") == 1
    assert (model.parent / "was killed").exists()
    check()


@pytest.mark.slow
def test_a_users_mistake_on_all_ranks_is_one_message(tmp_path):
    status, _, errors = torchrun("-m", "spgnn_dgl", "fit", "NOSUCHSET", "--out", str(tmp_path / "m"))
    assert status != 0
    assert errors.count("error:") == 1
    assert "the dataset 'NOSUCHSET' was not found" in errors
