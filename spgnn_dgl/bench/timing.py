"""Fair timing on a busy machine: candidates take turns, medians are compared, and the result is one table."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Row:
    """One line of a table of measurements.

    Parameters
    ----------
    what
        What was measured.
    ours, theirs
        Values with their unit, as text; `theirs` may be empty.
    ratio
        How many times better ours is; None where there is nothing to compare with.
    target
        What was aimed at, in words.
    holds
        Whether it was reached; None where there is no target.
    """

    what: str
    ours: str
    theirs: str = ""
    ratio: float | None = None
    target: str = ""
    holds: bool | None = None


def interleave(
    candidates: Mapping[str, Callable[[], Any]], rounds: int, clock: Callable[[], float] = time.perf_counter
) -> dict[str, list[float]]:
    """Seconds of each candidate in each round; in every round all take their turn, in alternating order.

    What else runs on the machine then slows all of them, and the ratio of medians stays meaningful.
    """
    seconds: dict[str, list[float]] = {name: [] for name in candidates}
    for number in range(rounds):
        names = list(candidates)
        for name in names if number % 2 == 0 else reversed(names):
            seconds[name].append(time_once(candidates[name], clock))
    return seconds


def time_once(work: Callable[[], Any], clock: Callable[[], float] = time.perf_counter) -> float:
    """Seconds one call takes; with ``time.process_time``, those in which the processor worked on it."""
    start = clock()
    work()
    return clock() - start


def medians(seconds: Mapping[str, Sequence[float]]) -> dict[str, float]:
    return {name: statistics.median(values) for name, values in seconds.items()}


def readable(seconds: float) -> str:
    """
    >>> readable(0.00042), readable(0.0042), readable(4.2)
    ('420 µs', '4.2 ms', '4.2 s')
    """
    for unit, size in (("s", 1.0), ("ms", 1e-3)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds * 1e6:.3g} µs"


def table(rows: Sequence[Row]) -> str:
    """The rows as an aligned Markdown table."""
    head = ("what", "ours", "theirs", "ratio", "target", "holds")
    body = [
        (
            row.what,
            row.ours,
            row.theirs,
            "" if row.ratio is None else f"{row.ratio:.1f}×",
            row.target,
            {None: "", True: "yes", False: "NO"}[row.holds],
        )
        for row in rows
    ]
    widths = [max(len(line[c]) for line in (head, *body)) for c in range(len(head))]
    lines = [head, tuple("-" * width for width in widths), *body]
    return "\n".join("| " + " | ".join(cell.ljust(w) for cell, w in zip(line, widths)) + " |" for line in lines)
