"""Model files: safetensors with a JSON header. Nothing in such a file is ever executed."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save_file

from spgnn_dgl._dgl import installed_version
from spgnn_dgl.errors import DatasetNotFoundError, ModelFileError, SpgnnError, UnknownNameError
from spgnn_dgl.methods.base import Method, make_method

FORMAT, VERSION = "spgnn_dgl model", 1


def save_model(
    path: str | Path, method: Method, name: str, options: Mapping[str, Any], notes: Mapping[str, Any]
) -> Path:
    """Write a fitted method, whole or not at all.

    Parameters
    ----------
    path
        Where to; conventionally ends in ``.safetensors``.
    method, name, options
        The fitted method, the name it is registered under and the options it was made with.
    notes
        Further JSON values to keep with it, such as class names.
    """
    path = Path(path)
    arrays, values = method.state()
    header = {
        "format": FORMAT,
        "version": VERSION,
        "method": name,
        "options": dict(options),
        "state": values,
        "notes": dict(notes),
        "written_with": {p: installed_version(p) for p in ("spgnn_dgl", "torch", "dgl")}
        | {"python": platform.python_version()},
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    aside = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        text = json.dumps(header)
        save_file({k: np.ascontiguousarray(a) for k, a in arrays.items()}, aside, metadata={"spgnn_dgl": text})
        os.replace(aside, path)
    finally:
        aside.unlink(missing_ok=True)
    return path


def load_model(path: str | Path) -> tuple[Method, dict[str, Any]]:
    """The fitted method in a model file, and the file's header."""
    path = Path(path)
    if not path.is_file():
        raise DatasetNotFoundError(f"there is no model file at '{path}'. `spgnn fit DATASET --out {path}` writes one.")
    try:
        with safe_open(path, framework="numpy") as file:
            text = (file.metadata() or {}).get("spgnn_dgl")
            arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except (SafetensorError, OSError) as problem:
        raise ModelFileError(
            f"'{path}' is damaged or not a safetensors file ({problem}). Save the model again."
        ) from problem
    if text is None:
        raise ModelFileError(f"'{path}' is a safetensors file, but not a model saved by spgnn_dgl.")
    try:
        header = json.loads(text)
        if header["format"] != FORMAT:
            raise ModelFileError(f"'{path}' has the format '{header['format']}'; expected '{FORMAT}'.")
        if header["version"] > VERSION:
            raise ModelFileError(
                f"'{path}' was written by a newer spgnn_dgl (file version {header['version']}, this one reads up to "
                f"{VERSION}). Update spgnn_dgl."
            )
        method = make_method(header["method"], header["options"])
        method.restore(arrays, header["state"])
    except UnknownNameError as problem:
        raise ModelFileError(
            f"'{path}' is made of a part that is not known here: {problem} If it comes from a plugin, load that first: "
            "spgnn --plugin FILE.py …, or spgnn_dgl.load_plugin(FILE)."
        ) from problem
    except SpgnnError:
        raise
    except (ValueError, KeyError, TypeError, AttributeError) as problem:
        raise ModelFileError(f"the header of '{path}' is damaged ({problem!r}). Save the model again.") from problem
    return method, header
