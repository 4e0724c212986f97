"""From what a user asks for to what will be done: everything is checked before anything is written or trained."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from spgnn_dgl.data.audit.twins import twin_groups
from spgnn_dgl.data.fold_files import load_folds
from spgnn_dgl.data.folds import Folds
from spgnn_dgl.data.load import load_dataset
from spgnn_dgl.data.store import GraphDataset
from spgnn_dgl.errors import OptionError
from spgnn_dgl.evaluation.choices import candidate_epochs
from spgnn_dgl.evaluation.protocols import PROTOCOLS, Plan, Protocol
from spgnn_dgl.methods import METHODS, make_method
from spgnn_dgl.methods.budget import parse_budget
from spgnn_dgl.paper import preset
from spgnn_dgl.registry import check_options
from spgnn_dgl.runs import run_path

log = logging.getLogger("spgnn_dgl")


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
        :func:`spgnn_dgl.data.audit.twins.twin_groups`.
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
    jobs, backend, address
        Trainings at a time, what runs them (``"loky"``, ``"ray"``, ``"dask"``), and where the cluster is.
    force
        Start over; what is there is moved aside.
    checkpoints
        Whether to keep the models of the folds, for prediction with their ensemble.
    tensorboard
        Whether to write TensorBoard event files too.

    Examples
    --------
    >>> import spgnn_dgl as sp, tempfile
    >>> config = sp.RunConfig("MOTIFS", folds=3, epochs=(1, 2), out=tempfile.mkdtemp())
    >>> sp.run(config).results["status"]
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
    address: str | None = None
    force: bool = False
    checkpoints: bool = True
    tensorboard: bool = False


@dataclass(frozen=True)
class Prepared:
    """A checked configuration with its data, its folds and its place.

    `identity` is what decides the results: the content of ``config.json``.
    """

    data: GraphDataset
    protocol: Protocol
    plan: Plan
    identity: dict[str, Any]
    path: Path


def prepare(config: RunConfig) -> Prepared:
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
        "fingerprint": fingerprint_of(data),
        "num_graphs": len(data),
        "class_names": list(data.meta.class_names),
        "method": name,
        "options": options,
        "search": {key: list(values) for key, values in search.items()},
        "protocol": protocol_name,
        "num_folds": len(splits[0]),
        "folds": _folds_digest(splits),
        "folds_source": splits[0].source,
        "shared_folds": shares_folds(splits),
        "repeats": repeats,
        "epochs": list(epochs),
        "seed": config.seed,
    }
    changed = {**config.options, **({"budget": options["budget"]} if "budget" in options else {}), **search}
    if config.group_twins:
        changed["group_twins"] = True
    path = run_path(config.out, data.name, name, changed, protocol_name, config.seed)
    _check_recordable(identity["options"], identity["search"])
    return Prepared(data, protocol, plan, identity, path)


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


def _check_recordable(*settings: Mapping[str, Any]) -> None:
    """Refuse options that no file can hold: a run must be able to say what it was."""
    for key, value in (item for options in settings for item in options.items()):
        try:
            json.dumps(value)
        except TypeError:
            raise OptionError(
                f"option {key}={value!r} cannot be written to a file, so the run could not be repeated or resumed. "
                "Give a number or a text; what is your own can be registered under a name."
            ) from None


def fingerprint_of(data: GraphDataset) -> str:
    """Of the graphs that take part: a view of some graphs is other data than the whole, or than another view."""
    if data.is_whole:
        return data.fingerprint
    return sha256(data.fingerprint.encode() + np.ascontiguousarray(data.members, dtype=np.int64).tobytes()).hexdigest()


def _folds_digest(splits: Sequence[Folds]) -> str:
    """Short hash of all different folds: runs with equal ones may be paired."""
    parts = [[fold.test.tolist() for fold in folds] for folds in (splits[:1] if shares_folds(splits) else splits)]
    return sha256(json.dumps(parts).encode()).hexdigest()[:16]


def shares_folds(splits: Sequence[Folds]) -> bool:
    """Whether all repeats use the same folds (a single one does)."""
    return all(folds is splits[0] for folds in splits)
