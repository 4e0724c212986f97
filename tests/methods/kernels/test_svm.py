"""The decision function as arrays against scikit-learn's own."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_iris, load_wine
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.preprocessing import scale
from sklearn.svm import SVC

from spgnn_dgl.errors import BudgetExceeded, OptionError
from spgnn_dgl.methods.kernels.svm import PENALTIES, KernelSVM, check_penalty, choose


def problem(classes: int) -> tuple[np.ndarray, np.ndarray]:
    X, y = load_wine(return_X_y=True)
    keep = y < classes
    return rbf_kernel(scale(X[keep]), gamma=0.05), y[keep]


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("penalty", [0.01, 1.0, 100.0])
def test_scores_are_those_of_scikit_learn(classes: int, penalty: float) -> None:
    kernel, y = problem(classes)
    train, test = np.arange(0, len(y), 2), np.arange(1, len(y), 2)
    inner, outer = kernel[np.ix_(train, train)], kernel[np.ix_(test, train)]
    svc = SVC(C=penalty, kernel="precomputed", break_ties=classes > 2).fit(inner, y[train])
    svm = KernelSVM.fit(inner, y[train], penalty)
    scores = svm.scores(outer[:, svm.support])
    expected = svc.decision_function(outer)
    np.testing.assert_allclose(scores[:, 1] if classes == 2 else scores, expected, atol=1e-9)
    np.testing.assert_array_equal(scores.argmax(axis=1), svc.predict(outer))
    probabilities = svm.probabilities(outer[:, svm.support], classes)
    np.testing.assert_array_equal(probabilities.argmax(axis=1), svc.predict(outer))
    np.testing.assert_allclose(probabilities.sum(axis=1), 1)


def test_a_class_that_did_not_occur_has_probability_zero() -> None:
    kernel, y = problem(2)
    svm = KernelSVM.fit(kernel, y * 2, 1.0)  # classes 0 and 2 of four
    probabilities = svm.probabilities(kernel[:, svm.support], 4)
    assert (probabilities[:, [1, 3]] == 0).all()
    np.testing.assert_allclose(probabilities.sum(axis=1), 1)


def test_arrays_bring_it_back() -> None:
    kernel, y = problem(3)
    svm = KernelSVM.fit(kernel, y, 1.0)
    again = KernelSVM.restored(svm.state())
    np.testing.assert_array_equal(again.scores(kernel[:, svm.support]), svm.scores(kernel[:, svm.support]))


def candidates() -> tuple[dict[str, np.ndarray], np.ndarray]:
    X, y = load_iris(return_X_y=True)
    noise = np.random.default_rng(0).normal(size=(len(y), 2))
    return {"noise": rbf_kernel(noise), "good": rbf_kernel(scale(X), gamma=0.1)}, y


def choices(**changed: object) -> tuple[str, float]:
    kernels, y = candidates()
    arguments: dict = {"folds": 3, "seed": 0, "check": lambda: None} | changed
    return choose(((n, k, None) for n, k in kernels.items()), y, None, PENALTIES, **arguments)


def test_the_better_kernel_and_a_sensible_penalty_are_chosen() -> None:
    name, penalty = choices()
    assert name == "good"
    assert penalty >= 0.1


def test_validation_graphs_decide_where_they_are_given() -> None:
    kernels, y = candidates()
    train, held_out = np.arange(0, 150, 2), np.arange(1, 150, 2)
    # with shuffled answers on the held-out side, only chance is left; with the right ones the good kernel wins
    name, _ = choose(
        ((n, k[np.ix_(train, train)], k[np.ix_(held_out, train)]) for n, k in kernels.items()),
        y[train],
        y[held_out],
        PENALTIES,
        folds=3,
        seed=0,
        check=lambda: None,
    )
    assert name == "good"


def test_where_nothing_can_be_held_out() -> None:
    assert choose(
        iter([("only", np.eye(3), None)]), np.array([0, 0, 1]), None, PENALTIES, folds=5, seed=0, check=int
    ) == (
        "only",
        1.0,
    )


def test_the_search_ends_with_the_budget() -> None:
    def over() -> None:
        raise BudgetExceeded("over")

    with pytest.raises(BudgetExceeded):
        choices(check=over)


@pytest.mark.parametrize("C", [0, -1.0, "big", True])
def test_a_penalty_is_a_positive_number(C: float | str) -> None:
    with pytest.raises(OptionError, match="positive number"):
        check_penalty(C)
