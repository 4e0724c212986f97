"""A whole experiment: ``run(RunConfig("MUTAG"))`` is ``spgnn train MUTAG``."""

from __future__ import annotations

import json
import logging
import os
import platform
import sys
from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any

from spgnn_dgl._dgl import installed_version
from spgnn_dgl.data.audit import audit
from spgnn_dgl.data.findings import findings
from spgnn_dgl.data.fold_files import load_folds
from spgnn_dgl.data.folds import Folds
from spgnn_dgl.data.load import load_dataset
from spgnn_dgl.data.store import GraphDataset
from spgnn_dgl.data.twins import twin_groups
from spgnn_dgl.errors import OptionError
from spgnn_dgl.evaluation.parallel import check_parallel, run_units
from spgnn_dgl.evaluation.progress import Progress, watching
from spgnn_dgl.evaluation.protocols import PROTOCOLS, Plan, Protocol, candidate_epochs, choose
from spgnn_dgl.evaluation.units import FINAL, SELECT, Unit
from spgnn_dgl.methods import METHODS, make_method
from spgnn_dgl.methods.budget import parse_budget
from spgnn_dgl.paper import preset
from spgnn_dgl.registry import check_options
from spgnn_dgl.report import write_report
from spgnn_dgl.report.tensorboard import write_events
from spgnn_dgl.runs import ENVIRONMENT, FOLDS, REPORT, RunDir, run_path

log = logging.getLogger("spgnn_dgl")

PACKAGES = ("spgnn_dgl", "torch", "dgl", "numpy", "scipy", "scikit-learn", "joblib")
LAYERS = 4  # rounds of message passing that remarks speak of where a method does not say how many it has


@dataclass(frozen=True)
class RunConfig:
    """What an experiment is.

    Parameters
    ----------
    dataset
        A name or path for :func:`spgnn_dgl.load_dataset`, or a dataset.
    method, options
        A method and what differs from its defaults.
    protocol
        ``"paper"`` or ``"fair"``; see :mod:`spgnn_dgl.evaluation.protocols`.
    folds, folds_file
        Number of stratified folds, or a file with stored ones.
    group_twins
        Keep graphs that no message-passing network can tell apart in the same fold; see
        :func:`spgnn_dgl.data.twins.twin_groups`.
    repeats
        ``paper``: whole cross-validations, each with folds of its own (default 1). ``fair``: final trainings per
        fold (default 3).
    epochs
        Candidate epochs; default: those of the method.
    search
        Options to search on inner validation: name → candidates.
    seed
        Of folds, initial weights, shuffling and dropout.
    preset
        Whether the options that :func:`spgnn_dgl.paper.preset` names for this dataset apply where none are given.
    budget
        Time that a training may take, in seconds or as ``"30m"``, for methods with the option `budget`.
    out
        Folder of all runs.
    jobs, backend
        Trainings at a time, and what runs them: ``"loky"``, ``"ray"``, ``"dask"``.
    force
        Start over; what is there is moved aside.
    checkpoints
        Whether to keep the models of the folds, for prediction with their ensemble.
    tensorboard
        Whether to write TensorBoard event files too.

    Examples
    --------
    >>> import tempfile
    >>> config = RunConfig("MOTIFS", folds=3, epochs=(1, 2), out=tempfile.mkdtemp())
    >>> run(config).results["status"]
    'complete'
    """

    dataset: str | Path | GraphDataset
    method: str = "spgnn"
    _: KW_ONLY
    options: Mapping[str, Any] = field(default_factory=dict)
    protocol: str = "paper"
    folds: int = 10
    folds_file: str | Path | None = None
    group_twins: bool = False
    repeats: int | None = None
    epochs: Sequence[int] | None = None
    search: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    seed: int = 0
    preset: bool = True
    budget: float | str | None = None
    out: str | Path = "runs"
    jobs: int = 1
    backend: str = "loky"
    force: bool = False
    checkpoints: bool = True
    tensorboard: bool = False


@dataclass(frozen=True)
class Run:
    """A finished experiment: its folder, its report, and the content of ``results.json``."""

    path: Path
    report: Path
    figures: tuple[Path, ...]
    results: dict[str, Any]


@dataclass(frozen=True)
class _Prepared:
    """A checked configuration with its data and folds."""

    data: GraphDataset
    protocol: Protocol
    plan: Plan
    identity: dict[str, Any]
    path: Path


def run(config: RunConfig, progress: Progress | None = None) -> Run:
    """Run an experiment, or what is left of it, and write its report.

    Finished trainings are found in the run folder and never repeated. The results do not depend on `jobs`.

    Parameters
    ----------
    progress
        Hears of every training; default: silence.
    """
    progress = progress or Progress()
    check_parallel(config.jobs, config.backend)
    prepared = prepare(config)
    folder = RunDir.start(prepared.path, prepared.identity, force=config.force)
    try:
        _write_beginning(folder, prepared, remarks(prepared.data, prepared.plan))
        plan, data = prepared.plan, prepared.data
        candidates = prepared.protocol.select_units(plan, data)
        _run_stage(folder, SELECT, candidates, data, config, progress)
        chosen = choose([record for unit in candidates if (record := folder.unit(unit.name)) is not None])
        finals = prepared.protocol.final_units(plan, data, chosen)
        _run_stage(folder, FINAL, finals, data, config, progress)
        return remake(folder, tensorboard=config.tensorboard)
    finally:
        folder.close()


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
            checkpoints=config.checkpoints,
            heartbeat=progress.wants_epochs,
        )


# ---- from what the user said to what will be done --------------------------------------------------------------------


def prepare(config: RunConfig) -> _Prepared:
    """Check everything before anything is written or trained."""
    method = METHODS.get(config.method)
    name = METHODS.canonical(config.method) or config.method
    protocol = PROTOCOLS.get(config.protocol)
    protocol_name = PROTOCOLS.canonical(config.protocol) or config.protocol
    known = method.options()
    check_options(f"method '{name}'", {**config.options, **config.search}, known)
    _check_search(config)
    data = config.dataset if isinstance(config.dataset, GraphDataset) else load_dataset(config.dataset)
    data.require_classes()

    options = {**(preset(name, data.name) if config.preset else {}), **config.options}
    if config.budget is not None:
        if "budget" in known:
            options["budget"] = parse_budget(config.budget)
        else:
            log.warning("method '%s' has no option 'budget'; it runs to its end", name)
    epochs = candidate_epochs(method, options, config.epochs)
    options = protocol.method_options(options, method.has_epochs, epochs)
    make_method(name, options)  # values that cannot be are told now
    repeats = protocol.default_repeats if config.repeats is None else config.repeats
    if repeats < 1:
        raise OptionError(f"repeats={repeats} was given; give 1 or more.")
    stored = None
    if config.folds_file is not None:
        if config.group_twins:
            raise OptionError("group_twins makes new folds, but a file with folds was given too; leave one out.")
        stored = load_folds(config.folds_file, len(data), allow_missing=True)
        stored.check_dataset(data)
    groups = twin_groups(data) if config.group_twins else None
    splits = protocol.splits(data, config.folds, repeats, config.seed, stored, groups)
    search = {key: tuple(values) for key, values in config.search.items()}
    plan = Plan(name, options, epochs, config.seed, splits, search, groups)
    identity = {
        "dataset": data.name,
        "fingerprint": data.fingerprint,
        "num_graphs": len(data),
        "class_names": list(data.meta.class_names),
        "method": name,
        "options": options,
        "search": {key: list(values) for key, values in search.items()},
        "protocol": protocol_name,
        "num_folds": len(splits[0]),
        "folds": _folds_digest(splits),
        "folds_source": splits[0].source,
        "shared_folds": _shared(splits),
        "repeats": repeats,
        "epochs": list(epochs),
        "seed": config.seed,
    }
    changed = {**config.options, **({"budget": options["budget"]} if "budget" in options else {}), **search}
    path = run_path(config.out, data.name, name, changed, protocol_name, config.seed)
    return _Prepared(data, protocol, plan, identity, path)


def _check_search(config: RunConfig) -> None:
    for key, values in config.search.items():
        if isinstance(values, str) or not len(values):
            raise OptionError(
                f"search of '{key}' needs a list of candidates, for example {key}=1,2; {values!r} was given."
            )
        if key in config.options:
            raise OptionError(f"'{key}' is both set to {config.options[key]!r} and searched; do one of the two.")
        if key in ("epochs", "threads", "device", "budget"):
            raise OptionError(f"'{key}' cannot be searched. (Candidate epochs are given with --epochs.)")
    if config.options.get("threads") not in (None, 1):
        raise OptionError("threads cannot be set in an experiment: each training uses one, and --jobs runs several.")


def _folds_digest(splits: Sequence[Folds]) -> str:
    """Short hash of all different folds: runs with equal ones may be paired."""
    parts = [[fold.test.tolist() for fold in folds] for folds in (splits[:1] if _shared(splits) else splits)]
    return sha256(json.dumps(parts).encode()).hexdigest()[:16]


def _shared(splits: Sequence[Folds]) -> bool:
    """Whether all repeats use the same folds (a single one does)."""
    return all(folds is splits[0] for folds in splits)


def remarks(data: GraphDataset, plan: Plan) -> list[str]:
    """What to know of the data before a training, also told in the log; empty when there is nothing to say."""
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


def _write_beginning(folder: RunDir, prepared: _Prepared, remarks: Sequence[str]) -> None:
    splits = prepared.plan.splits
    if folder.read_json(FOLDS) is None:
        further = [] if _shared(splits) else splits[1:]
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
