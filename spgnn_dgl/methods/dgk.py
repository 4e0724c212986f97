"""Deep graph kernels: words that occur together count as similar."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from spgnn_dgl.data.store import GraphDataset
from spgnn_dgl.data.substructures.corpus import BASES
from spgnn_dgl.data.substructures.wl import number_keys
from spgnn_dgl.data.substructures.words import counts_in
from spgnn_dgl.errors import DatasetError, OptionError
from spgnn_dgl.methods.base import METHODS, Arrays
from spgnn_dgl.methods.embedding import EmbeddingMethod, gensim_models, stable_hash
from spgnn_dgl.methods.kernels.wl import check_height


@METHODS.register("dgk")
class DeepGraphKernel(EmbeddingMethod):
    r"""Deep graph kernel and SVM.

    Yanardag, Vishwanathan: *Deep Graph Kernels*, KDD 2015.

    .. math:: K = P M P^\top

    with the counts P of substructures in graphs and the similarities M of substructures. gensim's skip-gram learns a
    vector per substructure from those that occur together, and M holds their inner products, :math:`M = E E^\top`. So
    a graph is the vector :math:`P E`, and the normalised kernel is the cosine of two of them. Substructures that the
    corpus does not have are left out.

    Parameters
    ----------
    base
        The substructures: ``"wl"`` (subtrees; those of a graph and height occur together), ``"sp"`` (shortest paths;
        those with the same source) or ``"graphlet"`` (connected subgraphs on three nodes; those with the same centre).
    height
        Largest height of the subtrees of ``base="wl"``.
    window
        Distance up to which words of a sentence count as neighbours. Sentences are shuffled: a set has no order.
    epochs
        Passes of gensim over the corpus.
    common
        dimensions, transductive, C, features, inner_folds: see
        :class:`~spgnn_dgl.methods.embedding.EmbeddingMethod`.
    """

    reference = "Yanardag, Vishwanathan, KDD 2015"
    kernels = ("cosine",)

    def __init__(self, *, base: str = "wl", height: int = 2, window: int = 5, epochs: int = 10, **common: Any):
        self.check_common("dgk", common)
        super().__init__(epochs=epochs, **common)
        if base not in BASES:
            raise OptionError(f"base='{base}' was given; known: {', '.join(BASES)}.")
        if window < 1:
            raise OptionError(f"window={window} was given; it must be at least 1.")
        check_height(height)
        self.base, self.height, self.window = base, height, window

    def learn(self, corpus: Sequence[GraphDataset], seed: int) -> None:
        models = gensim_models()
        rng = np.random.default_rng(seed)
        parts = [BASES[self.base].sentences(part, self.labels_, self.height, rng) for part in corpus]
        tokens = np.concatenate([keys for keys, _ in parts])  # (t, 2)
        numbers, examples = number_keys(tokens)
        self._vocabulary = tokens[examples]  # (V, 2)
        if len(examples) == 0:
            raise DatasetError(f"the graphs of {corpus[0].name} have no substructure of base='{self.base}'; use 'wl'.")
        texts = np.array([str(word) for word in range(len(examples))], dtype=object)
        sentences: list[list[str]] = []
        for (_, ends), own in zip(parts, np.split(numbers, np.cumsum([len(keys) for keys, _ in parts]))):
            sentences.extend(piece.tolist() for piece in np.split(texts[own], ends[:-1]))
        model = models.Word2Vec(
            sentences,
            sg=1,
            vector_size=self.dimensions,
            window=self.window,
            epochs=self.epochs,
            min_count=1,
            workers=1,
            seed=seed,
            hashfxn=stable_hash,
        )
        self._vectors = model.wv[texts.tolist()].astype(np.float64)  # (V, d)

    def vectors(self, data: GraphDataset) -> np.ndarray:
        words = BASES[self.base].words(data, self.labels_, self.height)
        return counts_in(self._vocabulary, words) @ self._vectors

    def compare(self, rows: np.ndarray, columns: np.ndarray, kernel: str) -> np.ndarray:
        return _unit(rows) @ _unit(columns).T

    def fitted_options(self) -> dict[str, Any]:
        return {**super().fitted_options(), "words": len(self._vocabulary)}

    def learned(self) -> tuple[Arrays, dict[str, Any]]:
        return {"vocabulary": self._vocabulary, "vectors": self._vectors}, {}

    def relearn(self, arrays: Arrays, values: Mapping[str, Any]) -> None:
        self._vocabulary, self._vectors = arrays["vocabulary"], arrays["vectors"]


def _unit(vectors: np.ndarray) -> np.ndarray:
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors / np.where(lengths > 0, lengths, 1.0)
