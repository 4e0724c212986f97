"""Support vector machines on precomputed kernels: chosen by inner validation, kept as plain arrays."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import softmax

from spgnn_dgl.errors import OptionError

PENALTIES = tuple(10.0**power for power in range(-3, 4))
"""The values of C that the paper searches."""
FALLBACK_PENALTY = 1.0


@dataclass(frozen=True)
class KernelSVM:
    """The decision function of a fitted :class:`sklearn.svm.SVC` (LIBSVM), as arrays.

    Parameters
    ----------
    classes
        (c,) the classes that occurred, ascending.
    support
        (s,) positions of the support graphs among the training graphs, class after class.
    counts
        (c,) support graphs per class.
    coefficients
        (c - 1, s) LIBSVM's dual coefficients.
    intercepts
        (c (c - 1) / 2,) one per pair of classes.
    """

    classes: np.ndarray
    support: np.ndarray
    counts: np.ndarray
    coefficients: np.ndarray
    intercepts: np.ndarray

    @classmethod
    def fit(cls, kernel: np.ndarray, labels: np.ndarray, penalty: float) -> KernelSVM:
        """Fit on the (n, n) kernel of the training graphs and their (n,) class codes."""
        from sklearn.svm import SVC  # slow to import

        svc = SVC(C=penalty, kernel="precomputed", cache_size=500).fit(kernel, labels)
        return cls(
            svc.classes_.astype(np.int64),
            svc.support_.astype(np.int64),
            svc.n_support_.astype(np.int64),
            svc.dual_coef_,
            svc.intercept_,
        )

    def scores(self, kernel: np.ndarray) -> np.ndarray:
        """(G, c) scores whose largest entry is the class LIBSVM predicts.

        Parameters
        ----------
        kernel
            (G, s) values between graphs and the support graphs.
        """
        kernel = np.asarray(kernel, dtype=np.float64)
        pairs = list(itertools.combinations(range(len(self.classes)), 2))
        ends = np.cumsum(self.counts)
        own = [slice(end - count, end) for end, count in zip(ends, self.counts)]
        decisions = np.empty((len(kernel), len(pairs)))  # positive: the first class of the pair
        for p, (i, j) in enumerate(pairs):
            decisions[:, p] = (
                kernel[:, own[i]] @ self.coefficients[j - 1, own[i]]
                + kernel[:, own[j]] @ self.coefficients[i, own[j]]
                + self.intercepts[p]
            )
        if len(pairs) == 1:
            # scikit-learn turns the sign of the binary problem around
            return np.column_stack([np.zeros(len(kernel)), decisions[:, 0]])
        votes, confidences = np.zeros((2, len(kernel), len(self.classes)))
        for p, (i, j) in enumerate(pairs):
            confidences[:, i] += decisions[:, p]
            confidences[:, j] -= decisions[:, p]
            votes[:, i] += decisions[:, p] > 0
            votes[:, j] += decisions[:, p] <= 0
        return votes + confidences / (3 * (np.abs(confidences) + 1))  # confidence decides between equal votes only

    def probabilities(self, kernel: np.ndarray, num_classes: int) -> np.ndarray:
        """(G, C) softmax of the scores: ranks classes as the SVM does, but is not calibrated.

        A class without training graphs gets 0.
        """
        out = np.zeros((len(kernel), num_classes))
        out[:, self.classes] = softmax(self.scores(kernel), axis=1)
        return out

    def state(self) -> dict[str, np.ndarray]:
        names = ("classes", "counts", "coefficients", "intercepts")
        return {f"svm.{name}": np.asarray(getattr(self, name)) for name in names}

    @classmethod
    def restored(cls, arrays: Mapping[str, np.ndarray]) -> KernelSVM:
        """The reverse of :meth:`state`; the support graphs are numbered in their own order."""
        coefficients = arrays["svm.coefficients"]
        return cls(
            arrays["svm.classes"],
            np.arange(coefficients.shape[1]),
            arrays["svm.counts"],
            coefficients,
            arrays["svm.intercepts"],
        )


def check_penalty(C: float | str) -> None:
    """Refuse what is neither ``"auto"`` nor a positive number."""
    if C != "auto" and (isinstance(C, str | bool) or not C > 0):
        raise OptionError(f"C={C!r} was given; it must be a positive number, or 'auto' for inner validation.")


def choose(
    candidates: Iterable[tuple[Any, np.ndarray, np.ndarray | None]],
    labels: np.ndarray,
    validation_labels: np.ndarray | None,
    penalties: Sequence[float],
    *,
    folds: int,
    seed: int,
    check: Callable[[], None],
) -> tuple[Any, float]:
    """The kernel and the C with the best accuracy on graphs that were held out; the first of equals.

    Parameters
    ----------
    candidates
        For each kernel its name, the (n, n) matrix of the training graphs and the (v, n) matrix between validation
        and training graphs, or None.
    labels, validation_labels
        (n,) and (v,) class codes. Without validation graphs: stratified cross-validation on the training graphs in
        `folds` parts, fewer where the smallest class has fewer graphs. Where it has only one, nothing can be held
        out, and the first kernel with C = 1 is taken.
    penalties
        Candidates for C.
    check
        Called before each fit; may raise.
    """
    folds = min(folds, int(np.unique(labels, return_counts=True)[1].min()))
    from sklearn.model_selection import StratifiedKFold  # slow to import

    splits = list(StratifiedKFold(folds, shuffle=True, random_state=seed).split(labels, labels)) if folds > 1 else []
    best: tuple[int, Any, float] | None = None
    for name, kernel, outer in candidates:
        if outer is not None and validation_labels is not None:
            parts = [(kernel, labels, outer, validation_labels)]
        elif splits:
            parts = [(kernel[np.ix_(t, t)], labels[t], kernel[np.ix_(v, t)], labels[v]) for t, v in splits]
        else:
            return name, FALLBACK_PENALTY if len(penalties) > 1 else penalties[0]
        correct = np.zeros(len(penalties), dtype=np.int64)
        for inner, own, outer, expected in parts:
            for p, penalty in enumerate(penalties):
                check()
                svm = KernelSVM.fit(inner, own, penalty)
                predicted = svm.classes[svm.scores(outer[:, svm.support]).argmax(axis=1)]
                correct[p] += int((predicted == expected).sum())
        p = int(correct.argmax())
        if best is None or correct[p] > best[0]:
            best = int(correct[p]), name, penalties[p]
    if best is None:
        raise OptionError("there is no kernel to choose from.")
    return best[1], best[2]
