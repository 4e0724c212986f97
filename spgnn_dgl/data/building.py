"""Stores larger than memory: written part by part, taken up again after a kill, in place whole or not at all.

While it is built, a store stands beside its place as ``NAME.unfinished``: arrays, to which every part is appended, and
``progress.json``, which says how much of them is whole and where the source goes on. Which names occur is known at the
end only, so that codes are given in the order of first appearance and exchanged for those of the sorted names then.
"""

from __future__ import annotations

import contextlib
import io
import json
import logging
import os
import shutil
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from spgnn_dgl.data.arrays import UNKNOWN_CLASS, DatasetMeta, GraphArrays, codes, sortable, take
from spgnn_dgl.data.saved import (
    DESCRIPTION,
    TEMPORARY,
    check_place,
    is_store,
    map_array,
    open_store,
    put_in_place,
    write_description,
)
from spgnn_dgl.data.store import GraphDataset
from spgnn_dgl.errors import DatasetError

logger = logging.getLogger("spgnn_dgl")

VERSION = 1
PROGRESS, ARRAYS, LOCK = "progress.json", "store", "lock"
CHECKPOINT_SECONDS = 2.0  # work that a kill may cost
RECODED = 1 << 22  # codes that are exchanged at a time
ROWS = {  # array -> what it has a row for, and the type of its entries
    "node_offsets": ("graphs", np.int64),
    "edge_offsets": ("graphs", np.int64),
    "in_degrees": ("nodes", np.int32),
    "neighbours": ("edges", np.int32),
    "labels": ("graphs", np.int64),
    "node_labels": ("nodes", np.int32),
    "node_attributes": ("nodes", np.float32),
    "edge_labels": ("edges", np.int32),
    "truth": ("nodes", np.bool_),
}
OFFSETS = ("node_offsets", "edge_offsets")  # one row more than graphs
NAMES = {"labels": "class_names", "node_labels": "node_label_names", "edge_labels": "edge_label_names"}

Read = Callable[[Any], Iterator[tuple[GraphDataset, Any]]]


@dataclass(frozen=True)
class Parts:
    """A dataset that comes in parts.

    Parameters
    ----------
    name
        Of the dataset.
    read
        Given None, or the position that it gave with a part: the parts that follow, each with the position after it.
        Positions are JSON values.
    key
        What the parts depend on, in words: an unfinished store of another key is not gone on with.
    complete
        Completes the description when all parts are there.
    lone_label_is_none
        Whether one label on all nodes is how this source writes that there are no labels.
    """

    name: str
    read: Read
    key: str = ""
    complete: Callable[[DatasetMeta], DatasetMeta] = lambda meta: meta
    lone_label_is_none: bool = False


@dataclass
class Progress:
    """What is whole of an unfinished store."""

    key: str
    version: int = VERSION
    position: Any = None
    graphs: int = 0
    nodes: int = 0
    edges: int = 0
    row_shapes: dict[str, list[int]] = field(default_factory=dict)  # of the arrays that there are
    names: dict[str, list[str]] = field(default_factory=dict)  # by first appearance
    same_names: dict[str, bool] = field(default_factory=dict)  # whether all parts had these names in this order
    symbols: dict[str, str] = field(default_factory=dict)  # node label name -> symbol
    description: dict[str, Any] = field(default_factory=dict)  # of the first part
    mended: dict[str, int] = field(default_factory=dict)
    unreadable: list[str] = field(default_factory=list)
    all_read: bool = False

    def rows(self, name: str) -> int:
        return getattr(self, ROWS[name][0]) + (name in OFFSETS)


def build_store(
    folder: str | Path,
    parts: Parts,
    *,
    require_classes: bool = False,
    on_part: Callable[[int], None] | None = None,
) -> GraphDataset:
    """Write the store of a dataset that comes in parts, and open it.

    The memory needed is that of one part and of the names that occur. The same call after a kill goes on after the
    last part that was written down. A store that is already there is replaced when the new one is whole.

    Parameters
    ----------
    folder
        Of the store.
    require_classes
        Refuse data without at least two classes.
    on_part
        Called with the number of graphs so far, for progress bars.
    """
    folder = Path(folder)
    check_place(folder)
    with StoreBuilder(folder, parts) as builder:
        if not builder.progress.all_read:
            for part, position in parts.read(builder.progress.position):
                builder.append(part, position)
                if on_part is not None:
                    on_part(builder.progress.graphs)
        builder.finish(require_classes)
    return open_store(folder)


class StoreBuilder:
    """The unfinished store at `folder`; a context manager, in which parts are appended and the store is finished."""

    def __init__(self, folder: Path, parts: Parts):
        self.folder = folder
        self.parts = parts
        self.place = folder.with_name(f"{folder.name}{TEMPORARY}")
        self.arrays = self.place / ARRAYS
        self.progress = Progress(parts.key)
        self._files: dict[str, io.FileIO] = {}
        self._saved_at = time.monotonic()
        self._lock: Any = None

    # ---- opening and leaving ----------------------------------------------------------------------------------

    def __enter__(self) -> StoreBuilder:
        try:
            with self._explained():
                self.place.mkdir(parents=True, exist_ok=True)
                self._take_lock()
                self._begin()
        except BaseException:
            self._close()
            raise
        return self

    def _begin(self) -> None:
        """Take up what an earlier call left, or begin anew."""
        found = self._unfinished()
        if found is None:
            (self.place / PROGRESS).unlink(missing_ok=True)  # first, so that it never speaks of other arrays
            shutil.rmtree(self.arrays, ignore_errors=True)
        else:
            self.progress = found
            logger.warning("%s: going on after the %d graphs of an earlier call", self.folder, found.graphs)
        if not self.progress.all_read:
            self.arrays.mkdir(exist_ok=True)
            for name in self.progress.row_shapes:
                self._open(name)

    def __exit__(self, kind: Any, problem: Any, trace: Any) -> None:
        if problem is not None:
            with contextlib.suppress(OSError):  # a full disk: what was saved before counts
                self.save()
            if self.progress.graphs == 0:
                shutil.rmtree(self.place, ignore_errors=True)
            else:
                kept = self.progress.graphs
                logger.warning("%d graphs are kept in %s; the same call goes on from there", kept, self.place)
        self._close()

    def _close(self) -> None:
        for file in self._files.values():
            file.close()
        if self._lock is not None:
            self._lock.close()

    def _take_lock(self) -> None:
        """Refuse to build what another process is building; the lock ends with its process, however that ends."""
        try:
            import fcntl
        except ImportError:  # not a Unix system: nobody is kept out
            return
        self._lock = (self.place / LOCK).open("w")
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise DatasetError(
                f"another process is writing {self.folder}. Wait for it, or choose another folder."
            ) from None
        except OSError:  # a file system without locks
            pass

    def _unfinished(self) -> Progress | None:
        """What another call left of the same store; None where there is nothing to go on with."""
        path = self.place / PROGRESS
        if not path.is_file():
            return None
        try:
            found = Progress(**json.loads(path.read_text(encoding="utf-8")))
        except (ValueError, TypeError):
            found = None
        if found is None or found.version != VERSION or found.key != self.parts.key:
            logger.warning("%s is of another source or version, and is begun anew", self.place)
            return None
        return found

    @contextlib.contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except DatasetError:
            raise
        except OSError as problem:
            raise DatasetError(
                f"{self.folder} cannot be written: {problem.strerror or problem}. Nothing that was there has changed. "
                "Make room, or choose another folder; the same call goes on where this one stopped."
            ) from problem

    # ---- parts ------------------------------------------------------------------------------------------------

    def append(self, part: GraphDataset, position: Any) -> None:
        """Append the graphs of a part; `position` is where the source goes on after it."""
        arrays = part.arrays if part.is_whole else take(part.arrays, part.members)
        self._check_alike(part, arrays)
        progress = self.progress
        with self._explained():
            for name, array in arrays.present().items():
                if name not in self._files:
                    progress.row_shapes[name] = list(array.shape[1:])
                    self._open(name)
                _write(self._files[name], self._entries(name, array, part.meta).astype(ROWS[name][1], copy=False))
        for what, count in part.meta.mended.items():
            progress.mended[what] = progress.mended.get(what, 0) + count
        progress.unreadable += part.meta.unreadable
        progress.symbols |= dict(zip(part.meta.node_label_names, part.meta.node_symbols))
        progress.graphs += arrays.num_graphs
        progress.nodes += len(arrays.in_degrees)
        progress.edges += len(arrays.neighbours)
        progress.position = position
        if time.monotonic() - self._saved_at >= CHECKPOINT_SECONDS:
            with self._explained():
                self.save()

    def _entries(self, name: str, array: np.ndarray, meta: DatasetMeta) -> np.ndarray:
        """What a part's array is in the whole: offsets moved on, codes by first appearance of their names."""
        if name in OFFSETS:
            return array[1:] + getattr(self.progress, "nodes" if name == "node_offsets" else "edges")
        if name not in NAMES:
            return array
        names = getattr(meta, NAMES[name])
        known = self.progress.names.setdefault(name, list(names))
        same = list(names) == known
        self.progress.same_names[name] = self.progress.same_names.get(name, True) and same
        if same:
            return array
        code_of = {value: code for code, value in enumerate(known)}
        table = [code_of.setdefault(value, len(code_of)) for value in names]
        known[:] = code_of
        return np.array([*table, UNKNOWN_CLASS])[array]  # the code -1 of an unknown class takes the last entry

    def _check_alike(self, part: GraphDataset, arrays: GraphArrays) -> None:
        """All parts must have the same arrays; one without edges need not have edge labels."""
        progress = self.progress
        here = {name: list(array.shape[1:]) for name, array in arrays.present().items()}
        description = {"directed": part.meta.directed, "domain": part.meta.domain, "source": part.meta.source}
        if progress.graphs == 0:
            progress.description = description
            return
        there = dict(progress.row_shapes)
        if len(arrays.neighbours) == 0 or progress.edges == 0:
            there.pop("edge_labels", None)
            here.pop("edge_labels", None)
        where = f"the graphs from number {progress.graphs} on (counted from 0)"
        for name in sorted({*here, *there}):
            words = name.replace("_", " ")
            if (name in here) != (name in there):
                have, had = ("have", "have none") if name in here else ("have no", "have some")
                raise DatasetError(
                    f"{where} {have} {words}, but those before them {had}. Give them to all graphs, or to none."
                )
            if here[name] != there[name]:
                raise DatasetError(
                    f"{where} have {here[name][0]} {words} per node, those before them {there[name][0]}."
                )
        if description["directed"] != progress.description["directed"]:
            raise DatasetError(f"{where} are {'' if part.meta.directed else 'un'}directed, those before them are not.")

    def _path(self, name: str) -> Path:
        return self.arrays / f"{name}.{'codes' if name in NAMES else 'npy'}"

    def _open(self, name: str) -> None:
        """Open an array's file behind its whole rows; what a killed process wrote after them is cut off."""
        path = self._path(name)
        shape = tuple(self.progress.row_shapes[name])
        header = _header(name, (0, *shape))
        file = io.FileIO(path, "r+" if path.exists() else "w+")
        self._files[name] = file
        row_bytes = np.dtype(ROWS[name][1]).itemsize * int(np.prod(shape, dtype=np.int64))
        rows = self.progress.rows(name)
        if self.progress.graphs == 0:
            file.truncate(0)
            file.write(header)
            _write(file, np.zeros(rows, dtype=ROWS[name][1]))  # the first offset
        elif path.stat().st_size == 0 and rows == 0:  # edge labels begin late
            file.write(header)
        elif path.stat().st_size < len(header) + rows * row_bytes:
            raise DatasetError(f"{path} is shorter than {PROGRESS} says. Remove {self.place}, and begin anew.")
        file.truncate(len(header) + rows * row_bytes)
        file.seek(0, os.SEEK_END)

    def save(self) -> None:
        """Write down that everything so far is whole."""
        for file in self._files.values():
            os.fsync(file.fileno())
        aside = self.place / f"{PROGRESS}.new"
        aside.write_text(json.dumps(asdict(self.progress)), encoding="utf-8")
        _synced(aside)
        os.replace(aside, self.place / PROGRESS)
        self._saved_at = time.monotonic()

    # ---- the end ----------------------------------------------------------------------------------------------

    def finish(self, require_classes: bool = False) -> None:
        """Give the codes their order, describe the arrays, and put the store in its place.

        Every step can be repeated: a kill between any two of them costs only time.
        """
        progress = self.progress
        if progress.graphs == 0:
            raise DatasetError("the dataset is empty: it has no graphs. Give at least one graph.")
        with self._explained():
            if not progress.all_read:
                progress.all_read = True
                self.save()
            if self.arrays.exists():
                names = {name: self._finish_codes(name) for name in NAMES if name in progress.row_shapes}
                present = [name for name in ROWS if name in progress.row_shapes]
                if self.parts.lone_label_is_none and len(names.get("node_labels", ())) == 1:
                    (self.arrays / "node_labels.npy").unlink(missing_ok=True)
                    present.remove("node_labels")
                    names["node_labels"] = ()
                for name in present:
                    self._finish_header(name)
                arrays = GraphArrays(**{name: map_array(self.arrays / f"{name}.npy") for name in present})
                meta = self._meta(names)
                if require_classes:
                    GraphDataset(arrays, meta).require_classes()
                write_description(self.arrays, arrays, meta)
                _synced(self.arrays / DESCRIPTION)
                put_in_place(self.arrays, self.folder)
            elif not is_store(self.folder):
                raise DatasetError(f"{self.arrays} is missing. Remove {self.place}, and begin anew.")
            shutil.rmtree(self.place, ignore_errors=True)

    def _finish_codes(self, name: str) -> tuple[str, ...]:
        """Exchange codes by first appearance for those of the sorted names; returns the names in their order."""
        names, table = _in_order(self.progress.names[name], self.progress.same_names[name])
        provisional, final = self._path(name), self.arrays / f"{name}.npy"
        if not provisional.exists():  # done before a kill
            return names
        if name in self._files:
            self._files.pop(name).close()
        if np.array_equal(table, np.arange(len(table))):
            os.replace(provisional, final)
            return names
        dtype = np.dtype(ROWS[name][1])
        lookup = np.array([*table, UNKNOWN_CLASS]).astype(dtype)
        header, rows = _header(name, (self.progress.rows(name),)), self.progress.rows(name)
        aside = final.with_suffix(".new")
        with io.FileIO(provisional) as old, io.FileIO(aside, "w") as new:
            old.seek(len(header))
            new.write(header)
            for start in range(0, rows, RECODED):
                _write(new, lookup[np.fromfile(old, dtype=dtype, count=min(RECODED, rows - start))])
            os.fsync(new.fileno())
        os.replace(aside, final)
        provisional.unlink()
        return names

    def _finish_header(self, name: str) -> None:
        """The number of rows is known now; the header has room for it."""
        with io.FileIO(self.arrays / f"{name}.npy", "r+") as file:
            file.write(_header(name, (self.progress.rows(name), *self.progress.row_shapes[name])))
            os.fsync(file.fileno())

    def _meta(self, names: dict[str, tuple[str, ...]]) -> DatasetMeta:
        progress = self.progress
        node_names = names.get("node_labels", ())
        meta = DatasetMeta(
            name=self.parts.name,
            class_names=names.get("labels", ()),
            node_label_names=node_names,
            edge_label_names=names.get("edge_labels", ()),
            node_symbols=tuple(progress.symbols[n] for n in node_names) if progress.symbols and node_names else (),
            mended=progress.mended,
            unreadable=tuple(progress.unreadable),
            **progress.description,
        )
        return self.parts.complete(meta)


def _in_order(names: list[str], same: bool) -> tuple[tuple[str, ...], np.ndarray]:
    """Names as a dataset has them, and for every code by first appearance its place among them.

    Names that all parts share keep their order; others are sorted as :func:`spgnn_dgl.data.arrays.codes` sorts values.
    """
    if same or not names:
        return tuple(names), np.arange(len(names))
    table, ordered = codes(sortable(names))
    return ordered, table


def _synced(path: Path) -> None:
    """Wait until a file is on the disk."""
    with path.open("rb") as file:
        os.fsync(file.fileno())


def _header(name: str, shape: tuple[int, ...]) -> bytes:
    """The header that ``numpy.save`` writes; its length does not depend on the number of rows."""
    stream = io.BytesIO()
    values = {"descr": np.lib.format.dtype_to_descr(np.dtype(ROWS[name][1])), "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(stream, values)
    return stream.getvalue()


def _write(file: io.FileIO, array: np.ndarray) -> None:
    """All bytes of an array; the system may take them in pieces."""
    if array.size == 0:
        return
    left = np.ascontiguousarray(array).data.cast("B")
    while left:
        left = left[file.write(left) or 0 :]
