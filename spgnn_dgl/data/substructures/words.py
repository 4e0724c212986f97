"""Graphs as bags of words: the substructures that graph kernels count.

A word is a 128-bit key that depends on the substructure alone and not on the dataset, so that the words of training
graphs and of graphs that come later can be compared.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import scipy.sparse
from scipy.sparse.csgraph import shortest_path

from spgnn_dgl.data.store import GraphDataset
from spgnn_dgl.data.substructures.wl import flatten, mix, node_names, number_keys, text_keys, wl_keys

Check = Callable[[], None]
"""Called between pieces of work; may raise to end them."""


@dataclass(frozen=True)
class Words:
    """Entry i: the word ``keys[i]`` occurs ``counts[i]`` times in graph ``graphs[i]``. A word may be listed twice."""

    num_graphs: int
    graphs: np.ndarray  # (m,) int64
    keys: np.ndarray  # (m, 2) uint64
    counts: np.ndarray  # (m,) float64

    @classmethod
    def of_nodes(cls, data: GraphDataset, keys: np.ndarray) -> Words:
        """One word per node."""
        graphs = np.repeat(np.arange(len(data)), data.node_counts)
        return cls(len(data), graphs, keys, np.ones(len(keys)))


def stack_words(parts: Sequence[Words]) -> Words:
    """Several bags of the same graphs as one."""
    return Words(
        parts[0].num_graphs,
        np.concatenate([part.graphs for part in parts]),
        np.concatenate([part.keys for part in parts]),
        np.concatenate([part.counts for part in parts]),
    )


def vocabulary_of(*parts: Words) -> np.ndarray:
    """(V, 2) the distinct keys of all parts, in ascending order."""
    keys = np.concatenate([part.keys for part in parts])
    return keys[number_keys(keys)[1]]


def count_matrices(*parts: Words) -> list[scipy.sparse.csr_matrix]:
    """(G, V) counts of every part, over the words that occur in any of them."""
    numbers, examples = number_keys(np.concatenate([part.keys for part in parts]))
    matrices, start = [], 0
    for part in parts:
        columns = numbers[start : start + len(part.keys)]
        start += len(part.keys)
        matrices.append(_matrix(part, columns, len(examples)))
    return matrices


def counts_in(vocabulary: np.ndarray, words: Words) -> scipy.sparse.csr_matrix:
    """(G, V) counts of the words of a vocabulary; other words are left out.

    Parameters
    ----------
    vocabulary
        (V, 2) distinct keys.
    """
    numbers, _ = number_keys(np.concatenate([vocabulary, words.keys]))
    column = np.full(numbers.max(initial=-1) + 1, -1)
    column[numbers[: len(vocabulary)]] = np.arange(len(vocabulary))
    columns = column[numbers[len(vocabulary) :]]
    known = columns >= 0
    part = Words(words.num_graphs, words.graphs[known], words.keys[known], words.counts[known])
    return _matrix(part, columns[known], len(vocabulary))


def _matrix(words: Words, columns: np.ndarray, width: int) -> scipy.sparse.csr_matrix:
    shape = (words.num_graphs, width)
    return scipy.sparse.coo_matrix((words.counts, (words.graphs, columns)), shape).tocsr()  # adds equal entries up


def wl_words(data: GraphDataset, height: int, *, labels: str = "auto") -> list[Words]:
    """Subtree patterns of height 0, 1, …, `height`: one word per node and height (Shervashidze et al., 2011)."""
    return [Words.of_nodes(data, keys) for keys in wl_keys(data, height, labels=labels)]


def path_words(data: GraphDataset, *, labels: str = "auto", check: Check = lambda: None) -> Words:
    """Shortest paths: a word (label, label, length) per ordered pair of joined nodes (Borgwardt & Kriegel, 2005)."""
    codes, names = node_names(data, labels)
    hashes = text_keys(names)  # (L, 2)
    flat = flatten(data)
    ones = np.ones(len(flat.neighbours), dtype=np.int8)
    everything = scipy.sparse.csr_matrix((ones, flat.neighbours, flat.indptr), (len(codes), len(codes)))
    graphs, keys, counts = [], [], []
    for graph, (start, end) in enumerate(zip(flat.node_offsets[:-1].tolist(), flat.node_offsets[1:].tolist())):
        check()
        own, inverse = np.unique(codes[start:end], return_inverse=True)  # (l,), (n,)
        lengths = shortest_path(everything[start:end, start:end], method="D", unweighted=True)  # (n, n)
        lengths[~np.isfinite(lengths)] = 0.0
        base = int(lengths.max()) + 1
        pair = inverse[:, None] * len(own) + inverse[None, :]  # (n, n)
        packed, number = _tally((pair * base + lengths.astype(np.int64)).ravel(), len(own) ** 2 * base)
        proper = packed % base > 0  # not from a node to itself, nor to one that cannot be reached
        packed, number = packed[proper], number[proper]
        pair, length = np.divmod(packed, base)
        first, second = np.divmod(pair, len(own))
        keys.append(path_keys(hashes[own[first]], hashes[own[second]], length))
        graphs.append(np.full(len(packed), graph))
        counts.append(number)
    return Words(len(data), np.concatenate(graphs), np.concatenate(keys), np.concatenate(counts).astype(np.float64))


def _tally(values: np.ndarray, bound: int) -> tuple[np.ndarray, np.ndarray]:
    """The distinct numbers among ``0 … bound-1`` and how often each occurs."""
    if bound > 8 * len(values):
        return np.unique(values, return_counts=True)
    counts = np.bincount(values)
    distinct = np.flatnonzero(counts)
    return distinct, counts[distinct]


def path_keys(first: np.ndarray, second: np.ndarray, length: np.ndarray) -> np.ndarray:
    """(m, 2) keys of shortest paths, given the keys of both ends, (m, 2), and the lengths, (m,). Direction counts."""
    return mix(mix(mix(first) + second) + length.astype(np.uint64)[:, None])


def graphlet_counts(data: GraphDataset) -> np.ndarray:
    r"""Exact numbers of induced subgraphs on three nodes: none, one, two (a path) or three edges (a triangle).

    Nothing is enumerated. With m edges and degrees d, :math:`\sum_v \binom{d_v}{2}` counts every path once and every
    triangle three times, :math:`m (n - 2)` counts each induced subgraph once per edge, and triangles are the common
    neighbours of the ends of edges. Edges count without direction.

    Returns
    -------
    numpy.ndarray
        (G, 4) float64.
    """
    flat = flatten(data)
    graph_of_node, num_nodes = flat.graph_of_node, int(flat.node_offsets[-1])
    ones = np.ones(len(flat.neighbours), dtype=np.int32)
    adjacency = scipy.sparse.csr_matrix((ones, flat.neighbours, flat.indptr), (num_nodes, num_nodes))
    if data.meta.directed:
        adjacency = adjacency.maximum(adjacency.T).tocsr()
    degrees = np.diff(adjacency.indptr).astype(np.float64)  # (N,)

    def per_graph(values: np.ndarray) -> np.ndarray:
        return np.bincount(graph_of_node, values, minlength=len(data))

    # from the end of smaller degree to the other: no node has many edges out, and each triangle is met once
    rank = np.empty(num_nodes, dtype=np.int64)
    rank[np.lexsort((np.arange(num_nodes), degrees))] = np.arange(num_nodes)
    entries = adjacency.tocoo()
    forward = rank[entries.row] < rank[entries.col]
    upward = scipy.sparse.csr_matrix(
        (entries.data[forward], (entries.row[forward], entries.col[forward])), adjacency.shape
    )
    triangles = per_graph(np.asarray((upward @ upward).multiply(upward).sum(axis=1)).ravel().astype(np.float64))
    nodes, edges = data.node_counts.astype(np.float64), per_graph(degrees) / 2
    paths = per_graph(degrees * (degrees - 1) / 2) - 3 * triangles
    single = edges * np.maximum(nodes - 2, 0) - 2 * paths - 3 * triangles
    triples = nodes * (nodes - 1) * (nodes - 2) / 6
    return np.stack([triples - single - paths - triangles, single, paths, triangles], axis=1)


def gram(rows: scipy.sparse.csr_matrix, columns: scipy.sparse.csr_matrix) -> np.ndarray:
    """(R, C) products of the rows of two count matrices, exact for whole numbers.

    Words that many graphs have are multiplied as dense columns, the many rare ones as sparse ones.
    """
    frequent = np.flatnonzero(np.diff(columns.tocsc().indptr) > columns.shape[0] / 8)
    rare = np.ones(columns.shape[1], dtype=bool)
    rare[frequent] = False
    out = (rows[:, rare] @ columns[:, rare].T).toarray()
    for start in range(0, len(frequent), 4096):
        part = frequent[start : start + 4096]
        out += rows[:, part].toarray() @ columns[:, part].toarray().T
    return out
