"""Whether the graphs of a dataset stand in an order that has to do with their classes."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class LabelOrder:
    """The runs of equal classes along the dataset, beside what a shuffled one would have.

    `score` is the distance from the expectation in standard deviations (negative: too few runs, the classes stand
    together); `p` the chance of a distance that large, either way, in a shuffled dataset.
    """

    runs: int
    expected: float
    score: float
    p: float


def label_order(labels: np.ndarray) -> LabelOrder | None:
    r"""The runs test of Wald and Wolfowitz, for any number of classes.

    With :math:`n_j` graphs of class j, n in all, :math:`q_2 = \sum n_j^2` and :math:`q_3 = \sum n_j^3`, the number of
    runs in random order has

    .. math::
        \mu = n + 1 - \frac{q_2}{n}, \qquad
        \sigma^2 = \frac{q_2 (q_2 + n(n+1)) - 2 n q_3 - n^3}{n^2 (n-1)}

    and is close to normal (Barton and David, *Multiple Runs*, Biometrika 1957).

    Parameters
    ----------
    labels
        (G,) class codes in the order of the dataset.

    Returns
    -------
    LabelOrder or None
        None where there is only one order: a single class, or a single graph.

    Examples
    --------
    >>> sorted_by_class = label_order(np.repeat([0, 1], 50))
    >>> sorted_by_class.runs, round(sorted_by_class.expected)
    (2, 51)
    """
    counts = np.unique(labels, return_counts=True)[1].astype(float)
    n = float(len(labels))
    if len(counts) < 2:
        return None
    runs = 1 + int((labels[1:] != labels[:-1]).sum())
    q2, q3 = float((counts**2).sum()), float((counts**3).sum())
    expected = n + 1 - q2 / n
    variance = (q2 * (q2 + n * (n + 1)) - 2 * n * q3 - n**3) / (n**2 * (n - 1))
    if variance <= 0:  # two graphs: the number of runs is always the same
        return None
    score = (runs - expected) / math.sqrt(variance)
    return LabelOrder(runs, expected, score, math.erfc(abs(score) / math.sqrt(2)))
