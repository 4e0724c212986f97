from __future__ import annotations

import numpy as np
import pytest

from spgnn_dgl.bench.kernels import grakel_dictionaries
from spgnn_dgl.methods import make_method
from spgnn_dgl.methods.budget import Deadline
from tests.conftest import random_dataset

NO_LIMIT = Deadline(None, "test")


def test_equals_grakel() -> None:
    grakel = pytest.importorskip("grakel.kernels.weisfeiler_lehman")
    data = random_dataset(25, 2, max_nodes=10, num_labels=3)
    method = make_method("wl")
    method.labels_ = "labels"
    for height, ours in zip((1, 2, 5), method.kernels(data, data, (1, 2, 5), NO_LIMIT)):
        theirs = grakel.WeisfeilerLehman(n_iter=height, normalize=True).fit_transform(grakel_dictionaries(data))
        np.testing.assert_allclose(ours, theirs, rtol=1e-6)


@pytest.mark.real_data
def test_equals_grakel_on_a_benchmark(real_dataset) -> None:
    grakel = pytest.importorskip("grakel.kernels.weisfeiler_lehman")
    data = real_dataset("MUTAG")
    method = make_method("wl")
    method.labels_ = "labels"
    (ours,) = method.kernels(data, data, (3,), NO_LIMIT)
    theirs = grakel.WeisfeilerLehman(n_iter=3, normalize=True).fit_transform(grakel_dictionaries(data))
    np.testing.assert_allclose(ours, theirs, rtol=1e-6)


def test_kernel_between_two_datasets_is_a_block_of_the_joint_one() -> None:
    data = random_dataset(20, 4)
    method = make_method("wl")
    method.labels_ = "labels"
    (whole,) = method.kernels(data, data, (2,), NO_LIMIT)
    (block,) = method.kernels(data[:6], data[6:], (2,), NO_LIMIT)
    np.testing.assert_array_equal(block, whole[:6, 6:])
