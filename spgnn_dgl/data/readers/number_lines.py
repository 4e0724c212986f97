"""Lines of numbers, as many on each line as there are: all numbers of some lines in one row."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NoReturn

import numpy as np

from spgnn_dgl.data.readers.numbers import parse_field, parse_numbers, shown
from spgnn_dgl.data.readers.sources import TextSource, line_blocks
from spgnn_dgl.errors import DatasetError

_BLANK = bytes(sign in b" \t\n" for sign in range(256))


class Lines:
    """The numbers of some lines of a file in one row, and where each line begins in it.

    Parameters
    ----------
    where
        The file, for messages.
    values
        int64, or float64 where there are attributes.
    lengths
        (L,) numbers per line.
    first
        Number of the first of these lines in the file, counted from 0.
    """

    def __init__(self, where: str, values: np.ndarray, lengths: np.ndarray, first: int = 0):
        self.where = where
        self.values = values
        self.lengths = lengths
        self.first = first
        self.starts = np.cumsum(lengths) - lengths  # (L,)

    @classmethod
    def blocks(cls, source: TextSource, name: str) -> Iterator[Lines]:
        """A file, some thousand lines at a time."""
        first, where = 0, source.where(name)
        for block in line_blocks(source, name):
            values, lengths = _tokens(block, where, first + 1)
            yield cls(where, values, lengths, first)
            first += len(lengths)

    @classmethod
    def read(cls, source: TextSource, name: str) -> Lines:
        """A whole file."""
        blocks = list(cls.blocks(source, name))
        if not blocks:
            raise DatasetError(f"{source.where(name)} is empty; its first line should be the number of graphs.")
        values, lengths = (np.concatenate(parts) for parts in zip(*((b.values, b.lengths) for b in blocks)))
        return cls(blocks[0].where, values, lengths)

    def then(self, other: Lines) -> Lines:
        """These lines and those that follow them."""
        if len(self.lengths) == 0:
            return other
        values, lengths = np.concatenate([self.values, other.values]), np.concatenate([self.lengths, other.lengths])
        return Lines(self.where, values, lengths, self.first)

    def after(self, line: int) -> Lines:
        """What is left without the lines before number `line` of the file."""
        gone = min(max(0, line - self.first), len(self.lengths))
        start = self.starts[gone] if gone < len(self.lengths) else len(self.values)
        return Lines(self.where, self.values[start:], self.lengths[gone:], self.first + gone)

    def fail(self, line: int, problem: str) -> NoReturn:
        place = f"{self.where}, line {self.first + line + 1}"
        raise DatasetError(f"{place}: {problem}. Correct that line, or get the file again.")

    def whole(self, lines: np.ndarray, position: int, meaning: str) -> np.ndarray:
        """The number at one position of many lines; it must be whole."""
        found = self.values[self.starts[lines] + position]
        broken = np.flatnonzero(not_whole(found))
        if len(broken):
            self.fail(lines[broken[0]], f"the {meaning} {found[broken[0]]:g} is not a whole number")
        return found.astype(np.int64)


def _tokens(block: bytes, where: str, first_line: int) -> tuple[np.ndarray, np.ndarray]:
    """The numbers of a block and how many each line has."""
    blank = np.frombuffer(block.translate(_BLANK), dtype=bool)
    begins = ~blank
    begins[1:] &= blank[:-1]  # the first sign of each token
    ends = np.flatnonzero(np.frombuffer(block, dtype=np.uint8) == ord("\n"))
    per_line = np.diff(np.concatenate([[0], np.cumsum(begins, dtype=np.int64)[ends]]))
    for kind in (int, float):
        values = parse_numbers(block, kind)
        if values is not None and len(values) == per_line.sum():
            return values, per_line
    for number, line in enumerate(block.split(b"\n"), first_line):
        for field in line.split():
            if parse_field(field, float) is None:
                raise DatasetError(f"{where}, line {number}: {shown(field)} is not a finite number. Correct that line.")
    raise DatasetError(f"{where}, lines {first_line} … : numbers run into each other. Put blanks between them.")


def not_whole(values: np.ndarray) -> np.ndarray:
    """Where a number has a fraction, or is so large that its last digits are lost."""
    if values.dtype.kind == "i":
        return np.zeros(values.shape, dtype=bool)
    return (values != np.floor(values)) | (np.abs(values) > 2**53)
