"""Means with bootstrap confidence intervals: graphs are drawn again, not nodes, because graphs are independent."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

RESAMPLES = 2000
LEVEL = 0.95


@dataclass(frozen=True)
class Interval:
    """A mean over `n` graphs and its confidence interval."""

    mean: float
    low: float
    high: float
    n: int

    def __str__(self) -> str:
        return f"{self.mean:.3f} [{self.low:.3f}, {self.high:.3f}]"


def mean_interval(values: np.ndarray, *, seed: int = 0, level: float = LEVEL, resamples: int = RESAMPLES) -> Interval:
    """The mean of one value per graph with its percentile bootstrap interval.

    Equal seeds and lengths draw the same graphs, so that the interval of a difference of two measurements on the same
    graphs is a paired one.

    Examples
    --------
    >>> mean_interval(np.array([1.0, 1.0, 1.0]))
    Interval(mean=1.0, low=1.0, high=1.0, n=3)
    """
    values = np.asarray(values, dtype=np.float64)
    if len(values) == 0:
        return Interval(float("nan"), float("nan"), float("nan"), 0)
    rng = np.random.default_rng(seed)
    # how often each graph is drawn: one product instead of resamples × graphs look-ups
    draws = rng.multinomial(len(values), np.full(len(values), 1 / len(values)), size=resamples)
    low, high = np.quantile(draws @ values / len(values), [(1 - level) / 2, (1 + level) / 2])
    return Interval(float(values.mean()), float(low), float(high), len(values))
