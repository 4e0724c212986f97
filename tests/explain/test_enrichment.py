"""Fisher's exact test on counts, against SciPy's."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import fisher_exact

from spgnn_dgl.explain.enrichment import log_fisher


@pytest.mark.parametrize("seed", range(20))
def test_the_test_is_fishers(seed):
    rng = np.random.default_rng(seed)
    total = int(rng.integers(5, 60))
    first, second = rng.integers(1, total, 2)
    both = int(rng.integers(max(0, first + second - total), min(first, second) + 1))
    square = [[both, first - both], [second - both, total - first - second + both]]
    expected = fisher_exact(square, alternative="greater").pvalue
    found = np.exp(log_fisher(*(np.array([x]) for x in (both, first, second, total))))[0]
    assert found == pytest.approx(expected, rel=1e-9)


def test_p_values_too_small_to_write_keep_their_order():
    small, smaller = log_fisher(
        np.array([5000, 6000]), np.array([5000, 6000]), np.array([9000] * 2), np.array([90000] * 2)
    )
    assert smaller < small < -1000
