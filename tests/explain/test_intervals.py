"""Bootstrap intervals agree with SciPy's."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import bootstrap

from spgnn_dgl.explain.intervals import mean_interval


def test_interval_is_that_of_scipy():
    values = np.random.default_rng(0).exponential(size=200)
    found = mean_interval(values)
    expected = bootstrap((values,), np.mean, method="percentile", n_resamples=5000, rng=np.random.default_rng(1))
    assert found.mean == pytest.approx(values.mean())
    assert found.low == pytest.approx(expected.confidence_interval.low, abs=0.015)
    assert found.high == pytest.approx(expected.confidence_interval.high, abs=0.015)


def test_equal_seeds_make_differences_paired():
    rng = np.random.default_rng(0)
    first = rng.random(50)
    shift = mean_interval(first + 0.25)
    plain = mean_interval(first)
    assert shift.low - plain.low == pytest.approx(0.25)
    assert mean_interval((first + 0.25) - first).low == pytest.approx(0.25)


def test_no_graph_has_no_mean():
    found = mean_interval(np.array([]))
    assert np.isnan(found.mean)
    assert found.n == 0


def test_text():
    assert str(mean_interval(np.array([0.5, 0.5]))) == "0.500 [0.500, 0.500]"
