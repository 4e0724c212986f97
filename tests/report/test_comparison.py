"""Runs side by side: the bold rule, the tests behind it, ranks, and what is refused."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy import stats

from spgnn_dgl.errors import OptionError, RunError
from spgnn_dgl.report.comparison import compare_runs
from spgnn_dgl.report.tables import render
from tests.report.finished import finished

BASE = np.random.default_rng(0).normal(0.75, 0.04, 10)


def test_paired_tests_with_holm_over_the_rivals(tmp_path):
    rng = np.random.default_rng(1)
    scores = {"a": BASE + 0.03, "b": BASE + rng.normal(0, 0.01, 10), "c": BASE - 0.2 + rng.normal(0, 0.02, 10)}
    comparison = compare_runs([finished(tmp_path, "D", m, s) for m, s in scores.items()])
    by_hand = {}
    for rival in "bc":
        plain = stats.ttest_rel(scores["a"], scores[rival])
        by_hand[rival] = 2 * stats.t.sf(abs(plain.statistic) / np.sqrt(1 + 10 * 10 / 90), 9)
    for rival in comparison.rivals:
        assert (rival.best, rival.test) == ("a", "Nadeau–Bengio")
        assert rival.p == pytest.approx(by_hand[rival.method])
        assert rival.difference == pytest.approx(100 * np.mean(scores["a"] - scores[rival.method]))
    ordered = sorted(comparison.rivals, key=lambda r: r.p)
    assert ordered[0].p_holm == pytest.approx(2 * ordered[0].p)
    assert ordered[1].p_holm == pytest.approx(max(2 * ordered[0].p, ordered[1].p))


def test_bold_are_the_best_and_those_close_by_that_no_test_tells_apart(tmp_path):
    noise = np.random.default_rng(1).normal(0, 0.02, 10)
    runs = [
        finished(tmp_path, "D", "best", BASE),
        finished(tmp_path, "D", "close", BASE - 0.001 + noise - noise.mean()),  # 0.1 points behind, noisy
        finished(tmp_path, "D", "steady", BASE - 0.001),  # 0.1 points behind, in every fold
        finished(tmp_path, "D", "far", BASE - 0.01 + noise - noise.mean()),  # 1 point behind
    ]
    assert compare_runs(runs).bold == {("D", "best"), ("D", "close")}


def test_runs_with_different_folds_are_not_paired(tmp_path):
    runs = [finished(tmp_path, "D", "a", BASE), finished(tmp_path, "D", "b", BASE - 0.1, folds="others")]
    with pytest.raises(RunError, match="different folds of D"):
        compare_runs(runs)
    (rival,) = compare_runs(runs, unpaired=True).rivals
    expected = stats.ttest_ind_from_stats(
        100 * BASE.mean(),
        100 * BASE.std(ddof=1),
        10,
        100 * (BASE.mean() - 0.1),
        100 * BASE.std(ddof=1),
        10,
        equal_var=False,
    )
    assert rival.test == "Welch"
    assert rival.p == pytest.approx(expected.pvalue)


def test_repeats_over_the_same_folds_are_averaged_before_pairing(tmp_path):
    runs = [
        finished(tmp_path, "D", m, np.concatenate([BASE + d, BASE]), repeats=2) for m, d in (("a", 0.02), ("b", 0.0))
    ]
    for run in runs:
        config = {**run.config, "shared_folds": True}
        (run.path / "config.json").write_text(json.dumps(config))
    cells = compare_runs(runs).cells
    np.testing.assert_allclose(cells["D", "a"].scores, 100 * (BASE + 0.01))


def test_printed_rows_are_compared_by_welch(tmp_path):
    comparison = compare_runs([finished(tmp_path, "MUTAG", "spgnn", BASE)], printed=True)
    assert str(comparison.cells["MUTAG", "spgnn (printed)"]) == "84.39 ± 0.19"
    (rival,) = comparison.rivals
    assert (rival.best, rival.test) == ("spgnn (printed)", "Welch")


def test_ranks_over_datasets_that_all_methods_have(tmp_path):
    runs = []
    for dataset, order in (("D1", "abc"), ("D2", "acb"), ("D3", "abc")):
        runs += [finished(tmp_path, dataset, m, BASE - 0.05 * i) for i, m in enumerate(order)]
    runs.append(finished(tmp_path, "D4", "a", BASE))
    ranking = compare_runs(runs).ranking
    assert dict(zip(ranking.methods, ranking.ranks)) == pytest.approx({"a": 1.0, "b": 7 / 3, "c": 8 / 3})
    assert ranking.num_datasets == 3
    alone = compare_runs(runs[-1:])
    assert alone.ranking is None
    assert "two methods on two datasets" in render(alone)


def test_runs_that_did_not_finish_say_why_and_are_not_tested(tmp_path):
    runs = [finished(tmp_path, "D", "a", BASE), finished(tmp_path, "D", "rw", BASE + 0.1, status="timeout")]
    comparison = compare_runs(runs)
    assert str(comparison.cells["D", "rw"]) == "timeout"
    assert comparison.rivals == ()
    assert comparison.bold == {("D", "a")}


def test_the_same_method_twice_is_told_apart_or_refused(tmp_path):
    runs = [finished(tmp_path, "D", "a", BASE, seed=s, folds="f") for s in (0, 1)]
    assert compare_runs(runs).methods == ("a paper-seed0", "a paper-seed1")
    with pytest.raises(RunError, match="several runs of"):
        compare_runs([finished(tmp_path / "one", "D", "a", BASE), finished(tmp_path / "two", "D", "a", BASE)])


def test_honest_numbers_on_request_and_mixed_protocols_are_told(tmp_path):
    runs = [finished(tmp_path, "D", "a", BASE), finished(tmp_path, "D", "b", BASE, protocol="fair")]
    assert any("mixed" in note for note in compare_runs(runs).notes)
    assert compare_runs(runs, number="honest").notes == ()
    with pytest.raises(OptionError, match="number 'best'"):
        compare_runs(runs, number="best")
