"""``spgnn fit``: one model on all of the data."""

from __future__ import annotations

import csv

from tests.cli.experiments import call


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
