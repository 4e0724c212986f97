"""A training under way as one file, from which it goes on after a stop. Nothing in such a file is ever executed."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from safetensors import SafetensorError, safe_open
from safetensors.numpy import load, save_file

from spgnn_dgl.distributed import ranks
from spgnn_dgl.errors import RunError
from spgnn_dgl.runs import differences, write_whole

FORMAT, VERSION = "spgnn_dgl checkpoint", 2
SECONDS = 30.0
SUFFIX = ".checkpoint"
HEADER, VALUES = "spgnn_dgl", "values"


class Checkpoint:
    """The file that a training is kept in. One rank writes and reads it; the others hear of it from that one.

    Parameters
    ----------
    path
        The file.
    identity
        What decides the course of the training, as JSON values. A file of another training is refused. The number of
        ranks is no part of it.
    every
        Seconds between two writings.
    """

    def __init__(self, path: str | Path, identity: Mapping[str, Any], *, every: float = SECONDS):
        self.path = Path(path)
        self.every = every
        self.identity: dict[str, Any] = json.loads(json.dumps(dict(identity)))  # as it is read back: tuples are lists
        self._last = time.monotonic()

    def load(self) -> tuple[dict[str, np.ndarray], dict[str, Any]] | None:
        """What the file holds, on every rank; None where there is no file."""
        together, content = ranks(), None
        if together.is_first and self.path.exists():
            self._refuse_another(_header(self.path))
            content = self.path.read_bytes()
        content = together.from_first(content)
        if content is None:
            return None
        arrays = load(content)
        values = json.loads(arrays.pop(VALUES).tobytes())
        return arrays, values

    def is_due(self) -> bool:
        """Whether `every` seconds have passed; only the first rank ever writes."""
        return ranks().is_first and time.monotonic() - self._last >= self.every

    def save(self, arrays: Mapping[str, np.ndarray], values: Mapping[str, Any]) -> None:
        """Write the file, whole or not at all."""
        header = {"format": FORMAT, "version": VERSION, "identity": self.identity, "epoch": values["epoch"]}
        content = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
        content[VALUES] = np.frombuffer(json.dumps(values).encode(), dtype=np.uint8)
        text = {HEADER: json.dumps(header)}
        write_whole(self.path, lambda aside: save_file(content, aside, metadata=text))
        self._last = time.monotonic()

    def remove(self) -> None:
        """The training is over."""
        self.path.unlink(missing_ok=True)

    def _refuse_another(self, header: dict[str, Any]) -> None:
        if lines := differences(_flat(header["identity"]), _flat(self.identity)):
            raise RunError(
                f"'{self.path}' is the checkpoint of another training:\n{lines}\n"
                "Repeat the command that it is of, choose another --checkpoint, or remove the file to start over."
            )


def how_to_go_on(path: str | Path) -> str:
    """A sentence on what a training that was stopped has left."""
    path = Path(path)
    if not path.exists():
        return f"There is no checkpoint at '{path}' yet: the same command starts over."
    return (
        f"The last checkpoint is '{path}', written in epoch {_header(path)['epoch']}: the same command goes on from "
        "it, also with another number of processes."
    )


def _header(path: Path) -> dict[str, Any]:
    try:
        with safe_open(path, framework="numpy") as file:
            header = json.loads((file.metadata() or {})[HEADER])
        if header["format"] == FORMAT and header["version"] == VERSION:
            return dict(header)
        problem = f"its format is '{header['format']}', version {header['version']}; expected '{FORMAT}', {VERSION}"
    except (SafetensorError, OSError, ValueError, KeyError, TypeError) as damage:
        problem = str(damage)
    raise RunError(
        f"'{path}' is no checkpoint that this program can read ({problem}). Choose another --checkpoint, or remove the "
        "file to start over."
    )


def _flat(values: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """
    >>> _flat({"seed": 0, "options": {"lr": 0.1}})
    {'seed': 0, 'options.lr': 0.1}
    """
    flat: dict[str, Any] = {}
    for key, value in values.items():
        if isinstance(value, dict):
            flat |= _flat(value, f"{prefix}{key}.")
        else:
            flat[prefix + key] = value
    return flat
