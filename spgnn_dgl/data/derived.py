"""Arrays that are computed once per dataset and kept on disk, such as kernel matrices.

The name of a file is made of the dataset's content and of every option that the array depends on, so that an array is
never taken for another. A file is written aside and renamed: it is there whole or not at all.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import logging
import os
import re
import secrets
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from spgnn_dgl.data.cache import cache_home
from spgnn_dgl.data.catalogue import data_home
from spgnn_dgl.data.store import GraphDataset

logger = logging.getLogger("spgnn_dgl")

VERSION = 2  # of what is computed: raise it when the same options give other arrays
POLL_SECONDS = 0.2


def derived_arrays(
    data: GraphDataset,
    what: str,
    options: Sequence[Mapping[str, Any]],
    compute: Callable[[], Iterable[np.ndarray]],
    check: Callable[[], None] = lambda: None,
) -> list[np.ndarray]:
    """Arrays of a whole dataset, one per entry of `options`: from disk, or computed now and kept.

    Processes that want the same arrays at the same time wait for the one that computes them.

    Parameters
    ----------
    data
        A dataset or view; the arrays are those of all graphs in its store.
    what
        A name for the arrays, part of the file's name.
    options
        What each array depends on besides the data; JSON values.
    compute
        Gives the arrays in the order of `options`.
    check
        Called while waiting for another process; may raise.

    Returns
    -------
    list of numpy.ndarray
        Memory-mapped and read-only where they could be written, else as computed.
    """
    folder = cache_home(data_home()) / "derived"
    paths = [folder / _file_name(data, what, entry) for entry in options]
    found = _load(paths)
    if found is not None:
        return found
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as problem:
        logger.warning("%s of %s is not kept on disk: %s", what, data.name, problem)
        return list(compute())
    with _lock(paths[0].with_suffix(".lock"), check):
        found = _load(paths)  # another process may have been faster
        return found if found is not None else [_keep(path, array) for path, array in zip(paths, compute())]


def _file_name(data: GraphDataset, what: str, options: Mapping[str, Any]) -> str:
    text = json.dumps([VERSION, data.fingerprint, data.meta.node_label_names, what, dict(options)], sort_keys=True)
    return f"{re.sub('[^A-Za-z0-9]+', '-', data.name)}-{what}-{hashlib.sha256(text.encode()).hexdigest()[:24]}.npy"


def _load(paths: Sequence[Path]) -> list[np.ndarray] | None:
    """The arrays, or None unless all are there and readable."""
    try:
        return [np.load(path, mmap_mode="r", allow_pickle=False) for path in paths]
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as problem:
        logger.warning("a kept array is damaged and is computed again (%s)", problem)
        return None


def _keep(path: Path, array: np.ndarray) -> np.ndarray:
    aside = path.with_name(f".{path.name}.{os.getpid()}-{secrets.token_hex(4)}")
    try:
        with aside.open("wb") as file:
            np.save(file, array, allow_pickle=False)
        os.replace(aside, path)
        return np.load(path, mmap_mode="r", allow_pickle=False)  # lets go of the array in memory
    except OSError as problem:
        logger.warning("%s is not kept on disk: %s", path.name, problem)
        return array
    finally:
        aside.unlink(missing_ok=True)


@contextlib.contextmanager
def _lock(path: Path, check: Callable[[], None]) -> Iterator[None]:
    """Hold a lock that ends with its process, however that ends; where there is no such lock, go on without."""
    try:
        import fcntl
    except ImportError:  # not a Unix system: at worst two processes compute the same
        yield
        return
    with path.open("w") as file:
        while True:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                check()
                time.sleep(POLL_SECONDS)
            except OSError:  # a file system without locks
                break
        try:
            yield
        finally:
            path.unlink(missing_ok=True)
