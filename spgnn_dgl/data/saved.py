"""A dataset as a folder: one ``.npy`` file per array, and ``meta.json``.

The arrays are memory-mapped when the folder is opened: nothing is read before it is used. Sizes and checksums are
recorded, so that a damaged or half-written folder is noticed, and a folder is written aside and renamed, so that it
is there whole or not at all.
"""

from __future__ import annotations

import json
import math
import mmap
import os
import secrets
import shutil
import zlib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from spgnn_dgl.data.arrays import DatasetMeta, GraphArrays, take
from spgnn_dgl.data.store import GraphDataset
from spgnn_dgl.errors import DatasetError, DatasetNotFoundError

STORE_VERSION = 1
DESCRIPTION = "meta.json"
TEMPORARY = ".unfinished"
KNOWN = ("fingerprint", "largest_degree")  # of the arrays, written down: a large store is not read through to open it
FULL_CHECK_BYTES = 64 << 20  # larger files are checked in samples: opening must stay quick
SAMPLES, SAMPLE_BYTES = 64, 1 << 16


def save_store(folder: str | Path, data: GraphDataset) -> Path:
    """Write a dataset as a folder that :func:`open_store` and ``load_dataset`` open.

    A store that is already there is replaced; a folder with anything else in it is refused.
    """
    folder = Path(folder)
    check_place(folder)
    folder.parent.mkdir(parents=True, exist_ok=True)
    aside = folder.with_name(f"{folder.name}.{os.getpid()}-{secrets.token_hex(4)}{TEMPORARY}")
    aside.mkdir()
    try:
        _write(aside, data)
        put_in_place(aside, folder)
    finally:
        shutil.rmtree(aside, ignore_errors=True)
    return folder


def check_place(folder: Path) -> None:
    """Refuse a place for a store where something else is."""
    if folder.exists() and not is_store(folder) and (not folder.is_dir() or any(folder.iterdir())):
        raise DatasetError(f"{folder} exists and is not a saved dataset; it is not overwritten. Choose another folder.")


def _write(folder: Path, data: GraphDataset) -> None:
    arrays = data.arrays if data.is_whole else take(data.arrays, data.members)
    for name, array in arrays.present().items():
        np.save(folder / f"{name}.npy", array, allow_pickle=False)
    write_description(folder, arrays, data.meta)


def write_description(folder: Path, arrays: GraphArrays, meta: DatasetMeta) -> None:
    """Write what stands in a store beside its arrays, whose files must be there already."""
    paths = {name: folder / f"{name}.npy" for name in arrays.present()}
    description = {
        "version": STORE_VERSION,
        "meta": meta.to_json(),
        "files": {name: {"bytes": path.stat().st_size, "crc32": checksum(path)} for name, path in paths.items()},
        "known": {name: getattr(arrays, name) for name in KNOWN},
    }
    text = json.dumps({**description, "crc32": _text_checksum(description)}, indent=1)
    (folder / DESCRIPTION).write_text(text, encoding="utf-8")


def put_in_place(aside: Path, folder: Path) -> None:
    """Rename a finished folder to its place; what stood there before is removed, whoever put it there."""
    for _ in range(20):  # another process may put its own folder there between the two renames
        try:
            os.rename(aside, folder)
            return
        except OSError:
            if not folder.exists():
                raise
        former = aside.with_name(f"{aside.name}-former{TEMPORARY}")
        try:
            os.rename(folder, former)
        except FileNotFoundError:
            continue
        shutil.rmtree(former, ignore_errors=True)
    raise DatasetError(f"{folder} cannot be replaced: other processes keep writing it. Try again when they are done.")


def is_store(folder: Path) -> bool:
    """Whether a folder was written by :func:`save_store`."""
    return (folder / DESCRIPTION).is_file() and (folder / "node_offsets.npy").is_file()


def open_store(folder: str | Path, *, verify: bool = True) -> GraphDataset:
    """Open a folder that :func:`save_store` wrote; the arrays are memory-mapped and read-only.

    Parameters
    ----------
    verify
        Compare sizes and checksums with the recorded ones.
    """
    folder = Path(folder)
    description = _description(folder)
    arrays = {}
    for name, recorded in description["files"].items():
        path = folder / f"{name}.npy"
        if verify and (not path.is_file() or path.stat().st_size != recorded["bytes"]):
            raise DatasetError(_damaged(path, "it is missing or has another size than when it was saved"))
        if verify and checksum(path) != recorded["crc32"]:
            raise DatasetError(_damaged(path, "its checksum is not the one recorded when it was saved"))
        try:
            arrays[name] = map_array(path)
        except (OSError, ValueError) as problem:
            raise DatasetError(_damaged(path, str(problem))) from problem
    if sum(recorded["bytes"] for recorded in description["files"].values()) > physical_memory():
        _without_read_ahead(arrays.values())
    try:
        opened = GraphArrays(**arrays)
        vars(opened).update({name: value for name, value in description.get("known", {}).items() if name in KNOWN})
        return GraphDataset(opened, DatasetMeta.from_json(description["meta"]))
    except TypeError as problem:
        raise DatasetError(_damaged(folder, str(problem))) from problem


def map_array(path: Path) -> np.ndarray:
    """The array of a file, memory-mapped and read-only."""
    return np.load(path, mmap_mode="r").view(np.ndarray)  # a plain array: slices are cheap


def physical_memory() -> float:
    """Bytes of memory that this machine has; infinite where it does not tell."""
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return math.inf


def _without_read_ahead(arrays: Iterable[np.ndarray]) -> None:
    """Have single pages read of arrays that do not fit into memory: others would push out what is needed."""
    if hasattr(mmap, "MADV_RANDOM"):
        for array in arrays:
            array.base._mmap.madvise(mmap.MADV_RANDOM)  # type: ignore[union-attr]


def _description(folder: Path) -> dict[str, Any]:
    path = folder / DESCRIPTION
    if not path.is_file():
        raise DatasetNotFoundError(f"{folder} is not a saved dataset: it has no {DESCRIPTION}.")
    try:
        description = json.loads(path.read_text(encoding="utf-8"))
        recorded = description.pop("crc32")
    except (ValueError, KeyError, TypeError, AttributeError) as problem:
        raise DatasetError(_damaged(path, f"{type(problem).__name__}: {problem}")) from problem
    if description.get("version") != STORE_VERSION:
        raise DatasetError(
            f"{path} is a store of version {description.get('version')}, but this program reads version "
            f"{STORE_VERSION}. Save the dataset again, or use the program that wrote it."
        )
    if recorded != _text_checksum(description):
        raise DatasetError(_damaged(path, "its checksum is not the one recorded when it was saved"))
    return description


def checksum(path: Path) -> int:
    """CRC-32 of a file, or of evenly spread samples of a large one (its first and last bytes among them)."""
    size = path.stat().st_size
    result = zlib.crc32(str(size).encode())
    with path.open("rb") as stream:
        if size <= FULL_CHECK_BYTES:
            while block := stream.read(1 << 20):
                result = zlib.crc32(block, result)
        else:
            for start in np.linspace(0, size - SAMPLE_BYTES, SAMPLES).astype(np.int64).tolist():
                stream.seek(start)
                result = zlib.crc32(stream.read(SAMPLE_BYTES), result)
    return result


def _text_checksum(description: dict[str, Any]) -> int:
    return zlib.crc32(json.dumps(description, sort_keys=True).encode())


def _damaged(path: Path, problem: str) -> str:
    return f"{path} is damaged: {problem}. Save the dataset again."
