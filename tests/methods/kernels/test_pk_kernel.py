from __future__ import annotations

import numpy as np
import pytest

from spgnn_dgl.bench.kernels import grakel_graphs
from spgnn_dgl.errors import OptionError
from spgnn_dgl.methods import make_method
from spgnn_dgl.methods.budget import Deadline
from spgnn_dgl.methods.kernels.pk import PropagationKernel
from tests.conftest import random_dataset

NO_LIMIT = Deadline(None, "test")


def test_equals_grakel_with_the_same_hashing(monkeypatch: pytest.MonkeyPatch) -> None:
    grakel = pytest.importorskip("grakel.kernels.propagation")
    data = random_dataset(30, 2, max_nodes=10, num_labels=3)
    theirs = grakel.Propagation(w=0.05, t_max=4, random_state=0, normalize=True)  # t = 0, 1, 2, 3
    expected = theirs.fit_transform(grakel_graphs(data))
    number_of = {f"label {label}": number for label, number in theirs._enum_labels.items()}

    def hashing(self, names, step):
        return theirs._u[step][[number_of[name] for name in names]], theirs._b[step]

    monkeypatch.setattr(PropagationKernel, "hashing", hashing)
    method = make_method("pk", {"bin_width": 0.05})
    method.labels_ = "labels"
    (ours,) = method.kernels(data, data, (3,), NO_LIMIT)
    np.testing.assert_allclose(ours, expected, rtol=1e-6)
    assert len(np.unique(ours)) > 100  # bins wide enough for graphs to meet, narrow enough to differ


def test_directions_are_cauchy_and_belong_to_the_label() -> None:
    method = PropagationKernel()
    names = tuple(str(n) for n in range(4000))
    directions, offset = method.hashing(names, 1)
    quartiles = np.quantile(directions, [0.25, 0.5, 0.75])  # of the standard Cauchy distribution: -1, 0, 1
    np.testing.assert_allclose(quartiles, [-1, 0, 1], atol=0.12)
    assert 0 <= offset < method.bin_width
    np.testing.assert_array_equal(method.hashing(names[7:9], 1)[0], directions[7:9])
    assert not np.allclose(method.hashing(names, 2)[0], directions)
    assert not np.allclose(PropagationKernel(hash_seed=1).hashing(names, 1)[0], directions)


def test_kernel_between_two_datasets_is_a_block_of_the_joint_one() -> None:
    data = random_dataset(20, 4)
    method = make_method("pk")
    method.labels_ = "labels"
    (whole,) = method.kernels(data, data, (2,), NO_LIMIT)
    (block,) = method.kernels(data[:6], data[6:], (2,), NO_LIMIT)
    np.testing.assert_array_equal(block, whole[:6, 6:])


def test_a_bin_has_a_width() -> None:
    with pytest.raises(OptionError, match="bin_width"):
        make_method("pk", {"bin_width": 0})
