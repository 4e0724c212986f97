"""Stores larger than memory: written part by part, taken up again after a kill, in place whole or not at all.

While it is built, a store stands beside its place as ``NAME.unfinished``: arrays, to which every part is appended, and
``progress.json``, which says how much of them is whole and where the source goes on. Which names occur is known at the
end only, so that codes are given in the order of first appearance and exchanged for those of the sorted names then.
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
import shutil
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from spgnn_dgl.data.arrays import DatasetMeta, GraphArrays, take
from spgnn_dgl.data.building.growing import GrowingArray, exchange, finish_header
from spgnn_dgl.data.building.progress import NAMES, OFFSETS, ROWS, VERSION, Progress
from spgnn_dgl.data.building.vocabulary import Vocabulary
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

PROGRESS, ARRAYS, LOCK = "progress.json", "store", "lock"
CHECKPOINT_SECONDS = 2.0  # work that a kill may cost
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
        self._files: dict[str, GrowingArray] = {}
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
            found = Progress.from_json(path.read_text(encoding="utf-8"))
        except (ValueError, TypeError, AttributeError):
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
        progress = self.progress
        progress.check_alike(part.meta, arrays)
        with self._explained():
            for name, array in arrays.present().items():
                if name not in self._files:
                    progress.row_shapes[name] = list(array.shape[1:])
                    self._open(name)
                self._files[name].append(self._entries(name, array, part.meta))
        progress.count(part.meta, arrays)
        progress.position = position
        if time.monotonic() - self._saved_at >= CHECKPOINT_SECONDS:
            with self._explained():
                self.save()

    def _entries(self, name: str, array: np.ndarray, meta: DatasetMeta) -> np.ndarray:
        """What a part's array is in the whole: offsets moved on, codes by first appearance of their names."""
        if name in OFFSETS:
            return array[1:] + getattr(self.progress, OFFSETS[name])
        if name not in NAMES:
            return array
        vocabulary = self.progress.names.setdefault(name, Vocabulary())
        table = vocabulary.codes_for(getattr(meta, NAMES[name]))
        return array if table is None else table[array]

    def _path(self, name: str) -> Path:
        return self.arrays / f"{name}.{'codes' if name in NAMES else 'npy'}"

    def _open(self, name: str) -> None:
        progress = self.progress
        row_shape = tuple(progress.row_shapes[name])
        self._files[name] = GrowingArray(self._path(name), ROWS[name][1], row_shape, progress.rows(name))

    def save(self) -> None:
        """Write down that everything so far is whole."""
        for file in self._files.values():
            file.sync()
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
                    shape = (progress.rows(name), *progress.row_shapes[name])
                    finish_header(self.arrays / f"{name}.npy", ROWS[name][1], shape)
                arrays = GraphArrays(**{name: map_array(self.arrays / f"{name}.npy") for name in present})
                meta = self.parts.complete(progress.meta(self.parts.name, names))
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
        names, table = self.progress.names[name].in_order()
        provisional, final = self._path(name), self.arrays / f"{name}.npy"
        if provisional.exists():  # else it was done before a kill
            if table is None:
                os.replace(provisional, final)
            else:
                exchange(provisional, final, ROWS[name][1], self.progress.rows(name), table)
        return names


def _synced(path: Path) -> None:
    """Wait until a file is on the disk."""
    with path.open("rb") as file:
        os.fsync(file.fileno())
