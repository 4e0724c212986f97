"""Arrays in ``.npy`` files that grow row by row; how many rows there are is written into the header at the end."""

from __future__ import annotations

import io
import os
from pathlib import Path
from typing import Any

import numpy as np

from spgnn_dgl.errors import DatasetError

BLOCK = 1 << 22  # entries that are exchanged at a time


class GrowingArray:
    """A file that rows are appended to.

    Parameters
    ----------
    path
        The file.
    dtype
        Type of the entries.
    row_shape
        Shape of a row: ``()`` for plain numbers.
    rows
        Rows of the file that are whole. What a killed process wrote after them is cut off; a file that is not there is
        made, with as many zeros.
    """

    def __init__(self, path: Path, dtype: Any, row_shape: tuple[int, ...], rows: int):
        self.path, self.dtype = path, np.dtype(dtype)
        head = header(self.dtype, (0, *row_shape))
        size = len(head) + rows * self.dtype.itemsize * int(np.prod(row_shape, dtype=np.int64))
        is_new = not path.exists()
        if not is_new and path.stat().st_size < size:
            raise DatasetError(f"{path} is shorter than it was. Remove {path.parent.parent}, and begin anew.")
        self._file = io.FileIO(path, "w" if is_new else "r+")
        if is_new:
            self._file.write(head)
        self._file.truncate(size)
        self._file.seek(size)

    def append(self, rows: np.ndarray) -> None:
        write(self._file, rows.astype(self.dtype, copy=False))

    def sync(self) -> None:
        """Wait until all rows are on the disk."""
        os.fsync(self._file.fileno())

    def close(self) -> None:
        self._file.close()


def finish_header(path: Path, dtype: Any, shape: tuple[int, ...]) -> None:
    """Write the number of rows into a file; its header has room for any."""
    with io.FileIO(path, "r+") as file:
        file.write(header(np.dtype(dtype), shape))
        os.fsync(file.fileno())


def exchange(old: Path, new: Path, dtype: Any, rows: int, table: np.ndarray) -> None:
    """Write `new`, in which every entry of `old` is the one that `table` has for it; then remove `old`."""
    head = header(np.dtype(dtype), (rows,))
    aside = new.with_suffix(".new")
    with io.FileIO(old) as source, io.FileIO(aside, "w") as target:
        source.seek(len(head))
        target.write(head)
        for start in range(0, rows, BLOCK):
            entries = np.frombuffer(source.read(min(BLOCK, rows - start) * np.dtype(dtype).itemsize), dtype=dtype)
            write(target, table.astype(dtype)[entries])
        os.fsync(target.fileno())
    os.replace(aside, new)
    old.unlink()


def header(dtype: np.dtype, shape: tuple[int, ...]) -> bytes:
    """The header that ``numpy.save`` writes; its length does not depend on the number of rows."""
    stream = io.BytesIO()
    values = {"descr": np.lib.format.dtype_to_descr(dtype), "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(stream, values)
    return stream.getvalue()


def write(file: Any, array: np.ndarray) -> None:
    """All bytes of an array; the system may take them in pieces."""
    if array.size == 0:
        return
    left = np.ascontiguousarray(array).data.cast("B")
    while left:
        left = left[file.write(left) or 0 :]
