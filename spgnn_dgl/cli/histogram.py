"""A histogram for the terminal."""

from __future__ import annotations

import numpy as np

EIGHTHS = " ▏▎▍▌▋▊▉"
MOST_BINS = 12
LONG_TAIL = 8  # from this ratio of the largest value to the median on, the bins grow


def bin_edges(values: np.ndarray) -> np.ndarray:
    """Whole numbers e₀ < e₁ < … such that bin i holds the values from eᵢ to eᵢ₊₁ - 1."""
    low, high = int(values.min()), int(values.max()) + 1
    if high - low <= MOST_BINS:
        return np.arange(low, high + 1)
    if high > LONG_TAIL * max(1.0, float(np.median(values))):
        edges = np.geomspace(max(low, 1), high, MOST_BINS + 1)
    else:
        edges = np.linspace(low, high, MOST_BINS + 1)
    edges = np.unique(np.ceil(edges).astype(np.int64))
    edges[0], edges[-1] = low, high
    return edges


def histogram_lines(values: np.ndarray, width: int = 40) -> list[str]:
    """One line per bin: its range, a bar, its count.

    >>> for line in histogram_lines(np.array([1, 2, 2, 2, 3]), width=6):
    ...     print(line)
    1 │██      1
    2 │██████  3
    3 │██      1
    """
    edges = bin_edges(values)
    counts = np.histogram(values, edges)[0]
    ranges = [str(a) if b - a == 1 else f"{a}–{b - 1}" for a, b in zip(edges[:-1].tolist(), edges[1:].tolist())]
    widest, digits = max(map(len, ranges)), len(str(counts.max()))
    return [
        f"{text:>{widest}} │{bar(count / counts.max(), width):<{width}} {count:>{digits + 1}}"
        for text, count in zip(ranges, counts.tolist())
    ]


def bar(share: float, width: int) -> str:
    """A bar of `share` × `width` characters, exact to an eighth; what is not zero is visible."""
    eighths = max(round(share * width * 8), 1 if share > 0 else 0)
    return ("█" * (eighths // 8) + EIGHTHS[eighths % 8]).rstrip()
