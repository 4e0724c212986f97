"""Graph2Vec: graphs as documents of subtree words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import scipy.sparse
from scipy.special import expit

from spgnn_dgl.data.store import GraphDataset
from spgnn_dgl.data.substructures.words import Words, counts_in, stack_words, vocabulary_of, wl_words
from spgnn_dgl.methods.base import METHODS, Arrays
from spgnn_dgl.methods.embedding import EmbeddingMethod, gensim_models, stable_hash
from spgnn_dgl.methods.kernels.wl import check_height

NEGATIVE = 5  # noise words per word, gensim's default
NOISE_SAMPLE = 256  # words that stand for the noise when a vector is inferred
STEPS, STEP_SIZE, SHRINKAGE = 100, 1.0, 0.01


@METHODS.register("graph2vec")
class Graph2Vec(EmbeddingMethod):
    r"""Graph2Vec and SVM, with a linear or a Gaussian kernel as inner validation chooses.

    Narayanan, Chandramohan, Venkatesan, Chen, Liu, Jaiswal: *graph2vec: Learning Distributed Representations of
    Graphs*, 2017 (arXiv:1707.05005).

    Each graph is a document whose words are the Weisfeiler–Lehman subtrees of its nodes. gensim's Doc2Vec (DBOW,
    negative sampling) learns word vectors :math:`o_w` and document vectors. The vector of a graph is then inferred with
    the word vectors held fixed: it maximises

    .. math:: \frac{1}{|G|} \sum_{w \in G} \log \sigma(o_w \cdot z) + k\, E_n \log \sigma(-o_n \cdot z)
              - \tfrac{1}{2} \lambda |z|^2

    over a fixed sample of noise words n. This is concave, and solved by a fixed number of gradient steps from 0: the
    result depends on the graph alone, which gensim's own inference (random start, random noise) does not promise. With
    ``transductive=True`` the training and tested graphs have the document vectors that gensim learned, as in the
    paper; graphs that come later are inferred.

    Parameters
    ----------
    height
        Largest height of the subtrees.
    common
        dimensions, epochs, transductive, C, features, inner_folds: see
        :class:`~spgnn_dgl.methods.embedding.EmbeddingMethod`.
    """

    reference = "Narayanan et al., 2017"
    kernels = ("linear", "rbf")

    def __init__(self, *, height: int = 2, **common: Any):
        self.check_common("graph2vec", common)
        super().__init__(**common)
        check_height(height)
        self.height = height

    def words(self, data: GraphDataset) -> Words:
        return stack_words(wl_words(data, self.height, labels=self.labels_))

    def learn(self, corpus: Sequence[GraphDataset], seed: int) -> None:
        models = gensim_models()
        bags = [self.words(part) for part in corpus]
        self._vocabulary = vocabulary_of(*bags)  # (V, 2)
        documents = [document for bag in bags for document in _documents(counts_in(self._vocabulary, bag))]
        model = models.Doc2Vec(
            [models.doc2vec.TaggedDocument(document, [tag]) for tag, document in enumerate(documents)],
            dm=0,
            vector_size=self.dimensions,
            epochs=self.epochs,
            negative=NEGATIVE,
            sample=0,
            min_count=1,
            workers=1,
            seed=seed,
            hashfxn=stable_hash,
        )
        names = [str(word) for word in range(len(self._vocabulary))]
        self._outputs = model.syn1neg[[model.wv.key_to_index[name] for name in names]].astype(np.float64)  # (V, d)
        weights = np.array([model.wv.get_vecattr(name, "count") for name in names]) ** 0.75
        sample = np.random.default_rng(seed).choice(len(names), NOISE_SAMPLE, p=weights / weights.sum())
        self._noise = self._outputs[sample]  # (NOISE_SAMPLE, d)
        self._learned: list[tuple[str, np.ndarray, np.ndarray]] = []  # store, members, their vectors
        if self.transductive:
            ends = np.cumsum([len(part) for part in corpus])
            for part, vectors in zip(corpus, np.split(model.dv.vectors.astype(np.float64), ends)):
                self._learned.append((part.fingerprint, part.members, vectors))
        own = self.vectors(corpus[0])
        self._mean, self._scale = own.mean(axis=0), np.maximum(own.std(axis=0), 1e-9)

    def vectors(self, data: GraphDataset) -> np.ndarray:
        out = self._infer(counts_in(self._vocabulary, self.words(data)))
        for store, members, vectors in self._learned:
            if store == data.fingerprint:
                row = np.full(data.arrays.num_graphs, -1)
                row[members] = np.arange(len(members))
                rows = row[data.members]
                out[rows >= 0] = vectors[rows[rows >= 0]]
        return out

    def _infer(self, counts: scipy.sparse.csr_matrix) -> np.ndarray:
        """(G, d) the maximum of the objective above, given (G, V) counts of known words; 0 where there are none."""
        graphs = np.repeat(np.arange(counts.shape[0]), np.diff(counts.indptr))  # (m,)
        outputs = self._outputs[counts.indices]  # (m, d)
        totals = np.asarray(counts.sum(axis=1)).ravel()  # (G,)
        present = (totals > 0)[:, None]
        weights = counts.data / totals[graphs]
        vectors = np.zeros((counts.shape[0], self.dimensions))
        for _ in range(STEPS):
            missing = weights * expit(-np.einsum("md,md->m", outputs, vectors[graphs]))  # (m,)
            pull = scipy.sparse.csr_matrix((missing, counts.indices, counts.indptr), counts.shape) @ self._outputs
            push = NEGATIVE / len(self._noise) * expit(vectors @ self._noise.T) @ self._noise
            vectors += STEP_SIZE * (pull - present * push - SHRINKAGE * vectors)
        return vectors

    def compare(self, rows: np.ndarray, columns: np.ndarray, kernel: str) -> np.ndarray:
        rows, columns = (rows - self._mean) / self._scale, (columns - self._mean) / self._scale
        if kernel == "linear":
            return rows @ columns.T / self.dimensions
        from sklearn.metrics.pairwise import rbf_kernel  # slow to import

        return rbf_kernel(rows, columns, gamma=1.0 / self.dimensions)

    def learned(self) -> tuple[Arrays, dict[str, Any]]:
        arrays = {
            "vocabulary": self._vocabulary,
            "outputs": self._outputs,
            "noise": self._noise,
            "mean": self._mean,
            "scale": self._scale,
        }
        for part, (_, members, vectors) in enumerate(self._learned):
            arrays |= {f"learned.{part}.members": members, f"learned.{part}.vectors": vectors}
        return arrays, {"stores": [store for store, _, _ in self._learned]}

    def relearn(self, arrays: Arrays, values: Mapping[str, Any]) -> None:
        self._vocabulary, self._outputs, self._noise = arrays["vocabulary"], arrays["outputs"], arrays["noise"]
        self._mean, self._scale = arrays["mean"], arrays["scale"]
        self._learned = [
            (store, arrays[f"learned.{part}.members"], arrays[f"learned.{part}.vectors"])
            for part, store in enumerate(values["stores"])
        ]


def _documents(counts: scipy.sparse.csr_matrix) -> list[list[str]]:
    """The words of every graph as texts, each as often as it occurs, in the order of the vocabulary."""
    names = np.array([str(word) for word in range(counts.shape[1])], dtype=object)
    words = np.repeat(names[counts.indices], counts.data.astype(np.int64))
    ends = np.cumsum(np.asarray(counts.sum(axis=1)).ravel().astype(np.int64))
    return [part.tolist() for part in np.split(words, ends[:-1])]
