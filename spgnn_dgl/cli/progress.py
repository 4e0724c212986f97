"""Progress of an experiment: bars on a terminal, plain lines elsewhere."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from spgnn_dgl.evaluation.choices import epoch_accuracies
from spgnn_dgl.evaluation.progress import Progress
from spgnn_dgl.evaluation.units import DONE, FINAL, Unit
from spgnn_dgl.training import EpochRecord, OnEpoch

STAGES = {"select": "search", "final": "folds"}


class RunningMean(Progress):
    """Keeps the running mean over finished trainings: the epoch that is best on the average of those so far."""

    path: Path | None = None

    def open(self, path: Path) -> None:
        self.path = path

    def start(self, stage: str, units: Sequence[Unit], finished: Sequence[dict[str, Any]]) -> None:
        self.stage, self.total, self.count = stage, len(units), 0
        self.curves: list[dict[int, float]] = []
        for record in finished:
            self._take(record)

    def _take(self, record: dict[str, Any]) -> None:
        self.count += 1
        if record["status"] == DONE:
            self.curves.append(epoch_accuracies(record))

    @property
    def mean(self) -> float | None:
        if not self.curves:
            return None
        shared = set(self.curves[0]).intersection(*self.curves)
        if not shared:  # every training stopped at an epoch of its own
            return float(np.mean([next(iter(curve.values())) for curve in self.curves]))
        return max(float(np.mean([curve[epoch] for curve in self.curves])) for epoch in shared)

    def mean_text(self) -> str:
        what = "validation accuracy" if self.stage != FINAL else "accuracy"
        return "" if self.mean is None else f"mean {what} so far {100 * self.mean:.2f}"


class Lines(RunningMean):
    """A line per finished training, for logs and pipes."""

    def start(self, stage: str, units: Sequence[Unit], finished: Sequence[dict[str, Any]]) -> None:
        super().start(stage, units, finished)
        print(f"{STAGES[stage]}: {self.count} of {self.total} trainings are done already", flush=True)

    def done(self, unit: Unit, record: dict[str, Any]) -> None:
        self._take(record)
        state = "" if record["status"] == DONE else f"{record['status']}: {record['message']} "
        print(
            f"[{self.count}/{self.total}] {unit.name}: {state}{record['seconds']:.1f} s, {self.mean_text()}",
            flush=True,
        )


class Bars(RunningMean):
    """A bar for the trainings of the stage, and one for the epochs of each training under way."""

    wants_epochs = True

    def start(self, stage: str, units: Sequence[Unit], finished: Sequence[dict[str, Any]]) -> None:
        from rich import progress

        super().start(stage, units, finished)
        self.bars = progress.Progress(
            progress.TextColumn("{task.description}"),
            progress.BarColumn(),
            progress.MofNCompleteColumn(),
            progress.TimeElapsedColumn(),
            progress.TextColumn("left"),
            progress.TimeRemainingColumn(),
            progress.TextColumn("{task.fields[note]}"),
        )
        self.bars.start()
        self.main = self.bars.add_task(STAGES[stage], total=self.total, completed=self.count, note=self.mean_text())
        self.epochs: dict[str, Any] = {}

    def epoch(self, unit: Unit, epoch: int) -> None:
        if unit.name not in self.epochs:
            total = max(unit.epochs, default=0) or unit.options.get("epochs")
            self.epochs[unit.name] = self.bars.add_task(f"  {unit.name}", total=total, note="epochs")
        self.bars.update(self.epochs[unit.name], completed=epoch)

    def done(self, unit: Unit, record: dict[str, Any]) -> None:
        self._take(record)
        if unit.name in self.epochs:
            self.bars.remove_task(self.epochs.pop(unit.name))
        self.bars.update(self.main, completed=self.count, note=self.mean_text())

    def stop(self) -> None:
        for task in self.epochs.values():
            self.bars.remove_task(task)
        self.bars.stop()


def progress_display() -> RunningMean:
    """Bars where stdout is a terminal, else lines."""
    return Bars() if sys.stdout.isatty() else Lines()


@contextlib.contextmanager
def epoch_counter() -> Iterator[OnEpoch | None]:
    """A line that counts the epochs of one training, on a terminal."""
    if not sys.stdout.isatty():
        yield None
        return
    from rich.console import Console

    with Console().status("training") as status:

        def show(record: EpochRecord) -> None:
            status.update(f"epoch {record.epoch}: loss {record.loss:.4f}, training accuracy {record.accuracy:.2%}")

        yield show
