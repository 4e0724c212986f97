"""``spgnn predict``: a model or an ensemble on new graphs."""

from __future__ import annotations

import csv

from tests.cli.experiments import call


def test_predict_with_the_ensemble_of_a_run(finished_runs, tmp_path, capsys):
    assert call("predict", finished_runs.spgnn, finished_runs.data(0), "--out", tmp_path / "p.csv") == 0
    shown = capsys.readouterr().out
    assert "an ensemble of 3 models" in shown
    assert "no estimate for new ones" in shown


def test_predict_graphs_without_classes_in_another_format(finished_runs, tmp_path, capsys):
    (tmp_path / "graphs.txt").write_text("2\n2 0\n1 1 1\n2 1 0\n1 0\n3 0\n")
    assert call("predict", finished_runs.spgnn, tmp_path / "graphs.txt", "--out", tmp_path / "p.csv") == 0
    lines = list(csv.DictReader((tmp_path / "p.csv").read_text().splitlines()))
    assert [line["unseen_labels"] for line in lines] == ["1", "1"]


def test_what_is_not_there(finished_runs, tmp_path, capsys):
    assert call("predict", tmp_path / "m", finished_runs.data(0)) == 2
    assert "there is no model file" in capsys.readouterr().err
    assert call("predict", finished_runs.spgnn, tmp_path / "nowhere.zip") == 2
    assert "does not exist" in capsys.readouterr().err
