"""`GraphClassifier`: any method as a scikit-learn estimator."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import NotFittedError

from spgnn_dgl.data.readers.graphs import as_dataset
from spgnn_dgl.data.store import GraphDataset
from spgnn_dgl.errors import OptionError
from spgnn_dgl.methods import METHODS, make_method
from spgnn_dgl.methods.base import GNNMethod, Method
from spgnn_dgl.modelfile import load_model, save_model
from spgnn_dgl.nn.readout.wlsortpool import Selection
from spgnn_dgl.registry import check_options


class GraphClassifier(ClassifierMixin, BaseEstimator):
    """Classify graphs with any registered method, scikit-learn style.

    Parameters
    ----------
    method
        A name from ``spgnn methods``.
    seed
        Of everything random.
    options
        Options of the method; a wrong one is answered at once.

    Attributes
    ----------
    classes_ : (C,) the values of y
    class_names_ : names of the classes, where the dataset has them
    method_ : the fitted method
    history_ : one record per epoch, for methods that have epochs

    Examples
    --------
    >>> import spgnn_dgl as sp
    >>> data = sp.load_dataset("MOTIFS")
    >>> classifier = GraphClassifier("spgnn", epochs=1).fit(data[:60])
    >>> classifier.predict_proba(data[60:64]).shape
    (4, 3)
    """

    def __init__(self, method: str = "spgnn", *, seed: int = 0, **options: Any):
        check_options(f"method '{method}'", options, METHODS.get(method).options())
        self.method = method
        self.seed = seed
        self._options = options

    # ---- parameters: the options of the method are parameters of the estimator ----------------------------------

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        return {"method": self.method, "seed": self.seed, **self._options}

    def set_params(self, **params: Any) -> GraphClassifier:
        method = params.pop("method", self.method)
        seed = params.pop("seed", self.seed)
        options = {**self._options, **params}
        check_options(f"method '{method}'", options, METHODS.get(method).options())
        self.method, self.seed, self._options = method, seed, options
        return self

    # ---- fitting and predicting ----------------------------------------------------------------------------------

    def fit(self, X: Any, y: Any = None, *, validation: Any = None) -> GraphClassifier:
        """Fit on a GraphDataset, a list of DGLGraphs or of networkx graphs; `y` overrides the graphs' own classes.

        `validation` (same kinds of input) drives early stopping when the option `patience` is set.
        """
        data = as_dataset(X, y)
        data.require_classes()
        self.method_: Method = make_method(self.method, self._options)
        self.method_.fit(data, validation=None if validation is None else as_dataset(validation), seed=self.seed)
        self.class_names_ = data.meta.class_names
        self.train_sizes_ = [int(data.node_counts.min()), int(data.node_counts.max())]
        self.classes_ = np.arange(data.num_classes) if y is None else np.unique(np.asarray(y))
        self.dataset_name_ = data.name
        return self

    def predict_proba(self, X: Any) -> np.ndarray:
        """(G, C) class probabilities."""
        return self._fitted().predict_proba(self._dataset(X))

    def predict(self, X: Any) -> np.ndarray:
        """(G,) values of `classes_`."""
        codes = self._fitted().predict(self._dataset(X))
        return self.classes_[codes]

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Accuracy against `y`, or against the graphs' own classes, compared by class name."""
        if y is not None:
            return super().score(X, y, sample_weight)
        data = self._dataset(X)
        own = np.asarray(data.meta.class_names)[data.labels]
        predicted = np.asarray(self.class_names_)[self._fitted().predict(data)]
        return float(np.average(own == predicted, weights=sample_weight))

    def select(self, X: Any) -> list[Selection]:
        """The nodes that the model pools from each graph, per layer, with the importance of all nodes."""
        method = self._fitted()
        if not isinstance(method, GNNMethod):
            raise OptionError(
                f"method '{self.method}' does not rank nodes; use one that sorts: spgnn, arch1, arch2, dgcnn."
            )
        return method.select(self._dataset(X))

    @property
    def history_(self) -> list[Any]:
        return self._fitted().history

    def _fitted(self) -> Method:
        if not hasattr(self, "method_"):
            raise NotFittedError("this GraphClassifier is not fitted yet; call fit first.")
        return self.method_

    @staticmethod
    def _dataset(X: Any) -> GraphDataset:
        return as_dataset(X)

    # ---- files ---------------------------------------------------------------------------------------------------

    def save(self, path: str | Path) -> Path:
        """Write the fitted model: weights, options, feature policy and vocabulary, class names, versions."""
        notes = {
            "class_names": list(self.class_names_),
            "classes": self.classes_.tolist(),
            "seed": self.seed,
            "dataset": self.dataset_name_,
            "train_sizes": self.train_sizes_,
        }
        return save_model(path, self._fitted(), self.method, self._options, notes)

    @classmethod
    def load(cls, path: str | Path) -> GraphClassifier:
        """A fitted classifier from a model file; runs no code from the file."""
        method, header = load_model(path)
        notes = header["notes"]
        classifier = cls(header["method"], seed=notes["seed"], **header["options"])
        classifier.method_ = method
        classifier.class_names_ = tuple(notes["class_names"])
        classifier.classes_ = np.asarray(notes["classes"])
        classifier.dataset_name_ = notes["dataset"]
        classifier.train_sizes_ = notes["train_sizes"]
        return classifier
