"""Sorted neighbour lists without repetition from an edge list, with what had to be mended."""

from __future__ import annotations

import numpy as np
import scipy.sparse


def adjacency_lists(
    source: np.ndarray, target: np.ndarray, num_nodes: int, directed: bool
) -> tuple[scipy.sparse.csr_matrix, dict[str, int]]:
    """Rows = targets, columns = sources, sorted and without repetition; all steps are linear in the edges."""
    ones = np.ones(len(source), dtype=np.int8)
    shape = (num_nodes, num_nodes)
    adjacency = scipy.sparse.coo_matrix((ones, (target.astype(np.int32), source.astype(np.int32))), shape).tocsr()
    adjacency.sum_duplicates()
    doubled = len(source) - adjacency.nnz
    one_way = 0
    if not directed:
        mirrored = adjacency.T.tocsr()
        if not _same_edges(adjacency, mirrored):
            adjacency.data[:] = mirrored.data[:] = 1  # int8 sums of repeated edges may have wrapped to zero
            completed = adjacency + mirrored
            one_way = completed.nnz - adjacency.nnz
            adjacency = completed.tocsr()
            adjacency.sort_indices()
    return adjacency, {"doubled_edges": doubled, "one_way_edges": one_way}


def _same_edges(adjacency: scipy.sparse.csr_matrix, other: scipy.sparse.csr_matrix) -> bool:
    """Whether two matrices have their entries at the same places; sorts the second."""
    other.sort_indices()
    return np.array_equal(other.indptr, adjacency.indptr) and np.array_equal(other.indices, adjacency.indices)


def labelled_adjacency_lists(
    source: np.ndarray, target: np.ndarray, edge_labels: np.ndarray, num_nodes: int, directed: bool
) -> tuple[scipy.sparse.csr_matrix, np.ndarray, dict[str, int]]:
    """As :func:`adjacency_lists`, with a label per edge: the first one listed; a completed edge takes its partner's."""
    shape = (num_nodes, num_nodes)
    key = target.astype(np.int64) * num_nodes + source
    order = np.argsort(key, kind="stable")
    key = key[order]
    first = np.ones(len(key), dtype=bool)
    np.not_equal(key[1:], key[:-1], out=first[1:])
    distinct, kept = key[first], np.asarray(edge_labels, dtype=np.int32)[order[first]]
    doubled = len(key) - len(distinct)

    def matrix(keys: np.ndarray, values: np.ndarray) -> scipy.sparse.csr_matrix:
        rows, columns = np.divmod(keys, num_nodes)
        indptr = np.zeros(num_nodes + 1, dtype=np.int64)
        np.cumsum(np.bincount(rows, minlength=num_nodes), out=indptr[1:])
        return scipy.sparse.csr_matrix((values, columns.astype(np.int32), indptr.astype(np.int32)), shape)

    adjacency = matrix(distinct, kept)
    one_way = 0
    if not directed and not _same_edges(adjacency, adjacency.T.tocsr()):
        mirror = (distinct % num_nodes) * num_nodes + distinct // num_nodes
        missing = ~np.isin(mirror, distinct)
        one_way = int(missing.sum())
        distinct, kept = np.concatenate([distinct, mirror[missing]]), np.concatenate([kept, kept[missing]])
        order = np.argsort(distinct)
        adjacency = matrix(distinct[order], kept[order])
    return adjacency, adjacency.data, {"doubled_edges": doubled, "one_way_edges": one_way}
