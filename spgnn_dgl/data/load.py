"""`load_dataset`: a dataset by name or path, wherever it is."""

from __future__ import annotations

import contextlib
import importlib.metadata
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from spgnn_dgl.data import catalogue
from spgnn_dgl.data.benchmarks import BENCHMARKS, find_benchmark
from spgnn_dgl.data.cache import cache_home
from spgnn_dgl.data.catalogue import DATASETS, data_home, normal_name
from spgnn_dgl.data.readers.dgcnn_text import looks_like_text_format
from spgnn_dgl.data.readers.formats import read_dataset, recognise
from spgnn_dgl.data.readers.graphs import as_dataset
from spgnn_dgl.data.readers.smiles import SUFFIXES as TABLES
from spgnn_dgl.data.readers.smiles import has_smiles
from spgnn_dgl.data.readers.sources import FolderSource
from spgnn_dgl.data.store import GraphDataset
from spgnn_dgl.errors import DatasetError, DatasetNotFoundError, SpgnnError
from spgnn_dgl.plugins import line_in, run_file
from spgnn_dgl.registry import did_you_mean

__all__ = ["DATASETS", "ENTRY_POINTS", "data_home", "known_datasets", "load_dataset"]

ENTRY_POINTS = "spgnn_dgl.datasets"
SUFFIXES = (".py", "", ".zip", ".txt", *TABLES)  # of what a data home holds, in the order of preference; "": a folder


def load_dataset(
    name: str | Path, *, data_home: str | Path | None = None, require_classes: bool = True
) -> GraphDataset:
    """A dataset by name or path.

    A path to a file or folder that exists is read. A name is looked up in the registry (embedded sets, and what was
    registered with ``@DATASETS.register``), among the entry points ``spgnn_dgl.datasets`` of installed packages, and
    in the data home: ``NAME.py`` with a function ``load()``, a folder ``NAME/``, ``NAME.zip``, ``NAME.txt`` or
    ``NAME.csv``.

    Parameters
    ----------
    name
        A name or an alias (case and ``- _ &`` do not count: ``"IMDB-M"``, ``"IMDBMULTI"`` and ``"IMDB-MULTI"`` are
        one), or the path of a TU folder or zip, a DGCNN text file, a CSV folder, a CSV file with a column of SMILES
        (``file.csv#column`` when several columns could be the class), a Python file with a function ``load()``, or a
        saved store.
    data_home
        Where datasets are; default ``$SPGNN_DATASETS``, else ``datasets``.
    require_classes
        Whether every graph must have a class and at least two classes must occur, as training needs. For
        prediction it is False.

    Examples
    --------
    >>> load_dataset("MOTIFS")
    GraphDataset('MOTIFS', 300 graphs, 3 classes)
    """
    home = catalogue.data_home(data_home)
    found = locate(name, home)
    if isinstance(found, Place):
        return read_dataset(
            found.path, require_classes=require_classes, cache_home=cache_home(home), label_column=found.column
        )
    data = found.dataset()
    if require_classes:
        data.require_classes()
    return data


@dataclass(frozen=True)
class Place:
    """A file or folder to read, and the column of a table that is named with it."""

    path: Path
    column: str | None = None


@dataclass(frozen=True)
class Maker:
    """A function that makes a dataset, or graphs; what goes wrong in it is told with its place."""

    make: Callable[[], Any]
    name: str
    where: str

    def __call__(self) -> Any:
        with self.told():
            return self.make()

    def dataset(self) -> GraphDataset:
        with self.told():
            made = self.make()
            return made if isinstance(made, GraphDataset) else as_dataset(made, name=self.name)

    @contextlib.contextmanager
    def told(self) -> Iterator[None]:
        try:
            yield
        except Exception as problem:
            if isinstance(problem, SpgnnError) and not self.where.endswith(".py"):
                raise
            line = line_in(problem, self.where)
            kind = "" if isinstance(problem, SpgnnError) else f"{type(problem).__name__}: "
            raise DatasetError(
                f"{self.where}{line}: {kind}{str(problem).rstrip('.')}. "
                "It must return a dataset, or graphs with their labels."
            ) from problem


def locate(name: str | Path, home: Path) -> Place | Maker:
    """Where a dataset is, by its name or path; see :func:`load_dataset`."""
    path, column = _as_path(name)
    if path is not None and path.suffix != ".py":
        return Place(path, column)
    name = str(name)
    registered = _registry()
    if path is not None:
        if not path.is_file():
            raise DatasetNotFoundError(f"{path} does not exist. Give the path of a dataset, or a dataset's name.")
        return Maker(lambda: _run_file(path), path.stem, str(path))
    if name in registered:
        return Maker(registered.get(name), registered.canonical(name) or name, f"the registered dataset '{name}'")
    entry = _entry_points().get(normal_name(name))
    if entry is not None:
        where = f"the dataset '{entry.name}' of the entry point {entry.value}"
        return Maker(lambda: entry.load()(), entry.name, where)
    place = _in_home(name, home)
    if place is None:
        raise DatasetNotFoundError(_not_found(name, home))
    if place.suffix == ".py":
        return Maker(lambda: _run_file(place), place.stem, str(place))
    return Place(place)


def known_datasets(data_home: str | Path | None = None) -> dict[str, str]:
    """Name → where it is, for every dataset that can be loaded without a download."""
    home = catalogue.data_home(data_home)
    found = {name: "registered" for name in _registry().names()}
    found |= {entry.name: f"entry point {entry.value}" for entry in _entry_points().values()}
    for place in _entries(home):
        if _holds_dataset(place):
            benchmark = find_benchmark(_stem(place))
            found.setdefault(benchmark.name if benchmark else _stem(place), str(place))
    return found


def _holds_dataset(place: Path) -> bool:
    """Whether a file or folder of the data home is a dataset, as far as can be told without reading it."""
    if place.is_file() and place.suffix in TABLES:
        return has_smiles(place)
    if place.is_file() and place.suffix != ".txt":
        return place.suffix in SUFFIXES
    try:
        if place.is_file():
            return looks_like_text_format(FolderSource(place.parent), place.name)
        return recognise(place) is not None
    except DatasetError:  # it says what is wrong when it is loaded
        return False


def _as_path(name: str | Path) -> tuple[Path | None, str | None]:
    """The path that is meant, or None when it is a name; and the column of a table that is named with it."""
    text, _, column = str(name).rpartition("#")
    if Path(text).suffix in TABLES:
        return Path(text).expanduser(), column
    path = Path(name).expanduser()
    if isinstance(name, Path) or os.sep in name or "/" in name or path.suffix in (".zip", ".txt", ".py", *TABLES):
        return path, None
    return path if path.exists() and recognise(path) is not None else None, None


def _registry() -> Any:
    from spgnn_dgl.data import builtin  # noqa: F401  (registers the embedded sets)

    return DATASETS


def _entry_points() -> dict[str, importlib.metadata.EntryPoint]:
    return {normal_name(entry.name): entry for entry in importlib.metadata.entry_points(group=ENTRY_POINTS)}


def _in_home(name: str, home: Path) -> Path | None:
    """The file or folder of the data home that carries the name or one of its aliases."""
    benchmark = find_benchmark(name)
    spellings = [name, *((benchmark.name, *benchmark.aliases) if benchmark else ())]
    keys = {normal_name(spelling) for spelling in spellings}
    matching = [p for p in _entries(home) if normal_name(_stem(p)) in keys and _kind(p) in SUFFIXES]
    matching.sort(key=lambda p: (SUFFIXES.index(_kind(p)), _stem(p) != name))
    return next((p for p in matching if _holds_dataset(p)), matching[0] if matching else None)


def _entries(home: Path) -> list[Path]:
    return [p for p in sorted(home.iterdir()) if not p.name.startswith((".", "__"))] if home.is_dir() else []


def _kind(path: Path) -> str:
    return "" if path.is_dir() else path.suffix


def _stem(path: Path) -> str:
    return path.name if path.is_dir() else path.stem


def _run_file(path: Path) -> Any:
    """What ``load()`` of a Python file returns."""
    load = getattr(run_file(path, "spgnn_dgl_datasets"), "load", None)
    if not callable(load):
        raise DatasetError("there is no function load() in this file")
    return load()


def _not_found(name: str, home: Path) -> str:
    benchmark = find_benchmark(name)
    wanted = benchmark.name if benchmark else name
    places = [
        f"registered datasets ({', '.join(DATASETS.names())})",
        f"entry points '{ENTRY_POINTS}' of installed packages",
        *(f"{home / wanted}{suffix or os.sep}" for suffix in SUFFIXES),
    ]
    near = ""
    if benchmark is None:
        spellings = [alias for _, known in BENCHMARKS for alias in (known.name, *known.aliases)]
        near = did_you_mean(name, [*spellings, *known_datasets(home)])
    state = "" if home.is_dir() else " (there is no such folder)"
    return (
        f"the dataset '{name}' was not found.{near} Looked at:\n"
        + "\n".join(f"  {place}" for place in places)
        + f"\nThe data home is {home}{state}; set it with --data-home or SPGNN_DATASETS. "
        f"A public dataset is fetched with: spgnn fetch {wanted}"
    )
