"""``spgnn compare``: one table, paired where it may be."""

from __future__ import annotations

from tests.cli.experiments import call


def test_compare_prints_a_table_and_draws_the_diagram(finished_runs, tmp_path, capsys):
    picture = tmp_path / "cd.png"
    assert call("compare", finished_runs.all, "--diagram", picture) == 0
    shown = capsys.readouterr()
    assert shown.out.startswith("| method | random0 | random1 |\n")
    assert "Nadeau–Bengio" in shown.out
    assert "Average ranks over 2 datasets" in shown.out
    assert picture.stat().st_size > 1000


def test_compare_writes_files_in_other_formats(finished_runs, tmp_path, capsys):
    for format_, beginning in (("latex", r"\begin{tabular}"), ("csv", "dataset,method,mean")):
        assert call("compare", finished_runs.all, "--format", format_, "--out", tmp_path / "t") == 0
        assert (tmp_path / "t").read_text().startswith(beginning)


def test_compare_refuses_what_cannot_be_paired_or_drawn(finished_runs, tmp_path, capsys):
    data = finished_runs.data(0)
    call("train", data, "--method", "wl", "--folds", "3", "--seed", "5", "--out", tmp_path)
    assert call("compare", finished_runs.spgnn, tmp_path) == 2
    assert "different folds of random0" in capsys.readouterr().err
    assert call("compare", finished_runs.spgnn, tmp_path, "--unpaired") == 0
    assert "Welch" in capsys.readouterr().out
    assert call("compare", finished_runs.spgnn, "--diagram", tmp_path / "cd.png") == 2
    assert call("compare", tmp_path / "nothing") == 2
