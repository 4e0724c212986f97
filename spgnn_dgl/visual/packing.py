"""Numbers for a page: named arrays in one base64 text, with a table of where each begins."""

from __future__ import annotations

import base64
from typing import Any

import numpy as np

TYPES = {"uint8": 1, "uint16": 2, "uint32": 4, "float32": 4}
"""Types that a page can read, and their bytes."""


def pack(arrays: dict[str, np.ndarray]) -> tuple[str, dict[str, dict[str, Any]]]:
    """One text that holds all arrays, and for each its type, its first byte and its length.

    Examples
    --------
    >>> text, table = pack({"a": np.array([1, 2], dtype=np.uint8), "b": np.array([3], dtype=np.uint16)})
    >>> table["b"]
    {'type': 'uint16', 'start': 4, 'length': 1}
    """
    parts: list[bytes] = []
    table: dict[str, dict[str, Any]] = {}
    position = 0
    for name, array in arrays.items():
        kind = array.dtype.name
        if kind not in TYPES:
            raise TypeError(f"{name} is {kind}; a page reads {', '.join(TYPES)}")
        raw = np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<")).tobytes()
        table[name] = {"type": kind, "start": position, "length": int(array.size)}
        padding = -len(raw) % 4  # every array begins at a multiple of its widest possible element
        parts += [raw, b"\0" * padding]
        position += len(raw) + padding
    return base64.b64encode(b"".join(parts)).decode(), table


def fewest_bits(values: np.ndarray) -> np.ndarray:
    """Whole numbers from 0 on in the narrowest type that holds them."""
    largest = int(values.max(initial=0))
    return values.astype(np.uint8 if largest < 1 << 8 else np.uint16 if largest < 1 << 16 else np.uint32)
