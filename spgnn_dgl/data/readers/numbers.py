"""Tables of numbers in text files, read fast and strictly.

A block of lines is parsed as a whole where its signs prove that every field holds exactly one number. Any doubt sends
the block through the exact path, line by line, whose job is to find the file, the line and the text of the mistake.
"""

from __future__ import annotations

import math
import re
import warnings
from collections.abc import Iterator

import numpy as np

from spgnn_dgl.data.readers.sources import TextSource, line_blocks
from spgnn_dgl.errors import DatasetError

INT64 = np.iinfo(np.int64)
_BLANKS = b" \t"
_SIGNS = {int: b"0123456789+-", float: b"0123456789+-.eE"}
_LONE_SIGN = re.compile(rb"[-+](?![0-9])")
_IS_SEPARATOR = bytes(sign in b",\n" for sign in range(256))


def read_table(
    source: TextSource,
    name: str,
    kind: type,
    *,
    columns: int | None = None,
    limits: tuple[int, int] | None = None,
    meaning: str = "a number",
) -> np.ndarray:
    """All rows of a comma-separated text file of numbers.

    Parameters
    ----------
    kind
        ``int`` or ``float``.
    columns
        Fields per line; None takes what the first line has.
    limits
        Smallest and largest value allowed; the table is then int32.
    meaning
        What a field is, for messages: ``"a node number from 1 to 17"``.

    Returns
    -------
    table
        (columns, rows) int64, int32 or float64: one contiguous row per column of the file.
    """
    blocks = list(table_blocks(source, name, kind, columns=columns, limits=limits, meaning=meaning))
    if not blocks:
        raise DatasetError(f"{source.where(name)} is empty; every line should hold {meaning}. Get the file again.")
    return _joined(blocks, sum(block.shape[1] for block in blocks))


def table_blocks(
    source: TextSource,
    name: str,
    kind: type,
    *,
    columns: int | None = None,
    limits: tuple[int, int] | None = None,
    meaning: str = "a number",
    skip: int = 0,
) -> Iterator[np.ndarray]:
    """As :func:`read_table`, some thousand rows at a time; the first `skip` rows are not looked at."""
    rows = 0
    for block in line_blocks(source, name):
        if rows < skip:
            lines = block.count(b"\n")
            if rows + lines <= skip:
                rows += lines
                continue
            ends = np.flatnonzero(np.frombuffer(block, dtype=np.uint8) == ord("\n"))
            block, rows = block[ends[skip - rows - 1] + 1 :], skip
        values = _parse_fast(block, kind, columns, limits)
        if values is None:
            values = _parse_exactly(block, kind, columns, limits, meaning, source.where(name), first_line=rows + 1)
        columns = values.shape[1]
        yield np.ascontiguousarray(values.T, dtype=np.int32 if limits else None)
        rows += len(values)


def _joined(blocks: list[np.ndarray], rows: int) -> np.ndarray:
    """Blocks side by side; each is let go as soon as it is copied."""
    if len(blocks) == 1:
        return blocks[0]
    table = np.empty((len(blocks[0]), rows), dtype=blocks[0].dtype)
    blocks.reverse()
    start = 0
    while blocks:
        block = blocks.pop()
        table[:, start : start + block.shape[1]] = block
        start += block.shape[1]
    return table


def _parse_fast(block: bytes, kind: type, columns: int | None, limits: tuple[int, int] | None) -> np.ndarray | None:
    """(lines, columns) values, or None where the block is not plainly a table of such numbers.

    Every line has the same commas and no field is empty, so each field gives at least one value; as many values as
    fields then means exactly one value per field.
    """
    separators = np.frombuffer(block.translate(_IS_SEPARATOR, _BLANKS), dtype=bool)
    if separators[0] or (separators[1:] & separators[:-1]).any():
        return None
    skeleton = block.translate(None, _BLANKS + _SIGNS[kind])
    line = skeleton[: skeleton.index(b"\n") + 1]
    lines = skeleton.count(b"\n")
    if skeleton != line * lines or line.strip(b",") != b"\n" or columns not in (None, len(line)):
        return None
    values = parse_numbers(block if len(line) == 1 else block.replace(b",", b" "), kind)
    if values is None or len(values) != lines * len(line):
        return None
    if limits and (values.min() < limits[0] or values.max() > limits[1]):
        return None
    return values.reshape(lines, len(line))


def parse_numbers(text: bytes, kind: type) -> np.ndarray | None:
    """All numbers of a text with blanks between them as int64 or float64; None where something else is among them."""
    if kind is int and (b"-" in text or b"+" in text) and _LONE_SIGN.search(text):
        return None  # numpy would read "- 2" as -2, and "-" at the end as 0
    with warnings.catch_warnings():
        warnings.simplefilter("error", DeprecationWarning)  # what older numpy says where newer raises ValueError
        try:
            values = np.fromstring(text, dtype=np.int64 if kind is int else np.float64, sep=" ")
        except (ValueError, DeprecationWarning):
            return None
    if kind is float:
        return values if np.isfinite(values).all() else None
    # larger numbers than an int64 come out as the largest one
    return None if values.size and (values.max() == INT64.max or values.min() == INT64.min) else values


def _parse_exactly(
    block: bytes,
    kind: type,
    columns: int | None,
    limits: tuple[int, int] | None,
    meaning: str,
    where: str,
    first_line: int,
) -> np.ndarray:
    """The values of a block of unusual form, or the error that names its first bad line."""
    table = []
    for number, line in enumerate(block.split(b"\n")[:-1], first_line):
        place = f"{where}, line {number}"
        if not line.strip():
            raise DatasetError(f"{place} is empty; it should hold {meaning}. Remove the blank line, or fill it in.")
        fields = line.split(b",") if b"," in line else line.split()
        if columns is None:
            columns = len(fields)
        if len(fields) != columns:
            raise DatasetError(
                f"{place}: {shown(line)} has {len(fields)} fields, {columns} expected ({meaning}). Correct that line."
            )
        row = [parse_field(field, kind) for field in fields]
        for field, value in zip(fields, row):
            if value is None or (limits and not limits[0] <= value <= limits[1]):
                raise DatasetError(f"{place}: {shown(field)} is not {meaning}. Correct that line.")
        table.append(row)
    return np.array(table, dtype=np.int64 if kind is int else np.float64)


def parse_field(field: bytes, kind: type) -> int | float | None:
    """One number, or None: not a number, not finite, too large, or (for ``int``) not whole."""
    text = field.strip()
    if b"_" in text:  # Python reads 1_000 as a number
        return None
    try:
        value = int(text) if kind is int and text.lstrip(b"+-").isdigit() else float(text)
    except ValueError:
        return None
    if not math.isfinite(value) or (kind is int and (value != int(value) or not INT64.min <= value <= INT64.max)):
        return None
    return kind(value)


def shown(text: bytes, longest: int = 40) -> str:
    """A piece of a file for a message, cut to a readable length."""
    plain = text.strip().decode("utf-8", "replace")
    return repr(plain if len(plain) <= longest else plain[: longest - 1] + "…")
