"""What is explained: graphs, and for each graph the fitted model that speaks about it.

Of a run folder every graph is explained by the model of the fold in which it was tested, so that nothing is shown on
graphs that the model was trained on. A model file does not know what it was trained on, and says so.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from spgnn_dgl.data.arrays import UNKNOWN_CLASS
from spgnn_dgl.data.load import load_dataset
from spgnn_dgl.data.store import GraphDataset
from spgnn_dgl.errors import DatasetError, DatasetNotFoundError, OptionError, RunError, UnknownNameError
from spgnn_dgl.explain.selection import Pooled, pooled
from spgnn_dgl.methods.base import Method
from spgnn_dgl.modelfile import load_model
from spgnn_dgl.runs import CHECKPOINTS, ENVIRONMENT, RunDir

log = logging.getLogger("spgnn_dgl")


@dataclass(frozen=True, eq=False)
class Part:
    """A fitted method and the positions of the graphs it speaks about."""

    method: Method
    graphs: np.ndarray  # (g,)
    history: list[dict[str, Any]] = field(default_factory=list)


@dataclass(frozen=True, eq=False)
class Subject:
    """Graphs and the models that explain them. Made by :func:`open_subject`, or by hand in a program.

    Parameters
    ----------
    data
        The whole dataset.
    parts
        Models with their graphs; no graph is in two parts.
    class_names
        Names of the models' classes.
    held_out
        Whether no model was trained on its graphs; None where that is not known.
    """

    title: str
    data: GraphDataset
    parts: tuple[Part, ...]
    class_names: tuple[str, ...]
    held_out: bool | None = None

    @property
    def graphs(self) -> np.ndarray:
        """(G,) positions of the explained graphs, part after part. All results come in this order."""
        return np.concatenate([part.graphs for part in self.parts])

    @property
    def explained(self) -> GraphDataset:
        """The explained graphs, in the order of `graphs`."""
        return self.data.subset(self.graphs)

    @property
    def labels(self) -> np.ndarray:
        """(G,) classes of the graphs as the models count them, -1 where the class is not known to them."""
        code = {name: number for number, name in enumerate(self.class_names)}
        own = np.array([code.get(name, UNKNOWN_CLASS) for name in self.data.meta.class_names] + [UNKNOWN_CLASS])
        return own[self.data.labels[self.graphs]]  # an unknown class is -1, the last entry

    def of(self, graphs: Sequence[int] | np.ndarray) -> Subject:
        """The same models on some of the graphs."""
        unknown = np.setdiff1d(graphs, self.graphs)
        if len(unknown):
            raise OptionError(
                f"graph {unknown[0]} was asked for, but {self.title} explains the graphs {_range(self.graphs)}."
            )
        parts = (replace(part, graphs=part.graphs[np.isin(part.graphs, graphs)]) for part in self.parts)
        return replace(self, parts=tuple(part for part in parts if len(part.graphs)))

    def of_class(self, name: str) -> Subject:
        """The same models on the graphs of one class."""
        if name not in self.class_names:
            raise UnknownNameError(f"unknown class '{name}'. Known: {', '.join(self.class_names)}.")
        return self.of(self.graphs[self.labels == self.class_names.index(name)])

    def probabilities(self) -> np.ndarray:
        """(G, C) class probabilities."""
        return np.concatenate([part.method.predict_proba(self.data.subset(part.graphs)) for part in self.parts])

    def pooled(self) -> list[Pooled]:
        """What was pooled from each graph."""
        return [p for part in self.parts for p in pooled(part.method, self.data.subset(part.graphs))]


def open_subject(path: str | Path, data: GraphDataset | str | Path | None = None, *, repeat: int = 0) -> Subject:
    """The subject of a run folder or of a model file.

    Parameters
    ----------
    path
        A run folder (``spgnn train``) or a model file (``spgnn fit``, ``GraphClassifier.save``).
    data
        The graphs; default: the dataset the model was trained on, by its name.
    repeat
        Which cross-validation of a run with several.
    """
    path = Path(path)
    if path.is_dir():
        return _of_run(RunDir.open(path), data, repeat)
    if not path.exists():
        raise DatasetNotFoundError(
            f"there is neither a run folder nor a model file at '{path}'. `spgnn train DATASET` makes a run folder, "
            f"`spgnn fit DATASET --out {path}` a model file."
        )
    method, header = load_model(path)
    notes = header["notes"]
    found = _dataset(notes["dataset"], data, require_classes=False)
    parts = (Part(method, np.arange(len(found))),)
    return Subject(f"{header['method']} on {found.name}", found, parts, tuple(notes["class_names"]))


def _of_run(run: RunDir, data: GraphDataset | str | Path | None, repeat: int) -> Subject:
    config = run.config
    source = (run.read_json(ENVIRONMENT) or {}).get("dataset", {}).get("source", "")
    found = _dataset(config["dataset"], data, source=source)
    if found.fingerprint != config["fingerprint"]:
        raise DatasetError(
            f"{found.name} is not the data of '{run.path}': its fingerprint is {found.fingerprint[:12]}, the run's is "
            f"{config['fingerprint'][:12]}. Name the data of the run with --data."
        )
    parts = []
    for fold in range(config["num_folds"]):
        checkpoint = _checkpoint(run, repeat, fold)
        record = run.unit(f"final-r{repeat:02d}-f{fold:02d}")
        if checkpoint is not None and record is not None:
            method, _ = load_model(checkpoint)
            parts.append(Part(method, np.asarray(record["graphs"]), record["history"]))
    if not parts:
        raise RunError(
            f"'{run.path}' has no models in {CHECKPOINTS}/ for repeat {repeat}: nothing can be explained. Train it "
            "without --no-checkpoints, or wait until a fold is finished."
        )
    if len(parts) < config["num_folds"]:
        log.warning(
            "%s: %d of %d folds have a model; the graphs of the others are left out",
            run.path,
            len(parts),
            config["num_folds"],
        )
    return Subject(
        f"{config['method']} on {found.name}", found, tuple(parts), tuple(config["class_names"]), held_out=True
    )


def _checkpoint(run: RunDir, repeat: int, fold: int) -> Path | None:
    """The model of a fold; of a run that is not finished, the one trained longest."""
    found = (run.path / CHECKPOINTS).glob(f"r{repeat:02d}-f{fold:02d}-epoch*.safetensors")
    return max(found, key=lambda path: int(re.findall(r"\d+", path.stem)[-1]), default=None)


def _dataset(
    name: str, given: GraphDataset | str | Path | None, *, source: str = "", require_classes: bool = True
) -> GraphDataset:
    """The given dataset, else the one of that name, else the one at the place it was read from."""
    if isinstance(given, GraphDataset):
        return given
    if given is not None:
        return load_dataset(given, require_classes=require_classes)
    try:
        return load_dataset(name, require_classes=require_classes)
    except DatasetNotFoundError:
        if source and Path(source).exists():
            return load_dataset(Path(source), require_classes=require_classes)
        raise


def _range(graphs: np.ndarray) -> str:
    return f"{graphs.min()} to {graphs.max()}" if len(graphs) == np.ptp(graphs) + 1 else "of its tested folds"
