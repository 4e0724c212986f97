"""A dataset and a run folder for workers on this machine and on others.

The dataset travels as the path of its memory-mapped arrays: every worker maps the same pages. On a Ray cluster whose
machines do not all see that path, it is put into Ray's object store, from which each machine fetches it once.
"""

from __future__ import annotations

import contextlib
import os
import platform
import secrets
import tempfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from spgnn_dgl.data.arrays import DatasetMeta, GraphArrays
from spgnn_dgl.data.saved import DESCRIPTION, is_store, open_store, save_store
from spgnn_dgl.data.store import GraphDataset
from spgnn_dgl.errors import DatasetNotFoundError
from spgnn_dgl.runs import write_whole


@dataclass(frozen=True, eq=False)
class SharedDataset:
    """A dataset that pickles as the path of its store.

    Parameters
    ----------
    mark
        Checksum of the store's description: a folder of the same name on another machine may hold other data.
    members
        Graphs of the store that take part; None: all.
    in_ray
        Reference of the arrays in Ray's object store, for machines that do not see the folder.
    """

    folder: str
    mark: int | None
    meta: DatasetMeta
    members: np.ndarray | None
    in_ray: Any = None

    def open(self) -> GraphDataset:
        return GraphDataset(_arrays(self.folder, self.mark, self.in_ray), self.meta, self.members)


@lru_cache(maxsize=2)
def _arrays(folder: str, mark: int | None, in_ray: Any) -> GraphArrays:
    if mark_of(folder) == mark:
        return open_store(folder, verify=False).arrays
    if in_ray is None:
        raise DatasetNotFoundError(
            f"the worker on '{platform.node()}' does not see the dataset at '{folder}'. Put the data home on a file "
            "system that all machines share, or use --backend ray, which can send the data."
        )
    import ray

    return GraphArrays(**ray.get(in_ray))


def mark_of(folder: str | Path) -> int | None:
    """Checksum of a store's description; None where there is none."""
    try:
        return zlib.crc32((Path(folder) / DESCRIPTION).read_bytes())
    except OSError:
        return None


@contextlib.contextmanager
def shared(data: GraphDataset) -> Iterator[SharedDataset]:
    """`data` in a form that is cheap to send: by its own store, or by a temporary one inside the block."""
    folder = store_of(data)
    if folder is not None:
        members = None if data.is_whole else data.members
        yield SharedDataset(str(folder), mark_of(folder), data.meta, members)
        return
    with tempfile.TemporaryDirectory(prefix="spgnn_dgl-") as temporary:
        place = save_store(Path(temporary) / "store", data)
        yield SharedDataset(str(place), mark_of(place), data.meta, None)


def store_of(data: GraphDataset) -> Path | None:
    """The folder that all arrays of a dataset are mapped from; None where one of them is in memory."""
    folders = set()
    for name, array in data.arrays.present().items():
        mapped = array.base
        if not isinstance(mapped, np.memmap) or not mapped.filename or Path(mapped.filename).stem != name:
            return None
        folders.add(Path(mapped.filename).parent)
    folder = folders.pop() if len(folders) == 1 else None
    return folder if folder is not None and is_store(folder) else None


@contextlib.contextmanager
def marked(folder: Path) -> Iterator[Path]:
    """A file in a folder, by which another machine knows inside the block that it sees the same folder."""
    mark = folder / f".visible.{os.getpid()}-{secrets.token_hex(3)}"
    write_whole(mark, "")
    try:
        yield mark
    finally:
        mark.unlink(missing_ok=True)
