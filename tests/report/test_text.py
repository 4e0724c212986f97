"""The report says what a reviewer asks for, and can be made again from the folder alone."""

from __future__ import annotations

import shutil

import pytest

from spgnn_dgl.experiment import remake
from spgnn_dgl.report import headline_lines, percent
from spgnn_dgl.runs import RunDir
from tests.experiments import named, quick_run


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    return quick_run(tmp_path_factory.mktemp("run"), repeats=2, pictures=True)


def test_the_honesty_card_has_every_line(finished):
    text, numbers = finished.report.read_text(), finished.results["numbers"]
    assert "paper's selection (optimistic) | epoch chosen without the tested fold" in text
    for view in ("optimistic", "honest"):
        accuracy = numbers[view]["accuracy"]
        for value in (accuracy["mean"], accuracy["std_folds"], accuracy["std_repeats"], *accuracy["interval"]):
            assert percent(value) in text
        for metric in ("balanced_accuracy", "macro_f1", "roc_auc"):
            assert percent(numbers[view][metric]["mean"]) in text
    for line in ("std_folds (n = 3)", "std_repeats (n = 2)", "95 % interval", "majority rate | 50.00", "points** here"):
        assert line in text
    assert "| class 0 | " in text
    assert "![curves.png](figures/curves.png)" in text


def test_the_report_explains_how_the_epoch_was_chosen(finished):
    assert "for each fold the epoch with the best average over the other folds" in finished.report.read_text()


def test_a_report_is_made_again_without_training_and_without_data(finished, tmp_path, monkeypatch):
    copy = tmp_path / "copy"
    shutil.copytree(finished.path, copy)
    before = {
        name: (copy / name).read_bytes() for name in ("report.md", "results.json", "predictions.csv", "history.csv")
    }
    for name in before:
        (copy / name).unlink()
    shutil.rmtree(copy / "figures")
    monkeypatch.setattr("spgnn_dgl.methods.base.GNNMethod.fit", None)
    again = remake(RunDir.open(copy))
    assert {name: (copy / name).read_bytes() for name in before} == before
    assert all(figure.exists() for figure in again.figures)


def test_the_papers_number_stands_beside_ours_with_its_remark(tmp_path):
    run = quick_run(tmp_path, dataset=named("PTC"), protocol="fair", repeats=1)
    text = run.report.read_text()
    assert "The paper's Table 1 prints **62.29 ± 0.75**; ours is" in text
    assert "with hydrogens" in text
    assert "The paper chooses the epoch on the tested folds; this run does not." in text
    assert "The paper has 10 folds; this run has 3. The dataset has 344 graphs; this run has 24." in text
    ours = 100 * run.results["numbers"]["honest"]["accuracy"]["mean"]
    assert f"ours is {ours - 62.29:+.2f} points from it" in text


def test_an_unfinished_run_says_so(finished, tmp_path):
    copy = tmp_path / "copy"
    shutil.copytree(finished.path, copy)
    (copy / "units" / "final-r01-f02.json").unlink()
    results = remake(RunDir.open(copy)).results
    assert results["status"] == "incomplete"
    assert "5 of 6 trainings finished" in (copy / "report.md").read_text()
    assert results["numbers"]["honest"]["fold_accuracies"][1][2] is None


def test_a_folder_without_any_finished_training(finished, tmp_path):
    copy = tmp_path / "copy"
    shutil.copytree(finished.path, copy)
    for unit in (copy / "units").iterdir():
        unit.unlink()
    assert remake(RunDir.open(copy)).results["numbers"] == {}
    assert "No training has finished" in (copy / "report.md").read_text()


def test_lines_for_a_terminal(finished):
    lines = headline_lines(finished.results)
    assert lines[0] == "spgnn on random0, paper protocol: complete"
    assert "(optimistic)" in lines[1]
    assert "std_repeats" in lines[2]
