"""What a set of fold accuracies says, and whether two of them differ.

Folds share training graphs, so their scores are not independent and a plain standard error is too small. Intervals
and paired tests here use the correction of Nadeau and Bengio (Machine Learning 52, 2003): the variance of the mean of
J scores is (1/J + n_test/n_train) times their variance, instead of 1/J times.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import stats

from spgnn_dgl.errors import RunError

LEVEL = 0.05


@dataclass(frozen=True)
class Comparison:
    """Outcome of a two-sided test: `difference` of the means (first minus second), statistic, degrees, p."""

    difference: float
    t: float
    degrees: float
    p: float


def summary(
    scores: np.ndarray, *, shared_folds: bool, num_train: float, num_test: float, tested: int
) -> dict[str, Any]:
    """Mean, spreads and interval of the scores of all folds and repeats.

    Parameters
    ----------
    scores
        (R, F) one score per repeat and fold; NaN where a training did not finish.
    shared_folds
        Whether all repeats use the same folds. Then a fold's score is its mean over repeats, and `std_folds` is the
        deviation over the folds' scores; otherwise it is the root of the variance over folds, averaged over repeats.
    num_train, num_test
        Average numbers of training and tested graphs of a fold, for the corrected interval.
    tested
        Number of all tested graphs; for the interval of a single fold.

    Returns
    -------
    dict
        `mean`, `std_folds` with `num_folds`, `std_repeats` with `num_repeats`, `interval` (95 %), `interval_kind`.
        A deviation of fewer than two values is None.
    """
    scores = np.asarray(scores, dtype=np.float64)
    finite = np.isfinite(scores)
    if not finite.any():
        return {
            "mean": None, "std_folds": None, "num_folds": scores.shape[1], "std_repeats": None,
            "num_repeats": scores.shape[0], "interval": None, "interval_kind": "nothing finished",
        }  # fmt: skip
    if shared_folds:
        folds = _mean(scores, axis=0)  # (F,)
        folds = folds[np.isfinite(folds)]
        within = np.array([folds.var(ddof=1)]) if len(folds) > 1 else np.zeros(0)
    else:
        folds = scores[finite]  # (J,)
        within = np.array([row[ok].var(ddof=1) for row, ok in zip(scores, finite) if ok.sum() > 1])
    repeats = _mean(scores, axis=1)
    repeats = repeats[np.isfinite(repeats)]
    interval, kind = _interval(folds, num_train, num_test, tested)
    return {
        "mean": float(folds.mean()),
        "std_folds": float(np.sqrt(within.mean())) if len(within) else None,
        "num_folds": int(scores.shape[1]),
        "std_repeats": float(repeats.std(ddof=1)) if len(repeats) > 1 else None,
        "num_repeats": int(scores.shape[0]),
        "interval": interval,
        "interval_kind": kind,
    }


def _mean(scores: np.ndarray, axis: int) -> np.ndarray:
    """Mean over the finite entries; NaN where there are none."""
    finite = np.isfinite(scores)
    count = finite.sum(axis=axis)
    total = np.where(finite, scores, 0).sum(axis=axis)
    return np.where(count > 0, total / np.maximum(count, 1), np.nan)


def _interval(folds: np.ndarray, num_train: float, num_test: float, tested: int) -> tuple[list[float], str]:
    mean = float(folds.mean())
    if len(folds) == 1:
        exact = stats.binomtest(round(mean * tested), tested).proportion_ci(1 - LEVEL, method="wilson")
        return [float(exact.low), float(exact.high)], "Wilson, over the tested graphs"
    error = np.sqrt((1 / len(folds) + num_test / num_train) * folds.var(ddof=1))
    half = float(stats.t.ppf(1 - LEVEL / 2, len(folds) - 1) * error)
    return [max(0.0, mean - half), min(1.0, mean + half)], "t over folds, Nadeau–Bengio correction"


def corrected_t_test(first: np.ndarray, second: np.ndarray, *, num_train: float, num_test: float) -> Comparison:
    """Corrected resampled t-test on scores that share their folds, pair by pair.

    .. math:: t = \\bar d \\Big/ \\sqrt{(1/J + n_{test}/n_{train})\\, s_d^2}, \\quad J - 1 \\text{ degrees of freedom}

    Parameters
    ----------
    first, second
        (J,) scores of the same folds in the same order.
    """
    first, second = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    if first.shape != second.shape or len(first) < 2:
        raise RunError(f"{len(first)} and {len(second)} fold scores cannot be paired; a test needs two pairs or more.")
    differences = first - second
    degrees = len(differences) - 1
    mean = float(differences.mean())
    error = float(np.sqrt((1 / len(differences) + num_test / num_train) * differences.var(ddof=1)))
    return _from_t(mean, error, degrees)


def welch(mean1: float, std1: float, n1: int, mean2: float, std2: float, n2: int) -> Comparison:
    """Welch's t-test where only means, deviations and their numbers are known, as for printed results."""
    if min(n1, n2) < 2:
        raise RunError(f"deviations over {n1} and {n2} values were given; Welch's test needs two or more each.")
    variance1, variance2 = std1**2 / n1, std2**2 / n2
    total = variance1 + variance2
    spread = variance1**2 / (n1 - 1) + variance2**2 / (n2 - 1)
    degrees = total**2 / spread if spread > 0 else n1 + n2 - 2
    return _from_t(mean1 - mean2, float(np.sqrt(total)), degrees)


def _from_t(mean: float, error: float, degrees: float) -> Comparison:
    if error == 0:  # all pairs differ by the same amount
        return Comparison(mean, 0.0 if mean == 0 else float(np.copysign(np.inf, mean)), degrees, float(mean == 0))
    t = mean / error
    return Comparison(mean, t, degrees, float(2 * stats.t.sf(abs(t), degrees)))


def holm(p_values: Sequence[float]) -> list[float]:
    """p-values adjusted for their number by Holm's step-down rule, in the given order.

    >>> [round(p, 6) for p in holm([0.01, 0.04, 0.03])]
    [0.03, 0.06, 0.06]
    """
    p = np.asarray(p_values, dtype=np.float64)
    order = np.argsort(p)
    factors = len(p) - np.arange(len(p))
    adjusted = np.empty(len(p))
    adjusted[order] = np.minimum(1.0, np.maximum.accumulate(factors * p[order]))
    return adjusted.tolist()


@dataclass(frozen=True)
class Ranking:
    """Average ranks of M methods over D datasets (1 is best) and the difference from which two differ."""

    methods: tuple[str, ...]
    ranks: tuple[float, ...]
    num_datasets: int
    friedman_p: float | None  # None: fewer than three methods
    critical_difference: float


def average_ranks(scores: np.ndarray) -> np.ndarray:
    """(M,) ranks averaged over datasets; the best method of a dataset has rank 1, equals share their ranks.

    Parameters
    ----------
    scores
        (D, M), larger is better.
    """
    return stats.rankdata(-np.asarray(scores), axis=1).mean(axis=0)


def rank_methods(methods: Sequence[str], scores: np.ndarray) -> Ranking:
    """Friedman's test over datasets with Nemenyi's critical difference (Demšar, JMLR 7, 2006).

    Parameters
    ----------
    methods
        M names.
    scores
        (D, M) accuracies without gaps; at least two datasets and two methods.
    """
    scores = np.asarray(scores, dtype=np.float64)
    num_datasets, num_methods = scores.shape
    if num_datasets < 2 or num_methods < 2:
        raise RunError(
            f"ranks need at least two methods on at least two datasets that all of them have; here are {num_methods} "
            f"methods on {num_datasets} datasets."
        )
    p = None
    if num_methods > 2:
        constant = bool((scores == scores[:, :1]).all())  # all tie everywhere: the statistic is 0/0
        p = 1.0 if constant else float(stats.friedmanchisquare(*scores.T).pvalue)
    quantile = stats.studentized_range.ppf(1 - LEVEL, num_methods, np.inf) / np.sqrt(2)
    difference = float(quantile * np.sqrt(num_methods * (num_methods + 1) / (6 * num_datasets)))
    ranks = tuple(average_ranks(scores).tolist())
    return Ranking(tuple(methods), ranks, num_datasets, p, difference)
