"""The cache: a dataset that was read once from text is opened from memory-mapped arrays afterwards.

One folder per source and content: its name is made of the source's path, size, time of change and a hash of its
beginning and end, and of the reader's version, so that a changed source or reader never meets an old cache. A cache
is a convenience: where it cannot be written, the data is used as it was read.
"""

from __future__ import annotations

import glob
import hashlib
import logging
import os
import shutil
import stat
import time
from collections.abc import Callable
from pathlib import Path

from spgnn_dgl.data.readers.sources import FolderSource
from spgnn_dgl.data.saved import STORE_VERSION, TEMPORARY, open_store, save_store
from spgnn_dgl.data.store import GraphDataset
from spgnn_dgl.errors import DatasetError, DatasetNotFoundError

logger = logging.getLogger(__name__)

HASHED_BYTES = 1 << 16  # of each end; the end of a zip archive holds the checksums of everything inside
ABANDONED_AFTER = 3600.0  # seconds after which an unfinished folder belongs to a process that was killed


def cache_home(data_home: Path | None = None) -> Path:
    """Where caches are kept: ``$SPGNN_CACHE``, else ``.cache`` in the data home, else the user's cache folder.

    The data home is passed over where it cannot be written to.
    """
    chosen = os.environ.get("SPGNN_CACHE")
    if chosen:
        return Path(chosen).expanduser()
    if data_home is not None and data_home.is_dir() and _is_writable(data_home):
        return data_home / ".cache"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "spgnn_dgl"


def _is_writable(folder: Path) -> bool:
    # the administrator may write everywhere, but a folder without any write bit is meant to stay as it is
    anyone = stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH
    return bool(folder.stat().st_mode & anyone) and os.access(folder, os.W_OK)


def cached(source: Path, reader: Callable[[], GraphDataset], *, home: Path, version: str) -> GraphDataset:
    """The dataset of `source`: from its cache, or read by `reader` and then cached.

    Parameters
    ----------
    source
        File or folder the dataset comes from.
    reader
        Reads it.
    home
        Folder of the caches.
    version
        Name and version of the reader.
    """
    name, key = names(source, version)
    folder = home / f"{name}-{key}"
    if folder.is_dir():
        try:
            return open_store(folder)
        except (DatasetError, DatasetNotFoundError, OSError) as problem:
            logger.warning("the cache of %s is damaged and is rebuilt (%s)", source, problem)
    data = reader()
    try:
        shutil.rmtree(folder, ignore_errors=True)  # the damaged one, where there is one
        save_store(folder, data)
        data = open_store(folder, verify=False)  # lets go of the arrays in memory
        _tidy(home, name, folder)
    except (OSError, DatasetError) as problem:
        logger.warning("%s is not cached: %s", source, problem)
    return data


def names(source: Path, version: str) -> tuple[str, str]:
    """The part of a cache's name that stays with the source, and the part that changes with its content."""
    path = source.resolve()
    place = f"{path.stem}-{hashlib.sha256(os.fsencode(path)).hexdigest()[:8]}"
    digest = hashlib.sha256(f"{STORE_VERSION} {version}".encode())
    files = [path / name for name in FolderSource(path).names()] if path.is_dir() else [path]
    for file in files:
        status = file.stat()
        digest.update(f"{file.relative_to(path.parent)} {status.st_size} {status.st_mtime_ns}".encode())
        with file.open("rb") as stream:
            digest.update(stream.read(HASHED_BYTES))
            stream.seek(max(HASHED_BYTES, status.st_size - HASHED_BYTES))
            digest.update(stream.read(HASHED_BYTES))
    return place, digest.hexdigest()[:16]


def _tidy(home: Path, name: str, current: Path) -> None:
    """Remove caches of former contents of the same source, and what killed processes left."""
    for folder in home.glob(f"{glob.escape(name)}-*"):
        unfinished = folder.name.endswith(TEMPORARY)
        if folder != current and (not unfinished or _age(folder) > ABANDONED_AFTER):
            shutil.rmtree(folder, ignore_errors=True)


def _age(folder: Path) -> float:
    try:
        return time.time() - folder.stat().st_mtime
    except FileNotFoundError:  # its owner has just renamed it
        return 0.0
