"""What all graph kernels share: one matrix per dataset, folds that slice it, a support vector machine.

A kernel compares two graphs, whatever other graphs there are, and so does its normalisation
:math:`k(x, y) / \\sqrt{k(x, x)\\, k(y, y)}`. The matrix of a whole dataset is therefore computed once and kept on disk;
a fold takes its rows and columns, and nothing of the test graphs reaches the training.
"""

from __future__ import annotations

import abc
import itertools
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
import scipy.sparse

from spgnn_dgl.data.arrays import DatasetMeta, GraphArrays, take
from spgnn_dgl.data.derived import derived_arrays
from spgnn_dgl.data.saved import physical_memory
from spgnn_dgl.data.store import GraphDataset
from spgnn_dgl.data.substructures.wl import label_kind
from spgnn_dgl.data.substructures.words import Words, count_matrices, gram
from spgnn_dgl.errors import DatasetError, OptionError
from spgnn_dgl.methods.base import Arrays, Method
from spgnn_dgl.methods.budget import Deadline, parse_budget
from spgnn_dgl.methods.kernels.svm import PENALTIES, KernelSVM, check_penalty, choose
from spgnn_dgl.registry import check_options, keyword_options
from spgnn_dgl.training import OnEpoch


class KernelMethod(Method):
    """A graph kernel and a support vector machine (scikit-learn's ``SVC``, that is LIBSVM) on its normalised matrix.

    Parameters
    ----------
    C
        Penalty of the SVM; ``"auto"`` chooses among 10⁻³ … 10³ on inner validation: the validation graphs where they
        are given, else a stratified cross-validation on the training graphs.
    features
        What nodes are called: ``"labels"``, ``"degree"``, ``"constant"``, or ``"auto"``: labels where there are any,
        else degrees.
    inner_folds
        Parts of the inner cross-validation.
    budget
        Time for the kernel and the search, in seconds or as ``"30m"``; when it is over, the method ends with
        :class:`~spgnn_dgl.errors.BudgetExceeded`.
    """

    kind = "kernel"
    name: ClassVar[str]
    searched: ClassVar[str | None] = None
    """The option of the kernel that inner validation chooses together with C."""
    grid: ClassVar[tuple[Any, ...]] = (None,)
    pair_bytes: ClassVar[int] = 24
    """Memory per pair of graphs: the matrix in single and double precision, and the copy the SVM works on."""

    svm: KernelSVM

    def __init__(
        self,
        *,
        C: float | str = "auto",
        features: str = "auto",
        inner_folds: int = 5,
        budget: float | str | None = None,
    ):
        check_penalty(C)
        if inner_folds < 2:
            raise OptionError(f"inner_folds={inner_folds} was given; it must be at least 2.")
        parse_budget(budget)
        self.C, self.features, self.inner_folds, self.budget = C, features, inner_folds, budget

    @classmethod
    def options(cls) -> dict[str, Any]:
        return {**keyword_options(cls.__init__), **keyword_options(KernelMethod.__init__)}

    @staticmethod
    def check_common(owner: str, given: Mapping[str, Any]) -> None:
        """Refuse keywords that are no option of :class:`KernelMethod`."""
        check_options(owner, given, keyword_options(KernelMethod.__init__))

    # ---- what a kernel defines -----------------------------------------------------------------------------------

    @abc.abstractmethod
    def kernels(
        self, rows: GraphDataset, columns: GraphDataset, values: Sequence[Any], deadline: Deadline
    ) -> Iterator[np.ndarray]:
        """(R, C) float32, the normalised kernel between two datasets, for each value of the searched option."""

    def label_kind(self, data: GraphDataset) -> str:
        """What the nodes of such data are called when they are compared."""
        return label_kind(data, self.features)

    def candidates(self, data: GraphDataset, deadline: Deadline) -> tuple[Any, ...]:
        """Values of the searched option that can be used on such data."""
        given = "auto" if self.searched is None else getattr(self, self.searched)
        return self.grid if given == "auto" else (given,)

    def kernel_options(self) -> dict[str, Any]:
        """Further options that the matrix depends on; part of the name it is kept under."""
        return {}

    # ---- fitting and predicting ----------------------------------------------------------------------------------

    def fit(
        self,
        train: GraphDataset,
        *,
        validation: GraphDataset | None = None,
        watch: GraphDataset | None = None,
        watch_at: Collection[int] = (),
        seed: int = 0,
        on_epoch: OnEpoch | None = None,
    ) -> KernelMethod:
        train.require_classes()
        self.num_classes, self.history = train.num_classes, []
        self.labels_ = self.label_kind(train)
        deadline = Deadline(self.budget, f"the {self.name} kernel on {train.name}")
        # the matrix of the whole store serves all folds; for a small part of a store it would be a waste
        store = GraphDataset(train.arrays, train.meta)
        whole = 2 * len(train) >= len(store)
        values, matrices = self._matrices(store if whole else train, keep=whole, deadline=deadline)
        members = train.members if whole else np.arange(len(train))
        value, penalty = values[0], self.C
        if len(values) > 1 or penalty == "auto":
            blocks: Iterator[np.ndarray | None] = itertools.repeat(None)
            if validation is not None and whole and _same_store(validation, store):
                blocks = (_part(matrix, validation.members, members) for matrix in matrices)
            elif validation is not None:
                blocks = self.kernels(validation, train, values, deadline)
            value, penalty = choose(
                zip(values, (_part(matrix, members, members) for matrix in matrices), blocks),
                train.labels,
                None if validation is None else validation.labels,
                PENALTIES if penalty == "auto" else (float(penalty),),
                folds=self.inner_folds,
                seed=seed,
                check=deadline.check,
            )
        self.value_, self.C_ = value, float(penalty)
        matrix = matrices[values.index(value)]
        self.svm = KernelSVM.fit(_part(matrix, members, members), train.labels, self.C_)
        self._support = train.subset(self.svm.support)
        self._matrix = matrix if whole else None
        self.watched = {} if watch is None else {0: self.predict_proba(watch)}
        return self

    def _matrices(
        self, data: GraphDataset, *, keep: bool, deadline: Deadline
    ) -> tuple[tuple[Any, ...], list[np.ndarray]]:
        """The kernel matrix of all graphs for each candidate value; kept on disk if asked."""
        _check_memory(data, self.pair_bytes)
        values = self.candidates(data, deadline)
        if not keep:
            return values, list(self.kernels(data, data, values, deadline))
        keys = [{"features": self.labels_, "value": value, **self.kernel_options()} for value in values]
        return values, derived_arrays(
            data, self.name, keys, lambda: self.kernels(data, data, values, deadline), deadline.check
        )

    def predict_proba(self, data: GraphDataset) -> np.ndarray:
        """(G, C) softmax of the SVM's scores; see :meth:`spgnn_dgl.methods.kernels.svm.KernelSVM.probabilities`."""
        if self._matrix is not None and _same_store(data, self._support):
            kernel = _part(self._matrix, data.members, self._support.members)
        else:
            label_kind(data, self.labels_)
            deadline = Deadline(self.budget, f"the {self.name} kernel on {data.name}")
            kernel = next(iter(self.kernels(data, self._support, (self.value_,), deadline)))
        return self.svm.probabilities(kernel, self.num_classes)

    def fitted_options(self) -> dict[str, Any]:
        searched = {} if self.searched is None else {self.searched: self.value_}
        return {"C": self.C_, **searched, "features": self.labels_}

    # ---- files ---------------------------------------------------------------------------------------------------

    def state(self) -> tuple[Arrays, dict[str, Any]]:
        lean = replace(self._support.arrays, node_attributes=None, edge_labels=None, truth=None)
        support = take(lean, self._support.members).present()
        meta = self._support.meta
        values = {
            "num_classes": self.num_classes,
            "labels": self.labels_,
            "value": self.value_,
            "C": self.C_,
            "node_label_names": list(meta.node_label_names),
            "class_names": list(meta.class_names),
            "directed": meta.directed,
        }
        return {**self.svm.state(), **{f"support.{name}": array for name, array in support.items()}}, values

    def restore(self, arrays: Arrays, values: Mapping[str, Any]) -> None:
        self.svm = KernelSVM.restored(arrays)
        support = {
            name.removeprefix("support."): array for name, array in arrays.items() if name.startswith("support.")
        }
        meta = DatasetMeta(
            "support graphs",
            class_names=tuple(values["class_names"]),
            node_label_names=tuple(values["node_label_names"]),
            directed=values["directed"],
        )
        self._support = GraphDataset(GraphArrays(**support), meta)
        self._matrix = None
        self.num_classes, self.labels_ = values["num_classes"], values["labels"]
        self.value_, self.C_ = values["value"], values["C"]
        self.watched, self.history = {}, []


class WordKernel(KernelMethod):
    r"""A kernel that counts common words: :math:`k_h(x, y) = \sum_{t \le h} \langle \phi_t(x), \phi_t(y) \rangle`.

    The counts are sparse and their products exact whole numbers.
    """

    @abc.abstractmethod
    def words(self, data: GraphDataset, height: int, deadline: Deadline) -> Iterator[Words]:
        """The words of height 0, 1, …, `height` of every graph."""

    def kernels(
        self, rows: GraphDataset, columns: GraphDataset, values: Sequence[Any], deadline: Deadline
    ) -> Iterator[np.ndarray]:
        heights = [value or 0 for value in values]
        same = columns is rows
        left = self.words(rows, max(heights), deadline)
        right = left if same else self.words(columns, max(heights), deadline)
        total = np.zeros((len(rows), len(columns)))
        row_squares, column_squares = np.zeros(len(rows)), np.zeros(len(columns))
        for height, word in enumerate(left):
            deadline.check()
            counts = count_matrices(word) if same else count_matrices(word, next(right))
            total += gram(counts[0], counts[-1])
            row_squares += _squares(counts[0])
            column_squares += _squares(counts[-1])
            if height in heights:
                yield normalised(total, row_squares, column_squares)


def normalised(kernel: np.ndarray, row_squares: np.ndarray, column_squares: np.ndarray) -> np.ndarray:
    """(R, C) float32, divided by the roots of k(x, x) and k(y, y); 0 where one of these is not positive."""
    scale = np.sqrt(np.maximum(row_squares, 0))[:, None] * np.sqrt(np.maximum(column_squares, 0))[None, :]
    out = np.divide(kernel, scale, out=np.zeros_like(scale), where=(scale > 0) & np.isfinite(kernel))
    return out.astype(np.float32)


def _squares(counts: scipy.sparse.csr_matrix) -> np.ndarray:
    return np.asarray(counts.multiply(counts).sum(axis=1)).ravel()


def _part(matrix: np.ndarray, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
    return np.asarray(matrix[np.ix_(rows, columns)], dtype=np.float64)


def _same_store(data: GraphDataset, other: GraphDataset) -> bool:
    return data.arrays is other.arrays or (
        data.fingerprint == other.fingerprint and data.meta.node_label_names == other.meta.node_label_names
    )


def _check_memory(data: GraphDataset, pair_bytes: int) -> None:
    needed = float(pair_bytes) * len(data) ** 2
    if needed > physical_memory():
        raise DatasetError(
            f"the kernel matrix of {len(data)} graphs needs about {needed / 1e9:.0f} GB, and this machine has "
            f"{physical_memory() / 1e9:.0f}. Take a part of {data.name} as a dataset of its own, or use a graph neural "
            "network."
        )
