"""How an experiment tells that it goes on. The library says nothing; the command line draws bars or prints lines.

Units may run anywhere, so their progress is read from the run folder: finished units from their records, epochs of
those under way from small files beside them.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from spgnn_dgl.evaluation.units import Unit
from spgnn_dgl.runs import HEARTBEAT, UNITS, RunDir

POLL_SECONDS = 0.2


class Progress:
    """Hears of an experiment. This one ignores everything; a subclass shows it."""

    wants_epochs = False
    """Whether units under way should note their epoch."""

    def open(self, path: Path) -> None:
        """The run folder is ready; from now on finished work is kept there."""

    def start(self, stage: str, units: Sequence[Unit], finished: Sequence[dict[str, Any]]) -> None:
        """A stage begins; `finished` are the records of units that an earlier call has done."""

    def epoch(self, unit: Unit, epoch: int) -> None:
        """A unit under way is in this epoch."""

    def done(self, unit: Unit, record: dict[str, Any]) -> None:
        """A unit is finished."""

    def stop(self) -> None:
        """The stage is over, or was interrupted."""


@contextlib.contextmanager
def watching(run: RunDir, stage: str, units: Sequence[Unit], progress: Progress) -> Iterator[None]:
    """Tell `progress` inside the block what happens in the run folder."""
    pending = {unit.name: unit for unit in units}
    finished = [record for unit in units if (record := run.unit(unit.name)) is not None]
    for record in finished:
        del pending[record["unit"]]
    over = threading.Event()

    def look() -> None:
        for name, unit in list(pending.items()):
            if (run.path / UNITS / f"{name}.json").exists():
                record = run.read_json(f"{UNITS}/{name}.json")
                if record is not None:
                    del pending[name]
                    progress.done(unit, record)
            elif progress.wants_epochs and (epoch := _heartbeat(run.path, name)):
                progress.epoch(unit, epoch)

    def watch() -> None:
        while not over.wait(POLL_SECONDS):
            look()

    progress.start(stage, units, finished)
    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
        look()
        progress.stop()


def _heartbeat(folder: Path, name: str) -> int:
    """Epoch that a unit under way has noted; 0 where it has not yet."""
    try:
        return int((folder / UNITS / f".{name}{HEARTBEAT}").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return 0
