"""What the tables need of a run, as one small JSON file each, so that anyone can make them again without training."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from spgnn_dgl.errors import RunError
from spgnn_dgl.evaluation.planning import prepare
from spgnn_dgl.evaluation.results import COMPLETE
from spgnn_dgl.evaluation.units import TIMEOUT
from spgnn_dgl.reproduction.plan import PLAN, Task
from spgnn_dgl.runs import ENVIRONMENT, FOLDS, RESULTS, TIMINGS, RunDir, write_whole


@dataclass(frozen=True)
class Record:
    """A finished run, or one that its time budget ended.

    Parameters
    ----------
    accuracies
        Way to choose the epoch (``"optimistic"``, ``"honest"``) → (repeats, folds) shares of right answers.
    epochs
        The same ways → the epoch of each repeat and fold, flat.
    folds
        A digest of the tested parts of each repeat: equal ones may be paired.
    sizes
        Average numbers of training and tested graphs of a fold.
    chosen
        Options that differ between folds, because inner validation chose them: name → value of each fold.
    seconds
        Of all trainings together, one thread each, candidates of a search included.
    """

    row: str
    dataset: str
    method: str
    protocol: str
    seed: int
    status: str
    options: dict[str, Any]
    repeats: int
    folds: list[str]
    sizes: list[float]
    majority_rate: float | None
    accuracies: dict[str, list[list[float]]]
    epochs: dict[str, list[int]]
    chosen: dict[str, list[Any]]
    sentinels: dict[str, str]
    seconds: float
    versions: dict[str, str]

    @property
    def name(self) -> str:
        """Of its file, below the folder of all records."""
        return f"{self.protocol}/{self.dataset}/{self.row}.json"

    def table(self, number: str) -> np.ndarray | None:
        """(repeats, folds) accuracies in percent; None where the run has none of that kind."""
        return 100 * np.array(self.accuracies[number]) if number in self.accuracies else None


def record_of(task: Task, run: RunDir) -> Record | None:
    """The record of a task's run; None while it is not finished."""
    if not is_finished(run):
        return None
    results = run.results
    config, environment = run.config, run.read_json(ENVIRONMENT) or {}
    finished = results["status"] == COMPLETE
    return Record(
        row=task.row,
        dataset=config["dataset"],
        method=config["method"],
        protocol=config["protocol"],
        seed=config["seed"],
        status=results["status"],
        options=config["options"],
        repeats=config["repeats"],
        folds=_digests(run),
        sizes=[results["graphs"]["train"], results["graphs"]["test"]],
        majority_rate=results["majority_rate"],
        accuracies=_rounded({n: v["fold_accuracies"] for n, v in results["numbers"].items()}) if finished else {},
        epochs=results["epochs"]["chosen"] if finished else {},
        chosen=_chosen(results) if finished else {},
        sentinels={s["name"]: f"{s['trainings']} of {s['of']} trainings" for s in results["sentinels"]},
        seconds=round(seconds_of(run), 1),
        versions=environment.get("versions", {}),
    )


def is_finished(run: RunDir) -> bool:
    """Whether nothing is left to do: all trainings are over, or the time budget has ended them."""
    results = run.read_json(RESULTS)
    return results is not None and results["status"] in (COMPLETE, TIMEOUT)


def seconds_of(run: RunDir) -> float:
    """Time of all trainings of a run together."""
    return sum((run.read_json(TIMINGS) or {}).get("seconds", {}).values())


def _rounded(tables: dict[str, Any]) -> dict[str, Any]:
    return {name: [[round(value, 6) for value in row] for row in rows] for name, rows in tables.items()}


def _digests(run: RunDir) -> list[str]:
    stored = run.read_json(FOLDS)
    if stored is None:
        return []
    parts = [stored["test"], *stored.get("further_repeats", [])]
    digests = [sha256(json.dumps(part).encode()).hexdigest()[:16] for part in parts]
    return digests if len(digests) == run.config["repeats"] else digests[:1] * run.config["repeats"]


def _chosen(results: dict[str, Any]) -> dict[str, list[Any]]:
    folds = results["folds"]
    names = sorted({name for fold in folds for name in fold["options"]})
    values = {name: [fold["options"].get(name) for fold in folds] for name in names}
    return {name: of for name, of in values.items() if any(v != results["options"].get(name) for v in of)}


def collect(tasks: Iterable[Task], runs: Path, records: Path) -> tuple[list[Path], list[Task]]:
    """Write the records of finished tasks; returns the files, and the tasks that are not finished."""
    written, missing = [], []
    for task in tasks:
        # without a run nothing needs to be prepared, nor the dataset to be at hand
        begun = (runs / task.dataset).is_dir()
        record = record_of(task, RunDir(prepare(task.config(runs)).path)) if begun else None
        if record is None:
            missing.append(task)
        else:
            fields = (f"  {json.dumps(name)}: {json.dumps(value)}" for name, value in asdict(record).items())
            written.append(write_whole(records / record.name, "{\n" + ",\n".join(fields) + "\n}\n"))
    return written, missing


def read_records(folder: Path) -> list[Record]:
    """All records below a folder."""
    paths = sorted(folder.glob("*/*/*.json"))
    if not paths:
        raise RunError(f"there are no records below '{folder}'. tools/reproduce_tables.py writes them.")
    return [_read(path) for path in paths]


def _read(path: Path) -> Record:
    try:
        return Record(**json.loads(path.read_text(encoding="utf-8")))
    except (ValueError, TypeError) as problem:
        raise RunError(f"'{path}' is not a record of a run: {problem}") from problem


def find(records: Sequence[Record], row: str, dataset: str, protocol: str) -> Record | None:
    """The record of one cell."""
    wanted = (row, dataset, protocol)
    return next((record for record in records if (record.row, record.dataset, record.protocol) == wanted), None)


def in_order_of_the_plan(records: Sequence[Record]) -> Iterator[Record]:
    """The records of what is planned."""
    for task in PLAN:
        record = find(records, task.row, task.dataset, task.protocol)
        if record is not None:
            yield record
