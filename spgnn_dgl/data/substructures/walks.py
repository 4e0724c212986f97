"""Walks that two graphs have in common, for all pairs of graphs: what the random walk kernel counts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy.sparse
from scipy.sparse.linalg import eigsh

from spgnn_dgl.data.store import GraphDataset
from spgnn_dgl.data.substructures.wl import flatten, node_names
from spgnn_dgl.data.substructures.words import Check

TOLERANCE = 1e-12  # relative: a sum that one more step changes by less is done
BLOCK = 2**16  # pairs of nodes that are worked on at once, so that their vectors stay in the processor's cache
DENSE_NODES = 200  # below it a full eigenvalue decomposition is quicker than an iteration


def walk_sums(
    rows: GraphDataset, columns: GraphDataset, decays: Sequence[float], *, labels: str = "auto", check: Check
) -> np.ndarray:
    r"""Sums over the common walks of two graphs, a walk of n steps weighted by :math:`\lambda^n`.

    .. math:: \sum_{n \ge 0} \lambda^n\, 1^\top A_\times^n 1 = 1^\top (I - \lambda A_\times)^{-1} 1

    A node of the direct product is a pair of nodes of equal label, one of each graph; two pairs are adjacent where
    both their parts are. A vector over the pairs is a matrix X, with a row per node of the one graph and a column per
    node of the other. :math:`A_\times` sends it to :math:`M \circ (A_y X A_x)`, where M is 1 at equal labels, else 0.

    One graph is compared with many others at once, whose nodes stand one below the other in X. The iteration of
    Lanczos, begun with the vector of ones, finds a tridiagonal T for every pair of graphs, and
    :math:`1^\top 1 \cdot e_1^\top (I - \lambda T)^{-1} e_1` nears the sum as fast as conjugate gradients do. T does not
    depend on λ: all decays cost what one does.

    Parameters
    ----------
    rows, columns
        R and C graphs. Where both are the same object, every pair is computed once. Edges count without direction.
    decays
        D values of λ.
    labels
        What nodes are called: see :func:`~spgnn_dgl.data.substructures.wl.node_names`.
    check
        Called between pieces of work; may raise to end them.

    Returns
    -------
    numpy.ndarray
        (D, R, C), NaN where the sum does not exist: where 1/λ is not above the product of the two spectral radii.
    """
    numbers: dict[str, int] = {}
    if columns is not rows:
        left = _Stack.of(rows, labels, numbers, check)
        right = _Stack.of(columns, labels, numbers, check)
        return np.stack([_one_with_many(left.part(i, i + 1), right, decays, check) for i in range(len(rows))], axis=1)
    order = np.argsort(rows.node_counts, kind="stable")  # the first of a pair is dense: let it be the smaller one
    stack = _Stack.of(rows.subset(order), labels, numbers, check)
    sums = np.empty((len(decays), len(rows), len(rows)))
    for i, graph in enumerate(order):
        found = _one_with_many(stack.part(i, i + 1), stack.part(i, len(order)), decays, check)
        sums[:, graph, order[i:]] = sums[:, order[i:], graph] = found
    return sums


def spectral_radii(data: GraphDataset, check: Check) -> np.ndarray:
    """(G,) largest eigenvalue of each adjacency, edges without direction."""
    return _Stack.of(data, "constant", {}, check).radii


@dataclass(frozen=True)
class _Stack:
    """Graphs one below the other: G graphs, N nodes."""

    offsets: np.ndarray  # (G + 1,) first row of every graph
    adjacency: scipy.sparse.csr_matrix  # (N, N) of zeros and ones, symmetric
    labels: np.ndarray  # (N,) numbers, the same for equal names
    radii: np.ndarray  # (G,) largest eigenvalues

    @classmethod
    def of(cls, data: GraphDataset, labels: str, numbers: dict[str, int], check: Check) -> _Stack:
        """`numbers` has the names met so far, and receives new ones."""
        codes, names = node_names(data, labels)
        table = np.array([numbers.setdefault(name, len(numbers)) for name in names], dtype=np.int64)
        flat = flatten(data)
        directed = scipy.sparse.csr_matrix(
            (np.ones(len(flat.neighbours)), flat.neighbours, flat.indptr), shape=(len(codes), len(codes))
        )
        adjacency = directed + directed.T
        adjacency.data[:] = 1.0
        radii = np.zeros(len(data))
        for graph, (start, end) in enumerate(zip(flat.node_offsets[:-1].tolist(), flat.node_offsets[1:].tolist())):
            check()
            radii[graph] = _radius(adjacency[start:end, start:end])
        return cls(flat.node_offsets, adjacency, table[codes], radii)

    def part(self, start: int, end: int) -> _Stack:
        """The graphs from `start` on, before `end`."""
        first, last = self.offsets[start], self.offsets[end]
        return _Stack(
            self.offsets[start : end + 1] - first,
            self.adjacency[first:last, first:last],
            self.labels[first:last],
            self.radii[start:end],
        )

    @property
    def graph_of_node(self) -> np.ndarray:
        """(N,)"""
        return np.repeat(np.arange(len(self.radii)), np.diff(self.offsets))


def _radius(adjacency: scipy.sparse.csr_matrix) -> float:
    nodes = adjacency.shape[0]
    if nodes == 0:
        return 0.0
    if nodes <= DENSE_NODES:
        return float(np.linalg.eigvalsh(adjacency.toarray())[-1])
    return float(eigsh(adjacency, 1, which="LA", return_eigenvectors=False, v0=np.ones(nodes))[0])


def _one_with_many(one: _Stack, others: _Stack, decays: Sequence[float], check: Check) -> np.ndarray:
    """(D, G) sums of one graph with each of G others, some of these at a time."""
    adjacency, sums, start = one.adjacency.toarray(), [], 0
    nodes = max(BLOCK // max(len(one.labels), 1), 1)
    while start < len(others.radii):
        check()
        end = int(np.searchsorted(others.offsets, others.offsets[start] + nodes, side="right")) - 1
        block = others.part(start, max(end, start + 1))
        exist = np.multiply.outer(np.asarray(decays) * one.radii, block.radii) < 1  # (D, G)
        match = (block.labels[:, None] == one.labels).astype(np.float64)
        sums.append(np.where(exist, _lanczos(adjacency, block, match, np.asarray(decays), exist), np.nan))
        start += len(block.radii)
    return np.concatenate(sums, axis=1) if sums else np.empty((len(decays), 0))


def _lanczos(
    adjacency: np.ndarray, others: _Stack, match: np.ndarray, decays: np.ndarray, exist: np.ndarray
) -> np.ndarray:
    """(D, G) sums of a graph of n nodes with G others of N nodes, whose pairs of equal label are in `match` (N, n)."""
    graph_of_node = others.graph_of_node

    def dot(x: np.ndarray, y: np.ndarray) -> np.ndarray:
        """(G,) one scalar product for every pair of graphs."""
        return np.bincount(graph_of_node, np.einsum("ij,ij->i", x, y), len(others.radii))

    def scaled(x: np.ndarray, factors: np.ndarray) -> np.ndarray:
        return x * factors[graph_of_node, None]

    pairs = dot(match, match)
    current, previous = scaled(match, _inverse(np.sqrt(pairs))), np.zeros_like(match)
    diagonal, beside = [], [np.zeros(len(pairs))]
    sums = np.zeros(exist.shape)
    while True:
        product = ((others.adjacency @ current) @ adjacency) * match
        diagonal.append(dot(current, product))
        product -= scaled(current, diagonal[-1])
        product -= scaled(previous, beside[-1])
        before, sums = sums, pairs * _first_of_inverse(diagonal, beside[1:], decays)
        if not (exist & (np.abs(sums - before) > TOLERANCE * np.abs(sums))).any():
            return sums
        length = np.sqrt(dot(product, product))
        length[length <= 1e-14 * np.abs(diagonal).max(axis=0, initial=1.0)] = 0.0  # nothing new but rounding
        beside.append(length)
        previous, current = current, scaled(product, _inverse(length))


def _first_of_inverse(diagonal: Sequence[np.ndarray], beside: Sequence[np.ndarray], decays: np.ndarray) -> np.ndarray:
    r"""(D, G) :math:`e_1^\top (I - \lambda T)^{-1} e_1`, T tridiagonal: a continued fraction, read from its end."""
    with np.errstate(divide="ignore", invalid="ignore"):  # where the sum does not exist
        fraction = 1 - np.multiply.outer(decays, diagonal[-1])
        for own, link in zip(reversed(diagonal[:-1]), reversed(beside), strict=True):
            fraction = 1 - np.multiply.outer(decays, own) - np.multiply.outer(decays, link) ** 2 / fraction
        return 1 / fraction


def _inverse(lengths: np.ndarray) -> np.ndarray:
    return np.divide(1.0, lengths, out=np.zeros_like(lengths), where=lengths > 0)
