"""A whole experiment: ``run(RunConfig("MUTAG"))`` is ``spgnn train MUTAG``."""

from __future__ import annotations

import contextlib
import logging
import os
import platform
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from spgnn_dgl._dgl import installed_version
from spgnn_dgl.data.audit.findings import findings
from spgnn_dgl.data.audit.report import audit
from spgnn_dgl.data.store import GraphDataset
from spgnn_dgl.evaluation.choices import choose
from spgnn_dgl.evaluation.parallel import check_parallel, run_units
from spgnn_dgl.evaluation.planning import Prepared, RunConfig, prepare, shares_folds
from spgnn_dgl.evaluation.progress import Progress, watching
from spgnn_dgl.evaluation.protocols import Plan
from spgnn_dgl.evaluation.units import FINAL, SELECT, Unit
from spgnn_dgl.methods import METHODS
from spgnn_dgl.report import write_report
from spgnn_dgl.report.tensorboard import write_events
from spgnn_dgl.runs import ENVIRONMENT, FOLDS, REPORT, RunDir

__all__ = ["Run", "RunConfig", "prepare", "remake", "remarks", "run", "search"]

log = logging.getLogger("spgnn_dgl")

PACKAGES = ("spgnn_dgl", "torch", "dgl", "numpy", "scipy", "scikit-learn", "joblib")
AUDITED_NODES = 20_000_000  # up to which a dataset is audited before every training: some GB of memory
LAYERS = 4  # rounds of message passing that remarks speak of where a method does not say how many it has


@dataclass(frozen=True)
class Run:
    """A finished experiment: its folder, its report, and the content of ``results.json``."""

    path: Path
    report: Path
    figures: tuple[Path, ...]
    results: dict[str, Any]


def run(config: RunConfig, progress: Progress | None = None) -> Run:
    """Run an experiment, or what is left of it, and write its report.

    Finished trainings are found in the run folder and never repeated. The results do not depend on `jobs`.

    Parameters
    ----------
    progress
        Hears of every training; default: silence.
    """
    progress = progress or Progress()
    with _begun(config, progress) as (folder, prepared):
        chosen = choose(_compare(folder, prepared, config, progress))
        finals = prepared.protocol.final_units(prepared.plan, prepared.data, chosen)
        _run_stage(folder, FINAL, finals, prepared.data, config, progress)
        return remake(folder, tensorboard=config.tensorboard)


def search(config: RunConfig, progress: Progress | None = None) -> Path:
    """Only compare the candidates of an experiment, on inner validation; its tested folds take no part.

    Returns
    -------
    Path
        The run folder, from which :func:`run` goes on.
    """
    progress = progress or Progress()
    with _begun(config, progress) as (folder, prepared):
        _compare(folder, prepared, config, progress)
        return folder.path


@contextlib.contextmanager
def _begun(config: RunConfig, progress: Progress) -> Iterator[tuple[RunDir, Prepared]]:
    """The run folder, held until the end of the block, and what is to be done in it."""
    check_parallel(config.jobs, config.backend, config.address)
    prepared = prepare(config)
    folder = RunDir.start(prepared.path, prepared.identity, force=config.force)
    try:
        progress.open(folder.path)
        _write_beginning(folder, prepared, remarks(prepared.data, prepared.plan))
        yield folder, prepared
    finally:
        folder.close()


def _compare(folder: RunDir, prepared: Prepared, config: RunConfig, progress: Progress) -> list[dict[str, Any]]:
    """Records of all candidates, trained where they were not yet."""
    candidates = prepared.protocol.select_units(prepared.plan, prepared.data)
    _run_stage(folder, SELECT, candidates, prepared.data, config, progress)
    return [record for unit in candidates if (record := folder.unit(unit.name)) is not None]


def remake(folder: RunDir, *, tensorboard: bool = False) -> Run:
    """Make everything that a run folder shows from its records, without training."""
    figures = write_report(folder)
    if tensorboard:
        write_events(folder)
    return Run(folder.path, folder.path / REPORT, tuple(figures), folder.results)


def _run_stage(
    folder: RunDir, stage: str, units: Sequence[Unit], data: GraphDataset, config: RunConfig, progress: Progress
) -> None:
    pending = [unit for unit in units if folder.unit(unit.name) is None]
    if not units:
        return
    with watching(folder, stage, units, progress):
        run_units(
            pending,
            data,
            folder.path,
            jobs=config.jobs,
            backend=config.backend,
            address=config.address,
            checkpoints=config.checkpoints,
            heartbeat=progress.wants_epochs,
        )


def remarks(data: GraphDataset, plan: Plan) -> list[str]:
    """What to know of the data before a training, also told in the log; empty when there is nothing to say."""
    num_nodes = int(data.node_counts.sum())
    if num_nodes > AUDITED_NODES:
        text = f"{num_nodes:,} nodes are too many to look for twins at every start; `spgnn audit` does it once."
        log.warning("%s: %s", data.name, text)
        return [text]
    method = METHODS.get(plan.method)
    settings = {**method.options(), **plan.options}
    layers, features = settings.get("layers"), settings.get("features")
    report = audit(
        data,
        layers if isinstance(layers, int) else LAYERS,
        plan.splits[0],
        features=features if isinstance(features, str) else "auto",
        exact=False,
    )
    found = [
        finding.text
        for finding in findings(report)
        if finding.before_training and (finding.name != "ceiling" or method.kind == "gnn")
    ]
    for text in found:
        log.warning("%s: %s", data.name, text)
    return found


def _write_beginning(folder: RunDir, prepared: Prepared, remarks: Sequence[str]) -> None:
    splits = prepared.plan.splits
    if folder.read_json(FOLDS) is None:
        further = [] if shares_folds(splits) else splits[1:]
        content = splits[0].to_json()
        content["further_repeats"] = [[fold.test.tolist() for fold in folds] for folds in further]
        folder.write_json(FOLDS, content)
    now = _environment(prepared.data, remarks)
    before = folder.read_json(ENVIRONMENT)
    if before is None:
        folder.write_json(ENVIRONMENT, now)
    elif before.get("versions") != now["versions"]:
        log.warning("%s was begun with other versions; %s notes both", folder.path, ENVIRONMENT)
        before.setdefault("resumed_with", []).append(now["versions"])
        folder.write_json(ENVIRONMENT, before)


def _environment(data: GraphDataset, remarks: Sequence[str]) -> dict[str, Any]:
    return {
        "versions": {name: installed_version(name) for name in PACKAGES} | {"python": platform.python_version()},
        "machine": {
            "system": platform.platform(),
            "processor": platform.processor() or platform.machine(),
            "cores": os.cpu_count(),
        },
        "command": sys.argv,
        "dataset": {
            "name": data.name,
            "fingerprint": data.fingerprint,
            "source": data.meta.source,
            "remarks": list(remarks),
        },
    }
