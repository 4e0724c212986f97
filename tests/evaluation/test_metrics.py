"""Figures of merit against their definitions, counted by hand."""

from __future__ import annotations

import numpy as np
import pytest

from spgnn_dgl.evaluation.metrics import confusion, log_loss, roc_auc, scores

RNG = np.random.default_rng(0)


def example(num_classes: int, count: int = 40):
    labels = RNG.integers(0, num_classes, count)
    probabilities = RNG.dirichlet(np.ones(num_classes), count)
    return labels, probabilities


@pytest.mark.parametrize("num_classes", [2, 3, 5])
def test_scores_by_counting(num_classes):
    labels, probabilities = example(num_classes)
    predicted = [max(range(num_classes), key=row.__getitem__) for row in probabilities.tolist()]
    recalls, f1s = [], []
    for c in range(num_classes):
        hits = sum(t == c and p == c for t, p in zip(labels, predicted))
        truly, said = sum(t == c for t in labels), sum(p == c for p in predicted)
        recalls.append(hits / truly)
        f1s.append(2 * hits / (truly + said))
    found = scores(labels, probabilities)
    assert found["accuracy"] == pytest.approx(np.mean([t == p for t, p in zip(labels, predicted)]))
    assert found["balanced_accuracy"] == pytest.approx(np.mean(recalls))
    assert found["macro_f1"] == pytest.approx(np.mean(f1s))


@pytest.mark.parametrize("num_classes", [2, 3])
def test_roc_auc_is_the_share_of_pairs_in_the_right_order(num_classes):
    labels, probabilities = example(num_classes)
    areas = []
    for c in range(num_classes) if num_classes > 2 else [1]:
        own, other = probabilities[labels == c, c], probabilities[labels != c, c]
        areas.append(np.mean([(a > b) + 0.5 * (a == b) for a in own for b in other]))
    assert roc_auc(labels, probabilities) == pytest.approx(np.mean(areas))


def test_a_class_without_graphs_in_the_fold_does_not_count():
    labels = np.array([0, 0, 2])
    probabilities = np.array([[0.8, 0.1, 0.1], [0.1, 0.8, 0.1], [0.2, 0.2, 0.6]])
    found = scores(labels, probabilities)
    assert found["balanced_accuracy"] == pytest.approx((0.5 + 1) / 2)
    assert found["roc_auc"] is not None


def test_roc_auc_of_one_class_does_not_exist():
    assert roc_auc(np.array([1, 1]), np.array([[0.3, 0.7], [0.6, 0.4]])) is None
    assert roc_auc(np.array([1, 1]), np.full((2, 3), 1 / 3)) is None


def test_confusion_counts_and_keeps_absent_classes():
    assert confusion(np.array([0, 0, 2]), np.array([0, 2, 2]), 3).tolist() == [[1, 0, 1], [0, 0, 0], [0, 0, 1]]


def test_log_loss_is_finite_for_a_certain_mistake():
    assert log_loss(np.array([0, 1]), np.array([[0.5, 0.5], [0.5, 0.5]])) == pytest.approx(np.log(2))
    assert np.isfinite(log_loss(np.array([0]), np.array([[0.0, 1.0]])))
