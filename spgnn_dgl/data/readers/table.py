"""Tables in CSV files: columns by name, problems by line."""

from __future__ import annotations

import csv
import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NoReturn

import numpy as np

from spgnn_dgl.data.arrays import UNKNOWN_CLASS, codes, sortable
from spgnn_dgl.errors import DatasetError


class Table:
    """The columns of a CSV file by name, and the line each row stands on.

    Parameters
    ----------
    path
        The file; its first line names the columns.
    needed
        Columns that must be there.
    may_be_empty
        Whether there need be no rows.
    """

    def __init__(self, path: Path, *needed: str, delimiter: str = ",", may_be_empty: bool = False):
        header, *rows = read_lines(path, delimiter)
        missing = [name for name in needed if name not in header[1]]
        if missing:
            raise DatasetError(
                f"{path}, line 1: the column '{missing[0]}' is missing; found: {', '.join(header[1]) or '–'}."
            )
        if not rows and not may_be_empty:
            raise DatasetError(
                f"{path} is empty: it has no rows after its first line. A dataset needs graphs and nodes."
            )
        self._fill(path, header[1], rows)

    def _fill(self, path: Path, header: list[str], rows: Sequence[tuple[int, list[str]]]) -> None:
        self.path = path
        self.lines = [line for line, _ in rows]
        for i, (_, row) in enumerate(rows):
            if len(row) != len(header):
                self.fail(i, f"{len(row)} fields where the first line has {len(header)}")
        self.columns = {name: [row[c].strip() for _, row in rows] for c, name in enumerate(header)}

    @classmethod
    def blocks(cls, path: Path, size: int, *, delimiter: str = ",", skip: int = 0) -> Iterator[Table]:
        """The table in blocks of `size` rows, the first `skip` rows left out."""
        lines = read_lines(path, delimiter)
        _, header = next(lines)
        rows = itertools.islice(lines, skip, None)
        while block := list(itertools.islice(rows, size)):
            table = cls.__new__(cls)
            table._fill(path, header, block)
            yield table

    def __getitem__(self, name: str) -> list[str]:
        return self.columns[name]

    def fail(self, row: int, problem: str) -> NoReturn:
        """Refuse a row, by the line it stands on."""
        raise DatasetError(f"{self.path}, line {self.lines[row]}: {problem}. Correct that line.")


def read_lines(path: Path, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """Number and fields of each line that is not blank; the names in the first line without blanks around them."""
    with path.open(newline="", encoding="utf-8-sig") as stream:
        reader = csv.reader(stream, strict=True, delimiter=delimiter)
        try:
            yield 1, [name.strip() for name in next(reader, [])]
            for row in reader:
                if row:
                    yield reader.line_num, row
        except (csv.Error, UnicodeDecodeError) as problem:
            raise DatasetError(f"{path}, line {reader.line_num}: {problem}. Save the file as CSV in UTF-8.") from None


def class_codes(
    values: Sequence[str], fail: Callable[[int, str], NoReturn], require_classes: bool
) -> tuple[np.ndarray, tuple[str, ...]]:
    """(G,) class codes and class names from texts; an empty text is a class that is not known.

    Parameters
    ----------
    fail
        Refuses a row, given its position and what is wrong.
    require_classes
        Whether an empty text is an error.
    """
    known = np.array([v != "" for v in values], dtype=bool)
    if require_classes and not known.all():
        fail(int(np.flatnonzero(~known)[0]), "the label is empty, but training needs a class for every graph")
    for row, value in enumerate(values):
        if _is_fraction(value):
            fail(row, f"the label {value} is not a class but a number to predict (regression); give classes")
    labels = np.full(len(values), UNKNOWN_CLASS, dtype=np.int64)
    names: tuple[str, ...] = ()
    if known.any():
        labels[known], names = codes(sortable([v for v in values if v]))
    return labels, names


def _is_fraction(text: str) -> bool:
    try:
        value = float(text)
    except ValueError:
        return False
    return not (math.isfinite(value) and value.is_integer())
