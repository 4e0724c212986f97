"""What an experiment tells while it runs."""

from __future__ import annotations

from spgnn_dgl.evaluation.progress import Progress
from spgnn_dgl.experiment import run
from tests.experiments import quick_config


class Diary(Progress):
    wants_epochs = True

    def __init__(self):
        self.lines = []

    def start(self, stage, units, finished):
        self.lines.append(("start", stage, len(units), len(finished)))

    def epoch(self, unit, epoch):
        self.lines.append(("epoch", unit.name, epoch))

    def done(self, unit, record):
        self.lines.append(("done", unit.name, record["status"]))

    def stop(self):
        self.lines.append(("stop",))


def test_every_unit_is_told_once_and_in_its_stage(tmp_path):
    diary = Diary()
    config = quick_config(tmp_path, search={"lr": (0.1, 0.01)})
    run(config, diary)
    told = [line for line in diary.lines if line[0] != "epoch"]
    names = [f"select-r00-f0{f}-c00{c}" for f in range(3) for c in range(2)]
    assert told[:8] == [("start", "select", 6, 0), *(("done", n, "done") for n in names), ("stop",)]
    assert told[8:] == [("start", "final", 3, 0), *(("done", f"final-r00-f0{f}", "done") for f in range(3)), ("stop",)]


def test_finished_units_are_told_at_the_start(tmp_path):
    run(quick_config(tmp_path))
    diary = Diary()
    run(quick_config(tmp_path), diary)
    assert diary.lines == [("start", "final", 3, 3), ("stop",)]


def test_epochs_of_a_training_under_way_are_told(tmp_path, monkeypatch):
    monkeypatch.setattr("spgnn_dgl.evaluation.units.HEARTBEAT_SECONDS", 0.0)
    monkeypatch.setattr("spgnn_dgl.evaluation.progress.POLL_SECONDS", 0.002)
    diary = Diary()
    run(quick_config(tmp_path, epochs=(60,)), diary)
    epochs = [line[2] for line in diary.lines if line[:2] == ("epoch", "final-r00-f00")]
    assert epochs == sorted(epochs)
    assert len(set(epochs)) > 3
