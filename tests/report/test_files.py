"""The files of a run folder that are made from its records."""

from __future__ import annotations

import csv

import pytest

from spgnn_dgl.runs import RunDir
from tests.experiments import quick_run


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    return quick_run(tmp_path_factory.mktemp("run"), search={"lr": (0.1, 0.01)})


def test_history_has_a_line_per_epoch_of_every_training(finished):
    lines = list(csv.DictReader((finished.path / "history.csv").read_text().splitlines()))
    assert len(lines) == (6 + 3) * 2
    records = {record["unit"]: record for record in RunDir(finished.path).units()}
    for line in lines:
        expected = records[line["unit"]]["history"][int(line["epoch"]) - 1]
        assert float(line["loss"]) == expected["loss"]
        assert (line["stage"], line["fold"]) == (records[line["unit"]]["stage"], str(records[line["unit"]]["fold"]))
        assert line["validation_loss"] == ""


def test_predictions_are_those_of_the_reported_epochs_to_the_last_bit(finished):
    lines = list(csv.DictReader((finished.path / "predictions.csv").read_text().splitlines()))
    folds = {fold["fold"]: fold for fold in finished.results["folds"]}
    for record in RunDir(finished.path).units():
        if record["stage"] != "final":
            continue
        epoch = folds[record["fold"]]["optimistic"]["epoch"]
        for graph, row in zip(record["graphs"], record["probabilities"][str(epoch)]):
            assert [float(lines[graph][f"p(class {c})"]) for c in (0, 1)] == row


def test_models_of_an_unfinished_run_are_all_kept(finished, tmp_path):
    """The epoch is not chosen yet, so no model may go."""
    from spgnn_dgl.report import write_report

    run = RunDir.start(tmp_path / "run", {k: v for k, v in RunDir(finished.path).config.items() if k != "version"})
    run.close()
    record = RunDir(finished.path).unit("final-r00-f00")
    run.write_json("units/final-r00-f00.json", record)
    for epoch in (1, 2):
        run.write_text(f"checkpoints/r00-f00-epoch{epoch}.safetensors", "")
    write_report(run)
    assert len(list((run.path / "checkpoints").iterdir())) == 2
