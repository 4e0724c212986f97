"""Run the plan, or say how long it would take."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from spgnn_dgl.data.store import GraphDataset
from spgnn_dgl.errors import OptionError, SpgnnError
from spgnn_dgl.evaluation.planning import Prepared, prepare
from spgnn_dgl.evaluation.units import one_thread
from spgnn_dgl.experiment import run
from spgnn_dgl.methods import METHODS, make_method
from spgnn_dgl.reproduction.plan import Task
from spgnn_dgl.reproduction.records import is_finished, seconds_of
from spgnn_dgl.runs import RunDir

log = logging.getLogger("spgnn_dgl")

SAMPLE = 100  # graphs that a method without epochs is tried on
TRIAL_EPOCHS = 2


@dataclass(frozen=True)
class Expectation:
    """What a task will take, or took: seconds of one core, and how that is known."""

    task: Task
    seconds: float
    done: bool
    how: str


def run_tasks(
    tasks: Sequence[Task], runs: Path, *, jobs: int, folds: Path | None, say: Callable[[str], None]
) -> list[tuple[Task, str]]:
    """Run what is not finished yet, one task after the other; returns those that failed, with the reason."""
    failed = []
    for number, task in enumerate(tasks, 1):
        start = time.perf_counter()
        try:
            if task.protocol == "fair" and folds is None:
                raise OptionError(
                    "its table is made with published folds: --folds FOLDER names a folder with "
                    f"{task.dataset}.json. docs/results.md says where they are published."
                )
            results = run(task.config(runs, jobs=jobs, folds=folds)).results
        except SpgnnError as problem:
            say(f"[{number}/{len(tasks)}] {task}: {problem}")
            failed.append((task, str(problem)))
            continue
        numbers = ", ".join(f"{name} {100 * v['accuracy']['mean']:.2f}" for name, v in results["numbers"].items())
        say(f"[{number}/{len(tasks)}] {task}: {results['status']} {numbers} ({time.perf_counter() - start:.0f} s)")
    return failed


def expect(tasks: Sequence[Task], runs: Path, folds: Path | None) -> Iterator[Expectation]:
    """The time of each task from a short calibration; of a finished one, the time it took."""
    for task in tasks:
        prepared = prepare(task.config(runs, folds=folds))
        folder = RunDir(prepared.path)
        if is_finished(folder):
            yield Expectation(task, seconds_of(folder), True, "finished")
        else:
            yield Expectation(task, *_calibrate(prepared))


def _calibrate(prepared: Prepared) -> tuple[float, bool, str]:
    plan, data, protocol = prepared.plan, prepared.data, prepared.protocol
    candidates = protocol.select_units(plan, data)
    any_choice = {(unit.repeat, unit.fold): unit.options for unit in candidates}
    finals = protocol.final_units(plan, data, any_choice)
    trainings = len(candidates) + sum(unit.same_as is None for unit in finals)
    method, train = METHODS.get(plan.method), plan.splits[0][0].train
    options = dict(plan.options)
    with one_thread():
        if method.has_epochs:
            options |= {"epochs": TRIAL_EPOCHS}
            options.pop("patience", None)
            seconds, epochs = _fit(plan.method, options, data.subset(train))
            seconds += epochs[-1] * max(plan.epochs) - sum(epochs)  # the first one is slower: everything is new
            return seconds * trainings, False, f"{TRIAL_EPOCHS} epochs, {trainings} trainings"
        sample = train[np.linspace(0, len(train) - 1, min(SAMPLE, len(train))).astype(int)]
        seconds, _ = _fit(plan.method, options, data.subset(sample))
    if method.kind == "kernel":  # one matrix for all folds
        whole = seconds * (len(data) / len(sample)) ** 2
        whole = min(whole, float(options.get("budget") or np.inf))
        return whole, False, f"{len(sample)} graphs, growing with the square"
    return seconds * len(train) / len(sample) * trainings, False, f"{len(sample)} graphs, {trainings} trainings"


def _fit(name: str, options: dict[str, object], data: GraphDataset) -> tuple[float, list[float]]:
    """Seconds of a fit, and of each of its epochs."""
    start = time.perf_counter()
    method = make_method(name, options)
    method.fit(data, seed=0)
    return time.perf_counter() - start, [record.seconds for record in method.history]
