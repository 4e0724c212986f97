"""The unit of work: one training and what it predicts, a pure function of configuration, data, indices and seed."""

from __future__ import annotations

import contextlib
import json
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from threadpoolctl import threadpool_limits

from spgnn_dgl.data.store import GraphDataset
from spgnn_dgl.errors import BudgetExceeded, DatasetNotFoundError, ModelFileError, TrainingError
from spgnn_dgl.evaluation.metrics import log_loss
from spgnn_dgl.evaluation.sentinels import measure
from spgnn_dgl.methods import METHODS, make_method
from spgnn_dgl.methods.base import Method
from spgnn_dgl.modelfile import load_model, save_model
from spgnn_dgl.runs import CHECKPOINTS, HEARTBEAT, UNITS, RunDir, remove
from spgnn_dgl.training import EpochRecord

SELECT, FINAL = "select", "final"
DONE, FAILED, TIMEOUT = "done", "failed", "timeout"
HEARTBEAT_SECONDS = 0.5


@dataclass(frozen=True, eq=False)
class Unit:
    """One training.

    Parameters
    ----------
    stage
        ``"select"``: a candidate's training, judged on validation graphs. ``"final"``: judged on the tested fold.
    repeat, fold, candidate
        Which one it is; `candidate` numbers the options under comparison.
    options
        Of the method.
    train, validation, test
        Positions of graphs. A ``"select"`` unit has no test part.
    epochs
        Epochs at which the judged graphs are predicted in one training; empty: once, at the end.
    same_as
        Name of a ``"select"`` unit that is the same training, with the same seed: its model is used, where it was
        kept, and only judged anew.
    """

    stage: str
    repeat: int
    fold: int
    candidate: int
    method: str
    options: dict[str, Any]
    train: np.ndarray
    validation: np.ndarray | None
    test: np.ndarray | None
    epochs: tuple[int, ...]
    seed: int
    same_as: str | None = None

    @property
    def name(self) -> str:
        return unit_name(self.stage, self.repeat, self.fold, self.candidate)

    @property
    def judged(self) -> np.ndarray:
        """Positions of the graphs whose prediction is recorded."""
        part = self.test if self.stage == FINAL else self.validation
        assert part is not None
        return part


def unit_name(stage: str, repeat: int, fold: int, candidate: int = 0) -> str:
    """Name of a unit and of its files.

    >>> unit_name("select", 0, 3, 1), unit_name("final", 0, 3, 1)
    ('select-r00-f03-c001', 'final-r00-f03')
    """
    name = f"{stage}-r{repeat:02d}-f{fold:02d}"
    return f"{name}-c{candidate:03d}" if stage == SELECT else name


def derived_seed(*parts: int) -> int:
    """A seed for each place in an experiment, by NumPy's SeedSequence: no two places share one."""
    return int(np.random.SeedSequence(parts).generate_state(1)[0])


def run_unit(unit: Unit, data: GraphDataset, folder: Path, *, checkpoints: bool, heartbeat: bool) -> dict[str, Any]:
    """Train, predict, and write the unit's record; returns the record.

    Runs with one thread, whatever the number of jobs: sums in another order would change the last bits.
    """
    run, started = RunDir(folder), time.perf_counter()
    pulse = folder / UNITS / f".{unit.name}{HEARTBEAT}" if heartbeat else None
    with one_thread():
        record = _train(unit, data, run, checkpoints, pulse)
    record = {"unit": unit.name, **record, "seconds": round(time.perf_counter() - started, 3)}
    run.write_json(f"{UNITS}/{unit.name}.json", record)
    if pulse is not None:
        remove(pulse)
    return record


def _train(unit: Unit, data: GraphDataset, run: RunDir, checkpoints: bool, pulse: Path | None) -> dict[str, Any]:
    train, judged = data.subset(unit.train), data.subset(unit.judged)
    validation = None if unit.validation is None else data.subset(unit.validation)
    method = make_method(unit.method, unit.options)
    keep_in = run if checkpoints and unit.stage == FINAL else None
    snapshots: dict[int, Any] = {}
    last_pulse = 0.0

    def on_epoch(record: EpochRecord) -> None:
        nonlocal last_pulse
        if keep_in is not None and record.epoch in unit.epochs:
            arrays, values = method.state()
            snapshots[record.epoch] = {k: np.array(a) for k, a in arrays.items()}, values
        if pulse is not None and (now := time.monotonic()) - last_pulse > HEARTBEAT_SECONDS:
            last_pulse = now
            with contextlib.suppress(OSError):  # a bar that stands still is no reason to stop
                pulse.write_text(str(record.epoch), encoding="utf-8")

    record: dict[str, Any] = {
        "stage": unit.stage,
        "repeat": unit.repeat,
        "fold": unit.fold,
        "candidate": unit.candidate,
        "options": unit.options,
        "seed": unit.seed,
        "num_train": len(train),
        "graphs": unit.judged.tolist(),
        "labels": judged.labels.tolist(),
    }
    try:
        if unit.epochs:
            method.fit(train, watch=judged, watch_at=unit.epochs, seed=unit.seed, on_epoch=on_epoch)
            watched = method.watched or {0: method.predict_proba(judged)}
        elif (recalled := _recalled(unit, run)) is not None:
            method, epoch = recalled
            watched = {epoch: method.predict_proba(judged)}
        else:
            seen = judged if unit.options.get("transductive") else None  # their structure, not their classes
            method.fit(train, validation=validation, watch=seen, seed=unit.seed, on_epoch=on_epoch)
            watched = {best_epoch(method): method.predict_proba(judged)}
    except TrainingError as problem:
        return {**record, "status": FAILED, "message": str(problem)}
    except BudgetExceeded as problem:
        return {**record, "status": TIMEOUT, "message": str(problem)}
    if keep_in is not None:
        _save(unit, method, snapshots, max(watched), train, keep_in)
    if unit.stage == SELECT and not unit.epochs and method.has_epochs:
        _save_as(run, candidate_model(unit.name), method, unit, model_notes(train, unit.seed))
    return {
        **record,
        "status": DONE,
        "fitted": method.fitted_options(),
        "probabilities": {str(epoch): np.asarray(p).tolist() for epoch, p in sorted(watched.items())},
        "losses": {str(epoch): log_loss(judged.labels, np.asarray(p)) for epoch, p in sorted(watched.items())},
        "history": [asdict(line) for line in getattr(method, "history", [])],
        "measures": measure(method, train, judged) if unit.stage == FINAL else {},
    }


def _recalled(unit: Unit, run: RunDir) -> tuple[Method, int] | None:
    """The method that the same training fitted before, and the epoch of its weights; None where it was not kept.

    A machine of a cluster that does not see the run folder finds nothing here, and trains.
    """
    record = None if unit.same_as is None else run.unit(unit.same_as)
    if record is None or record["status"] != DONE:
        return None
    try:
        method, _ = load_model(run.path / candidate_model(record["unit"]))
    except (DatasetNotFoundError, ModelFileError):  # a run begun by an earlier version, or a damaged file
        return None
    method.history = [EpochRecord(**line) for line in record["history"]]
    return method, int(next(iter(record["probabilities"])))


def best_epoch(method: Method) -> int:
    """The epoch whose weights a fitted method keeps; 0 for a method without epochs."""
    result = getattr(method, "result", None)
    return int(result.best_epoch) if result is not None else 0


def _save(unit: Unit, method: Method, snapshots: dict[int, Any], last: int, train: GraphDataset, run: RunDir) -> None:
    """Model files of all candidate epochs; once the epoch is chosen the others are removed."""
    notes = model_notes(train, unit.seed)
    for epoch, (arrays, values) in snapshots.items():
        _save_as(run, checkpoint_name(unit.name, epoch), _Snapshot(arrays, values), unit, notes)
    if last not in snapshots:
        _save_as(run, checkpoint_name(unit.name, last), method, unit, notes)


def _save_as(run: RunDir, name: str, method: Any, unit: Unit, notes: dict[str, Any]) -> None:
    from spgnn_dgl.runs import write_whole

    canonical = METHODS.canonical(unit.method) or unit.method
    write_whole(run.path / name, lambda aside: save_model(aside, method, canonical, unit.options, notes))


class _Snapshot:
    """The state of a method at an earlier epoch."""

    def __init__(self, arrays: dict[str, np.ndarray], values: dict[str, Any]):
        self._state = arrays, json.loads(json.dumps(values))

    def state(self) -> Any:
        return self._state


def checkpoint_name(unit: str, epoch: int) -> str:
    """Path of a model file inside the run folder."""
    return f"{CHECKPOINTS}/{unit.removeprefix('final-')}-epoch{epoch}.safetensors"


def candidate_model(unit: str) -> str:
    """Path, inside the run folder, of the model of a candidate, which is kept until the run is complete."""
    return f"{UNITS}/{unit}.safetensors"


def model_notes(train: GraphDataset, seed: int) -> dict[str, Any]:
    """What a model file says of the data it was trained on."""
    counts = train.node_counts
    return {
        "class_names": list(train.meta.class_names),
        "classes": list(range(train.num_classes)),
        "seed": seed,
        "dataset": train.name,
        "fingerprint": train.fingerprint,
        "num_train": len(train),
        "train_sizes": [int(counts.min()), int(counts.max())],
    }


@contextlib.contextmanager
def one_thread() -> Iterator[None]:
    """One thread for PyTorch, BLAS and OpenMP inside the block."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        with threadpool_limits(1):
            yield
    finally:
        torch.set_num_threads(before)
