"""The running mean that bars and lines show."""

from __future__ import annotations

from spgnn_dgl.cli.progress import Lines, RunningMean


def record(accuracies, status="done"):
    """A record of two graphs; an accuracy of 0.5 is one right."""
    right, wrong = [0.9, 0.1], [0.1, 0.9]
    tables = {0.0: [wrong, wrong], 0.5: [right, wrong], 1.0: [right, right]}
    probabilities = {str(epoch): tables[a] for epoch, a in accuracies.items()}
    return {"status": status, "labels": [0, 0], "probabilities": probabilities, "seconds": 1.0, "message": "why"}


def test_the_mean_is_that_of_the_best_epoch_so_far():
    progress = RunningMean()
    progress.start("final", [None] * 4, [record({1: 0.5, 2: 1.0}), record({1: 1.0, 2: 0.0})])
    assert progress.mean == 0.75  # epoch 1; epoch 2 has 0.5
    assert progress.mean_text() == "mean accuracy so far 75.00"


def test_trainings_that_stopped_early_have_epochs_of_their_own():
    progress = RunningMean()
    progress.start("final", [None] * 2, [record({7: 0.5}), record({9: 1.0})])
    assert progress.mean == 0.75


def test_nothing_is_said_before_the_first_training():
    progress = RunningMean()
    progress.start("select", [None], [record({}, status="failed")])
    assert progress.mean_text() == ""


def test_a_training_that_broke_off_is_told(capsys):
    class Unit:
        name = "final-r00-f00"

    lines = Lines()
    lines.start("final", [None], [])
    lines.done(Unit(), record({}, status="timeout"))
    assert "[1/1] final-r00-f00: timeout: why" in capsys.readouterr().out
