"""Figures of merit of class probabilities against known classes."""

from __future__ import annotations

import numpy as np

NAMES = ("accuracy", "balanced_accuracy", "macro_f1", "roc_auc")


def confusion(labels: np.ndarray, predicted: np.ndarray, num_classes: int) -> np.ndarray:
    """(C, C) counts; rows are the true classes.

    >>> confusion(np.array([0, 0, 1]), np.array([0, 1, 1]), 2).tolist()
    [[1, 1], [0, 1]]
    """
    from sklearn import metrics as sk  # slow to import, and workers need only the losses below

    return sk.confusion_matrix(labels, predicted, labels=np.arange(num_classes))


def scores(labels: np.ndarray, probabilities: np.ndarray) -> dict[str, float | None]:
    """The figures of :data:`NAMES` for the graphs of one test part.

    Parameters
    ----------
    labels
        (G,) class codes.
    probabilities
        (G, C); the class of largest probability is the prediction.

    Returns
    -------
    dict
        Classes without a graph in this part do not count in the averages over classes. ROC-AUC (one against the
        rest, averaged) is None where only one class is present.
    """
    from sklearn import metrics as sk

    predicted = probabilities.argmax(axis=1)
    present = np.unique(labels)
    return {
        "accuracy": float(np.mean(predicted == labels)),
        "balanced_accuracy": float(sk.recall_score(labels, predicted, labels=present, average="macro")),
        "macro_f1": float(sk.f1_score(labels, predicted, labels=present, average="macro", zero_division=0.0)),
        "roc_auc": roc_auc(labels, probabilities),
    }


def roc_auc(labels: np.ndarray, probabilities: np.ndarray) -> float | None:
    """Area under the ROC curve; for more than two classes the mean of one against the rest."""
    from sklearn import metrics as sk

    if probabilities.shape[1] == 2:
        classes = [1] if len(np.unique(labels)) == 2 else []
    else:
        present = np.unique(labels)
        classes = present.tolist() if len(present) > 1 else []
    areas = [sk.roc_auc_score(labels == c, probabilities[:, c]) for c in classes]
    return float(np.mean(areas)) if areas else None


def log_loss(labels: np.ndarray, probabilities: np.ndarray) -> float:
    """Mean negative log-probability of the true class, bounded where a probability is zero."""
    true = probabilities[np.arange(len(labels)), labels]
    return float(-np.log(np.clip(true, 1e-15, None)).mean())
