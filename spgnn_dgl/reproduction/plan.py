"""Everything that is run to reproduce the paper's tables, as data."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol, TypeVar

from spgnn_dgl.errors import OptionError
from spgnn_dgl.evaluation.planning import RunConfig
from spgnn_dgl.registry import did_you_mean

FAIR = ("PROTEINS", "NCI1", "DD", "IMDB-BINARY", "IMDB-MULTI")
FLOORS = ("majority", "fingerprint")
KERNELS = ("wl", "sp", "gk", "pk", "rw")
EMBEDDINGS = ("graph2vec", "dgk", "pscn")
ABLATIONS = ("arch1", "arch2")
NETWORKS = ("dgcnn", "gin", "gat", "dcnn", "sagpool", "sagpool-global", "gpool")
VARIANTS: Mapping[str, tuple[str, Mapping[str, Any]]] = {"sagpool-global": ("sagpool", {"variant": "global"})}
SETTLED = ("spgnn", "dgcnn")  # methods whose k and learning rate were settled
RATES = (0.001, 0.0003, 0.0001)  # learning rates that a search compares
REPEATS = {"PTC": 10}  # of spgnn where cross-validations are cheap, else 3; on PTC they differ by more than a point
BUDGET = "30m"  # for a training of a method that can keep to one; the paper's "> 3 days"


@dataclass(frozen=True)
class Task:
    """One run: a row's cell of a table.

    Parameters
    ----------
    row
        Name of the row: a method, or a variant of one.
    protocol, repeats, options, search
        As in :class:`~spgnn_dgl.evaluation.planning.RunConfig`.
    """

    row: str
    dataset: str
    protocol: str = "paper"
    repeats: int = 1
    options: Mapping[str, Any] = field(default_factory=dict)
    search: Mapping[str, Sequence[Any]] = field(default_factory=dict)

    @property
    def method(self) -> str:
        return VARIANTS[self.row][0] if self.row in VARIANTS else self.row

    @property
    def words(self) -> frozenset[str]:
        """What ``--only`` may name it by."""
        return frozenset((self.row, self.dataset, self.protocol))

    def __str__(self) -> str:
        return f"{self.row} on {self.dataset}, {self.protocol}"

    def config(self, out: Path, *, jobs: int = 1, folds: Path | None = None) -> RunConfig:
        """The experiment; `folds` is the folder of stored folds that the fair protocol uses."""
        stored = None
        if self.protocol == "fair" and folds is not None:
            stored = folds / f"{self.dataset}.json"
        return RunConfig(
            self.dataset,
            self.method,
            options={**VARIANTS.get(self.row, ("", {}))[1], **self.options},
            search=self.search,
            protocol=self.protocol,
            repeats=self.repeats,
            folds_file=stored,
            budget=BUDGET if self.method in KERNELS else None,
            out=out,
            jobs=jobs,
            checkpoints=False,
        )


def _tasks() -> Iterable[Task]:
    """In the order of their worth: what is cheap and compares most comes first."""
    for dataset in ("MUTAG", "PTC", "IMDB-MULTI"):
        yield Task("spgnn", dataset, repeats=REPEATS.get(dataset, 3))
        for row in (*FLOORS, *KERNELS, *ABLATIONS, *NETWORKS, *EMBEDDINGS):
            yield Task(row, dataset)
    for dataset in ("IMDB-BINARY", "PROTEINS"):
        yield Task("spgnn", dataset, repeats=3)
        for row in ABLATIONS:
            yield Task(row, dataset)
    yield Task("spgnn", "NCI1")
    for dataset in ("IMDB-BINARY", "PROTEINS"):
        for row in (*FLOORS, *KERNELS, *NETWORKS, *EMBEDDINGS):
            yield Task(row, dataset)
    for row in ("fingerprint", "gin", "dgcnn", "spgnn"):
        for dataset in FAIR:
            # what was settled on a dataset has seen the graphs that are tested here: it is chosen anew in every fold
            anew: Mapping[str, Any] = {"options": {"k": "auto"}, "search": {"lr": RATES}} if row in SETTLED else {}
            yield Task(row, dataset, protocol="fair", repeats=3, **anew)
    for dataset in ("DD", "COLLAB", "REDDIT-MULTI-5K"):
        yield Task("spgnn", dataset)
    for row in (*FLOORS, *KERNELS, *NETWORKS, *EMBEDDINGS):
        yield Task(row, "NCI1")
    for dataset in ("DD", "COLLAB"):
        for row in (*ABLATIONS, "dgcnn"):
            yield Task(row, dataset)
    for dataset in ("DD", "COLLAB", "REDDIT-MULTI-5K"):
        for row in (*FLOORS, *KERNELS, *NETWORKS, *EMBEDDINGS):
            if (row, dataset) not in {("dgcnn", "DD"), ("dgcnn", "COLLAB")}:
                yield Task(row, dataset)


PLAN: tuple[Task, ...] = tuple(_tasks())
"""All runs, each once, in the order in which they are started."""


class Named(Protocol):
    """What ``--only`` can name."""

    @property
    def words(self) -> frozenset[str]: ...


Part = TypeVar("Part", bound=Named)


def matching(only: Sequence[str], plan: Sequence[Part]) -> list[Part]:
    """The tasks, or grids, that every part of `only` names by one of its words.

    >>> [str(task) for task in matching(["spgnn,gin", "MUTAG"], PLAN)]
    ['spgnn on MUTAG, paper', 'gin on MUTAG, paper']
    """
    known = sorted({word for task in plan for word in task.words})
    parts = [{word.strip() for word in part.split(",")} for part in only]
    for word in (word for part in parts for word in part):
        if word not in known:
            raise OptionError(
                f"'{word}' names no part of the plan.{did_you_mean(word, known)} Known: {', '.join(known)}."
            )
    return [task for task in plan if all(part & task.words for part in parts)]
