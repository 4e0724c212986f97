"""Statistics against computations by other means: SciPy's own tests, plain loops, published numbers."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from spgnn_dgl.errors import RunError
from spgnn_dgl.evaluation.statistics import (
    average_ranks,
    corrected_t_test,
    holm,
    rank_methods,
    summary,
    welch,
)

SIZES = {"num_train": 90.0, "num_test": 10.0, "tested": 100}


def describe(scores, *, shared_folds=False):
    return summary(np.array(scores), shared_folds=shared_folds, **SIZES)


def test_summary_of_one_repeat():
    scores = [0.7, 0.8, 0.9, 0.6]
    found = describe([scores])
    assert found["mean"] == pytest.approx(sum(scores) / 4)
    assert found["std_folds"] == pytest.approx(np.std(scores, ddof=1))
    assert (found["num_folds"], found["num_repeats"], found["std_repeats"]) == (4, 1, None)


def test_summary_of_repeats_with_folds_of_their_own_keeps_both_spreads_apart():
    scores = np.array([[0.6, 0.8, 0.7], [0.9, 0.7, 0.8]])
    found = describe(scores)
    assert found["std_folds"] == pytest.approx(np.sqrt((np.var(scores[0], ddof=1) + np.var(scores[1], ddof=1)) / 2))
    assert found["std_repeats"] == pytest.approx(np.std([0.7, 0.8], ddof=1))


def test_summary_of_repeats_over_the_same_folds_averages_each_fold_first():
    scores = np.array([[0.6, 0.8, 0.7], [0.8, 0.8, 0.3]])
    found = describe(scores, shared_folds=True)
    assert found["std_folds"] == pytest.approx(np.std([0.7, 0.8, 0.5], ddof=1))
    assert found["mean"] == pytest.approx(2 / 3)


def test_interval_is_wider_than_the_uncorrected_one_by_the_factor_of_nadeau_and_bengio():
    scores = np.array([0.71, 0.83, 0.78, 0.9, 0.65])
    low, high = describe([scores])["interval"]
    plain_low, plain_high = stats.t.interval(0.95, 4, scores.mean(), stats.sem(scores))
    factor = np.sqrt((1 / 5 + 10 / 90) / (1 / 5))
    assert (high - low) / (plain_high - plain_low) == pytest.approx(factor)
    assert (high + low) / 2 == pytest.approx(scores.mean())


def test_interval_stays_between_nought_and_one():
    low, high = describe([[0.0, 1.0, 1.0]])["interval"]
    assert (low, high) == (0.0, 1.0)


def test_interval_of_a_single_fold_is_wilsons():
    found = describe([[0.8]])
    n, p, z = 100, 0.8, stats.norm.ppf(0.975)
    centre, half = (
        (p + z**2 / (2 * n)) / (1 + z**2 / n),
        z * np.sqrt(p * (1 - p) / n + z**2 / (4 * n**2)) / (1 + z**2 / n),
    )
    assert found["interval"] == pytest.approx([centre - half, centre + half])
    assert found["std_folds"] is None


def test_trainings_that_did_not_finish_do_not_count():
    found = describe([[0.5, np.nan, 0.7]])
    assert found["mean"] == pytest.approx(0.6)
    assert describe([[np.nan, np.nan]])["mean"] is None


def test_corrected_t_test_is_the_paired_one_of_scipy_with_a_larger_variance():
    rng = np.random.default_rng(0)
    first, second = rng.normal(0.8, 0.05, 10), rng.normal(0.75, 0.05, 10)
    plain = stats.ttest_rel(first, second)
    found = corrected_t_test(first, second, num_train=90, num_test=10)
    expected = plain.statistic / np.sqrt(1 + 10 * 10 / 90)  # (1/J + q) / (1/J)
    assert found.t == pytest.approx(expected)
    assert found.p == pytest.approx(2 * stats.t.sf(abs(expected), 9))
    assert found.difference == pytest.approx(float(np.mean(first - second)))


def test_corrected_t_test_of_equal_scores_tells_nothing_apart():
    scores = np.array([0.5, 0.6, 0.7])
    assert corrected_t_test(scores, scores, num_train=2, num_test=1).p == 1.0
    assert corrected_t_test(scores + 0.5, scores + 0.25, num_train=2, num_test=1).p < 1e-6


@pytest.mark.parametrize(("first", "second"), [([0.5], [0.6]), ([0.5, 0.6], [0.5, 0.6, 0.7])])
def test_scores_that_cannot_be_paired_are_refused(first, second):
    with pytest.raises(RunError, match="cannot be paired"):
        corrected_t_test(np.array(first), np.array(second), num_train=2, num_test=1)


@given(
    mean1=st.floats(0, 100), std1=st.floats(0.01, 20), n1=st.integers(2, 50),
    mean2=st.floats(0, 100), std2=st.floats(0.01, 20), n2=st.integers(2, 50),
)  # fmt: skip
def test_welch_is_scipys(mean1, std1, n1, mean2, std2, n2):
    found = welch(mean1, std1, n1, mean2, std2, n2)
    expected = stats.ttest_ind_from_stats(mean1, std1, n1, mean2, std2, n2, equal_var=False)
    assert found.t == pytest.approx(expected.statistic)
    assert found.p == pytest.approx(expected.pvalue, abs=1e-12)


def test_welch_without_any_spread():
    assert welch(80, 0, 10, 80, 0, 10).p == 1.0
    assert welch(80, 0, 10, 70, 0, 10).p == 0.0
    with pytest.raises(RunError, match="two or more"):
        welch(80, 1, 1, 70, 1, 10)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=8))
def test_holm_rejects_what_the_step_down_rule_rejects(p_values):
    """The definition: walk through the ordered p-values and stop at the first that is above level / remaining."""
    level = 0.05
    rejected = set()
    for step, index in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        if p_values[index] * (len(p_values) - step) > level:
            break
        rejected.add(index)
    assert {i for i, p in enumerate(holm(p_values)) if p <= level} == rejected


def test_ranks_by_counting():
    scores = np.array([[0.9, 0.8, 0.8], [0.5, 0.7, 0.6]])
    expected = np.zeros(3)
    for row in scores:
        for method in range(3):
            better = sum(row[other] > row[method] for other in range(3))
            equal = sum(row[other] == row[method] for other in range(3))
            expected[method] += better + (equal + 1) / 2
    np.testing.assert_allclose(average_ranks(scores), expected / 2)


@pytest.mark.parametrize(("methods", "q"), [(2, 1.960), (3, 2.343), (5, 2.728), (10, 3.164)])
def test_critical_difference_with_the_constants_of_demsars_table(methods, q):
    scores = np.random.default_rng(0).normal(size=(14, methods))
    found = rank_methods([f"m{i}" for i in range(methods)], scores)
    assert found.critical_difference == pytest.approx(q * np.sqrt(methods * (methods + 1) / (6 * 14)), abs=2e-3)


def test_friedman_by_its_formula():
    scores = np.random.default_rng(1).normal(size=(7, 4))  # without ties
    ranks = np.array([[1 + sum(row > value) for value in row] for row in scores]).mean(axis=0)
    statistic = 12 * 7 / (4 * 5) * (np.sum(ranks**2) - 4 * 5**2 / 4)
    assert rank_methods("abcd", scores).friedman_p == pytest.approx(stats.chi2.sf(statistic, 3))
    assert rank_methods("abcd", np.ones((7, 4))).friedman_p == 1.0
    assert rank_methods("ab", scores[:, :2]).friedman_p is None


@pytest.mark.parametrize("shape", [(1, 3), (3, 1)])
def test_too_little_to_rank_is_refused(shape):
    with pytest.raises(RunError, match="at least two methods"):
        rank_methods("abc"[: shape[1]], np.ones(shape))


def test_level_of_the_corrected_test_on_cross_validated_coin_flips():
    """Two predictors that guess differ by chance only: the corrected test must not see more than its 5 %."""
    rng = np.random.default_rng(0)
    false_alarms = 0
    for _ in range(300):
        correct = rng.random((2, 100)) < 0.5  # (methods, graphs)
        first, second = (part.reshape(10, 10).mean(axis=1) for part in correct)
        false_alarms += corrected_t_test(first, second, num_train=90, num_test=10).p < 0.05
    assert false_alarms / 300 <= 0.05
