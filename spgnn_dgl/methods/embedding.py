"""What Graph2Vec and DGK share: a vector per graph learned from words, and a support vector machine on the vectors."""

from __future__ import annotations

import abc
import zlib
from collections.abc import Collection, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from spgnn_dgl.data.store import GraphDataset
from spgnn_dgl.data.substructures.wl import label_kind
from spgnn_dgl.errors import OptionError, missing_extra
from spgnn_dgl.methods.base import Arrays, Method
from spgnn_dgl.methods.kernels.svm import PENALTIES, KernelSVM, check_penalty, choose
from spgnn_dgl.registry import check_options, keyword_options
from spgnn_dgl.training import OnEpoch


class EmbeddingMethod(Method):
    """Words to vectors by gensim, vectors to classes by an SVM.

    Parameters
    ----------
    dimensions
        Length of the vectors.
    epochs
        Passes of gensim over the corpus.
    transductive
        False: the words of training graphs alone make the vectors, and other graphs are given theirs afterwards.
        True, as in the papers: the graphs to be tested take part, without their classes. They are those that ``fit``
        is given as `watch`.
    C
        Penalty of the SVM; ``"auto"`` chooses among 10⁻³ … 10³ on inner validation.
    features
        What nodes are called: ``"labels"``, ``"degree"``, ``"constant"``, or ``"auto"``: labels where there are any,
        else degrees.
    inner_folds
        Parts of the inner cross-validation.
    """

    kind = "two-phase"
    extra = "embeddings"

    kernels: ClassVar[tuple[str, ...]]
    """Kernels between vectors that inner validation chooses among, together with C."""

    svm: KernelSVM

    def __init__(
        self,
        *,
        dimensions: int = 128,
        epochs: int = 50,
        transductive: bool = False,
        C: float | str = "auto",
        features: str = "auto",
        inner_folds: int = 5,
    ):
        for name, value in (("dimensions", dimensions), ("epochs", epochs)):
            if value < 1:
                raise OptionError(f"{name}={value} was given; it must be at least 1.")
        if inner_folds < 2:
            raise OptionError(f"inner_folds={inner_folds} was given; it must be at least 2.")
        check_penalty(C)
        self.dimensions, self.epochs, self.transductive = dimensions, epochs, transductive
        self.C, self.features, self.inner_folds = C, features, inner_folds

    @classmethod
    def options(cls) -> dict[str, Any]:
        return {**keyword_options(EmbeddingMethod.__init__), **keyword_options(cls.__init__)}

    @staticmethod
    def check_common(owner: str, given: Mapping[str, Any]) -> None:
        """Refuse keywords that are no option of :class:`EmbeddingMethod`."""
        check_options(owner, given, keyword_options(EmbeddingMethod.__init__))

    # ---- what a method defines -----------------------------------------------------------------------------------

    @abc.abstractmethod
    def learn(self, corpus: Sequence[GraphDataset], seed: int) -> None:
        """Learn words from all graphs of the corpus; the first part are the training graphs."""

    @abc.abstractmethod
    def vectors(self, data: GraphDataset) -> np.ndarray:
        """(G, d) a vector per graph; does not depend on the other graphs."""

    @abc.abstractmethod
    def compare(self, rows: np.ndarray, columns: np.ndarray, kernel: str) -> np.ndarray:
        """(R, C) kernel of that name between vectors."""

    @abc.abstractmethod
    def learned(self) -> tuple[Arrays, dict[str, Any]]:
        """What :meth:`learn` has learned."""

    @abc.abstractmethod
    def relearn(self, arrays: Arrays, values: Mapping[str, Any]) -> None:
        """The reverse of :meth:`learned`."""

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
    ) -> EmbeddingMethod:
        train.require_classes()
        if self.transductive and watch is None:
            raise OptionError(
                "transductive=True needs the graphs to be tested when it is fitted: give them as watch, or use "
                "transductive=False, which predicts any graph."
            )
        gensim_models()  # a missing package is told before the work begins
        self.num_classes, self.history = train.num_classes, []
        self.labels_ = label_kind(train, self.features)
        self.learn([train, watch] if self.transductive and watch is not None else [train], seed)
        vectors = self.vectors(train)  # (n, d)
        outer = None if validation is None else self.vectors(validation)
        candidates = {name: self.compare(vectors, vectors, name) for name in self.kernels}
        self.kernel_, penalty = next(iter(candidates)), self.C
        if len(candidates) > 1 or penalty == "auto":
            self.kernel_, penalty = choose(
                (
                    (name, kernel, None if outer is None else self.compare(outer, vectors, name))
                    for name, kernel in candidates.items()
                ),
                train.labels,
                None if validation is None else validation.labels,
                PENALTIES if penalty == "auto" else (float(penalty),),
                folds=self.inner_folds,
                seed=seed,
                check=lambda: None,
            )
        self.C_ = float(penalty)
        self.svm = KernelSVM.fit(candidates[self.kernel_], train.labels, self.C_)
        self._support = vectors[self.svm.support]  # (s, d)
        self.watched = {} if watch is None else {0: self.predict_proba(watch)}
        return self

    def predict_proba(self, data: GraphDataset) -> np.ndarray:
        """(G, C) softmax of the SVM's scores; see :meth:`spgnn_dgl.methods.kernels.svm.KernelSVM.probabilities`."""
        label_kind(data, self.labels_)
        return self.svm.probabilities(self.compare(self.vectors(data), self._support, self.kernel_), self.num_classes)

    def fitted_options(self) -> dict[str, Any]:
        return {"C": self.C_, "kernel": self.kernel_, "features": self.labels_, "transductive": self.transductive}

    # ---- files ---------------------------------------------------------------------------------------------------

    def state(self) -> tuple[Arrays, dict[str, Any]]:
        arrays, values = self.learned()
        own = {"num_classes": self.num_classes, "labels": self.labels_, "C": self.C_, "kernel": self.kernel_}
        return {**arrays, **self.svm.state(), "support": self._support}, {**values, **own}

    def restore(self, arrays: Arrays, values: Mapping[str, Any]) -> None:
        self.num_classes, self.labels_, self.C_ = values["num_classes"], values["labels"], values["C"]
        self.kernel_ = values["kernel"]
        self.svm, self._support = KernelSVM.restored(arrays), arrays["support"]
        self.relearn(arrays, values)
        self.watched, self.history = {}, []


def gensim_models() -> Any:
    """The module ``gensim.models``."""
    try:
        import gensim.models
    except ImportError as problem:
        raise missing_extra("gensim", "embeddings", "a method that learns from words") from problem
    return gensim.models


def stable_hash(text: str) -> int:
    """For gensim, whose default is Python's hash: another one in every process."""
    return zlib.crc32(text.encode())
