"""The dataset formats, how each is recognised, and which function reads it."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from spgnn_dgl.data import cache
from spgnn_dgl.data.benchmarks import with_known_facts
from spgnn_dgl.data.readers import csv_folder, dgcnn_text, smiles, tu
from spgnn_dgl.data.readers.sources import open_source
from spgnn_dgl.data.saved import is_store, open_store
from spgnn_dgl.data.store import GraphDataset
from spgnn_dgl.errors import DatasetError, DatasetNotFoundError

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Format:
    """One way to write a dataset down.

    Parameters
    ----------
    title
        What it is called in messages.
    version
        Raised when the reader's result changes: caches of older versions are then rebuilt.
    recognise
        Whether a path (that exists) is in this format.
    read
        ``read(path, require_classes)``.
    """

    title: str
    version: int
    recognise: Callable[[Path], bool]
    read: Callable[[Path, bool], GraphDataset]


def _is_text(path: Path) -> bool:
    return path.suffix == ".txt" or (_is_archive(path) and dgcnn_text.find_text(open_source(path)) is not None)


def _is_archive(path: Path) -> bool:
    return path.is_dir() or path.suffix == ".zip"


STORE = Format("saved store", 1, is_store, lambda path, _: open_store(path))
TU = Format(
    "TU",
    1,
    lambda path: _is_archive(path) and tu.find_prefix(open_source(path)) is not None,
    lambda path, require_classes: tu.read_tu(path, require_classes=require_classes),
)
CSV = Format(
    "CSV folder",
    1,
    csv_folder.is_csv_folder,
    lambda path, require_classes: csv_folder.from_csv_folder(path, require_classes=require_classes),
)
DGCNN = Format("DGCNN text", 1, _is_text, lambda path, _: dgcnn_text.read_dgcnn_text(path))

SMILES = Format(
    "SMILES table",
    1,
    smiles.is_smiles_table,
    lambda path, require_classes: smiles.from_smiles(path, require_classes=require_classes),
)

FORMATS = (STORE, TU, CSV, DGCNN, SMILES)


def recognise(path: Path) -> Format | None:
    """The format of a file or folder; None when it is none of the known ones."""
    return next((f for f in FORMATS if f.recognise(path)), None)


def tell_mended(data: GraphDataset) -> None:
    """One line in the log on what was mended, where something was."""
    mended = [f"{count} {what.replace('_', ' ')}" for what, count in data.meta.mended.items() if count]
    if mended:
        logger.warning("%s: mended while reading: %s", data.name, ", ".join(mended))


def smiles_with_classes_in(column: str) -> Format:
    """The format of a SMILES table whose classes are in a certain column."""
    return replace(
        SMILES,
        title=f"{SMILES.title}, classes in {column}",
        read=lambda path, require_classes: smiles.from_smiles(
            path, label_column=column, require_classes=require_classes
        ),
    )


def read_dataset(
    path: str | Path, *, require_classes: bool = True, cache_home: Path | None = None, label_column: str | None = None
) -> GraphDataset:
    """Read a dataset in any of the known formats, through the cache when `cache_home` is given.

    Parameters
    ----------
    path
        A TU folder or zip, a DGCNN text file, a CSV folder, a CSV file with a column of SMILES, or a folder written
        by :func:`spgnn_dgl.data.saved.save_store`.
    require_classes
        Whether every graph must have a class and at least two classes must occur, as training needs. For
        prediction it is False.
    cache_home
        Folder of the caches; None reads without one.
    label_column
        Of a SMILES table, the column that holds the classes; None: the one that must be meant.
    """
    path = Path(path)
    if not path.exists():
        raise DatasetNotFoundError(f"{path} does not exist. Give the path of a dataset, or a dataset's name.")
    if path.is_file() and path.stat().st_size == 0:
        raise DatasetError(f"{path} is empty. Get the file again.")
    format_ = recognise(path)
    if format_ is None:
        raise DatasetError(
            f"{path} is in no known format. Known: a folder or zip with NAME_A.txt and NAME_graph_indicator.txt (TU), "
            "a .txt whose first line is the number of graphs (DGCNN, GIN), a folder with graphs.csv, nodes.csv and "
            "edges.csv, a .csv file with a column of SMILES, a folder written by save_store."
        )
    if format_ is SMILES and label_column is not None:
        format_ = smiles_with_classes_in(label_column)

    fresh = False

    def reader() -> GraphDataset:
        nonlocal fresh
        fresh = True
        data = format_.read(path, require_classes)
        tell_mended(data)
        return data

    if cache_home is None or format_ is STORE:
        data = reader()
    else:
        data = cache.cached(path, reader, home=cache_home, version=f"{format_.title} {format_.version}")
    if format_ in (TU, DGCNN):
        data = GraphDataset(data.arrays, with_known_facts(data.meta, tu_labels=format_ is TU))
    if not fresh:
        smiles.tell_unreadable(data)  # a reader has said so, a cache has not
    if require_classes:
        if not data.has_labels:
            format_.read(path, True)  # a cache of data without classes: the reader says what is missing
        data.require_classes()
    return data
