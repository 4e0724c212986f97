"""A dataset as flat arrays: all nodes of all graphs in one row, all neighbour lists in another.

One array per property instead of one object per graph: 41 127 molecules are ten arrays, they memory-map as they are,
and a batch is cut out of them by copying slices. :func:`assemble` makes the arrays from raw edge lists, mends what
the public archives get wrong (doubled edges, self-loops, one-way edges) and counts what it mended.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Any

import numpy as np

from spgnn_dgl.data.adjacency import adjacency_lists, labelled_adjacency_lists
from spgnn_dgl.errors import DatasetError

UNKNOWN_CLASS = -1
"""Class code of a graph whose class is not given."""

GATHER_AT_MOST = 10_000  # numbers per batch of 50 graphs up to which gathering was the faster way


class EdgeError(DatasetError):
    """An edge that cannot be; `edge` is its position in the edge list, so that a reader can name the line."""

    def __init__(self, edge: int, problem: str):
        super().__init__(f"edge {edge} {problem}")
        self.edge = edge
        self.problem = problem


@dataclass(frozen=True)
class GraphArrays:
    """G graphs, N nodes and E directed edges in all (an undirected edge is stored in both directions).

    Node v of graph g stands at row ``node_offsets[g] + v``. Its in-neighbours, as node numbers *inside* the graph and
    in ascending order, are the ``in_degrees`` entries of ``neighbours`` that follow those of the nodes before it.
    """

    node_offsets: np.ndarray  # (G + 1,) int64
    edge_offsets: np.ndarray  # (G + 1,) int64
    in_degrees: np.ndarray  # (N,) int32
    neighbours: np.ndarray  # (E,) int32
    labels: np.ndarray  # (G,) int64 class codes 0 … C-1, or UNKNOWN_CLASS
    node_labels: np.ndarray | None = None  # (N,) int32 codes 0 … V-1
    node_attributes: np.ndarray | None = None  # (N, F) float32
    edge_labels: np.ndarray | None = None  # (E,) int32 codes
    truth: np.ndarray | None = None  # (N,) bool, nodes that decide the class, where that is known

    @property
    def num_graphs(self) -> int:
        return len(self.node_offsets) - 1

    def node_fields(self) -> dict[str, np.ndarray]:
        """What the nodes of a batch carry, by the name of the field."""
        fields = {"label": self.node_labels, "attr": self.node_attributes, "truth": self.truth}
        return {name: array for name, array in fields.items() if array is not None}

    def edge_fields(self) -> dict[str, np.ndarray]:
        """What the edges of a batch carry, by the name of the field."""
        return {} if self.edge_labels is None else {"label": self.edge_labels}

    def present(self) -> dict[str, np.ndarray]:
        """The arrays this dataset has, by name."""
        return {f.name: a for f in fields(self) if (a := getattr(self, f.name)) is not None}

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 of the content: equal for equal data, wherever it was read from. A store has it written down."""
        digest = hashlib.sha256()
        for name, array in self.present().items():
            digest.update(f"{name}:{array.dtype.str}:{array.shape};".encode())
            rows = max(1, (1 << 24) // max(1, array.itemsize * int(np.prod(array.shape[1:], dtype=np.int64))))
            for start in range(0, len(array), rows):  # in pieces: a memory-mapped array is never held whole
                digest.update(np.ascontiguousarray(array[start : start + rows]).data)
        return digest.hexdigest()

    @cached_property
    def largest_degree(self) -> int:
        """In-neighbours of the node that has most of them. A store has it written down."""
        return int(self.in_degrees.max(initial=0))


@dataclass(frozen=True)
class DatasetMeta:
    """What is known of a dataset besides its arrays."""

    name: str
    class_names: tuple[str, ...] = ()  # class code -> value in the source
    node_label_names: tuple[str, ...] = ()  # node label code -> value in the source
    edge_label_names: tuple[str, ...] = ()
    node_symbols: tuple[str, ...] = ()  # node label code -> what to print in pictures ("C", "N", …), where known
    directed: bool = False
    domain: str | None = None  # "bioinformatics", "social" or None: the paper's rules for k depend on it
    mended: dict[str, int] = field(default_factory=dict)
    unreadable: tuple[str, ...] = ()  # what of the source is not in the dataset because it could not be read
    source: str = ""

    def to_json(self) -> dict[str, Any]:
        return {f.name: getattr(self, f.name) for f in fields(self)}

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> DatasetMeta:
        known = {f.name for f in fields(cls)}
        present: dict[str, Any] = {k: tuple(v) if isinstance(v, list) else v for k, v in values.items() if k in known}
        return cls(**present)


def codes(values: Sequence[Any] | np.ndarray) -> tuple[np.ndarray, tuple[str, ...]]:
    """Contiguous codes for arbitrary values, in sorted order, and the names the codes stand for.

    >>> codes([7, -1, 7])
    (array([1, 0, 1], dtype=int32), ('-1', '7'))
    """
    distinct, inverse = np.unique(np.asarray(values), return_inverse=True)
    return inverse.reshape(-1).astype(np.int32), tuple(str(v) for v in distinct.tolist())


def sortable(values: Sequence[Any]) -> np.ndarray:
    """Label values as an array: whole numbers where all of them are such (10 comes after 9), else texts.

    >>> sortable(["10", "9"]), sortable(["a", 1])
    (array([10,  9]), array(['a', '1'], dtype='<U1'))
    """
    texts = [str(v) for v in values]
    try:
        numbers = np.array([int(t) for t in texts], dtype=np.int64)
    except (ValueError, OverflowError):
        return np.array(texts)
    return numbers if all(map(str.__eq__, map(str, numbers.tolist()), texts)) else np.array(texts)  # "007" is a text


def slices(starts: np.ndarray, lengths: np.ndarray) -> list[slice]:
    """One slice per graph."""
    return [slice(s, s + n) for s, n in zip(starts.tolist(), lengths.tolist())]


def cut(array: np.ndarray, parts: list[slice]) -> np.ndarray:
    """The slices of an array, copied one after the other."""
    return np.concatenate([array[part] for part in parts])


def runs(starts: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    """The positions ``start, start + 1, …`` of all slices, one after the other."""
    ends = np.cumsum(lengths)
    positions = np.arange(ends[-1] if len(ends) else 0)
    positions += np.repeat(starts - (ends - lengths), lengths)
    return positions


def cutter(starts: np.ndarray, lengths: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
    """A function that copies the same slices out of any array, in the way that is fastest for their size.

    Few numbers are gathered one by one, since calling NumPy for each slice costs more; many are copied slice by slice.
    """
    if len(starts) == 1:
        (only,) = slices(starts, lengths)
        return lambda array: array[only].copy()
    if lengths.sum() <= GATHER_AT_MOST:
        positions = runs(starts, lengths)
        return lambda array: array.take(positions, axis=0)
    parts = slices(starts, lengths)
    return lambda array: cut(array, parts)


def take(arrays: GraphArrays, graphs: np.ndarray) -> GraphArrays:
    """A copy of the arrays that holds the given graphs only, in that order."""
    num_nodes, num_edges = np.diff(arrays.node_offsets)[graphs], np.diff(arrays.edge_offsets)[graphs]
    nodes, edges = slices(arrays.node_offsets[graphs], num_nodes), slices(arrays.edge_offsets[graphs], num_edges)
    copied = {
        "node_offsets": np.concatenate([[0], np.cumsum(num_nodes)]),
        "edge_offsets": np.concatenate([[0], np.cumsum(num_edges)]),
        "labels": arrays.labels[graphs],
    }
    for name, array in arrays.present().items():
        if name not in copied:
            copied[name] = cut(array, edges if name in ("neighbours", "edge_labels") else nodes)
    return GraphArrays(**copied)


def assemble(
    node_counts: np.ndarray,
    source: np.ndarray,
    target: np.ndarray,
    *,
    labels: np.ndarray | None = None,
    node_labels: np.ndarray | None = None,
    node_attributes: np.ndarray | None = None,
    edge_labels: np.ndarray | None = None,
    truth: np.ndarray | None = None,
    directed: bool = False,
) -> tuple[GraphArrays, dict[str, int]]:
    """Flat arrays from the edges source → target, given as node rows over all graphs.

    Parameters
    ----------
    node_counts
        (G,) nodes per graph; graph g owns the next ``node_counts[g]`` rows.
    source, target
        (E,) node rows. Edges that leave a graph are an error; self-loops and repeated edges are dropped; unless
        `directed`, an edge given in one direction only is completed.
    labels, node_labels, edge_labels
        Codes as :func:`codes` makes them. ``labels=None``: the classes are not known.

    Returns
    -------
    arrays, mended
        ``mended`` counts ``self_loops``, ``doubled_edges`` and ``one_way_edges``.
    """
    node_counts, source, target = np.asarray(node_counts, dtype=np.int64), np.asarray(source), np.asarray(target)
    for name, ends in (("target", target), ("edge_labels", edge_labels)):
        if ends is not None and len(ends) != len(source):
            raise DatasetError(f"{name} has {len(ends)} entries, but {len(source)} edges are given.")
    if len(node_counts) == 0:
        raise DatasetError("the dataset is empty: it has no graphs. Give at least one graph.")
    empty = np.flatnonzero(node_counts <= 0)
    if len(empty):
        raise DatasetError(f"graph {empty[0]} has no nodes ({len(empty)} such graphs). Remove it, or give it a node.")
    node_offsets = np.concatenate([[0], np.cumsum(node_counts)])  # (G + 1,)
    num_nodes = int(node_offsets[-1])
    for things, count in (("nodes", num_nodes), ("edges", len(source))):
        if count >= 2**31:
            raise DatasetError(f"{count} {things} in one store; at most {2**31 - 1} are supported. Split the dataset.")
    _check_endpoints(source, target, node_offsets)

    loops = source == target
    num_loops = int(loops.sum())
    if num_loops:
        keep = ~loops
        source, target = source[keep], target[keep]
        edge_labels = None if edge_labels is None else edge_labels[keep]
    if edge_labels is None:
        adjacency, mended = adjacency_lists(source, target, num_nodes, directed)
    else:
        adjacency, edge_labels, mended = labelled_adjacency_lists(source, target, edge_labels, num_nodes, directed)

    edge_offsets = adjacency.indptr[node_offsets].astype(np.int64)
    neighbours = adjacency.indices.astype(np.int32, copy=False)
    neighbours -= np.repeat(node_offsets[:-1].astype(np.int32), np.diff(edge_offsets))
    arrays = GraphArrays(
        node_offsets=node_offsets,
        edge_offsets=edge_offsets,
        in_degrees=np.diff(adjacency.indptr).astype(np.int32),
        neighbours=neighbours,
        labels=np.full(len(node_counts), UNKNOWN_CLASS) if labels is None else np.asarray(labels, dtype=np.int64),
        node_labels=None if node_labels is None else np.asarray(node_labels, dtype=np.int32),
        node_attributes=None if node_attributes is None else np.asarray(node_attributes, dtype=np.float32),
        edge_labels=edge_labels,
        truth=None if truth is None else np.asarray(truth, dtype=bool),
    )
    _check_lengths(arrays)
    return arrays, {"self_loops": num_loops, **mended}


def _check_endpoints(source: np.ndarray, target: np.ndarray, node_offsets: np.ndarray) -> None:
    num_nodes = int(node_offsets[-1])
    for ends in (source, target):
        if len(ends) and (ends.min() < 0 or ends.max() >= num_nodes):
            bad = int(np.flatnonzero((ends < 0) | (ends >= num_nodes))[0])
            raise EdgeError(bad, f"names node {ends[bad]}, but the nodes are 0 … {num_nodes - 1}.")
    graph_of_node = np.repeat(np.arange(len(node_offsets) - 1, dtype=np.int32), np.diff(node_offsets))
    across = graph_of_node[source] != graph_of_node[target]
    if across.any():
        bad = int(np.flatnonzero(across)[0])
        raise EdgeError(
            bad,
            f"joins graph {graph_of_node[source[bad]]} to graph {graph_of_node[target[bad]]} (counted from 0); "
            "an edge must stay inside its graph.",
        )


def _check_lengths(arrays: GraphArrays) -> None:
    expected = {
        "labels": arrays.num_graphs,
        "node_labels": len(arrays.in_degrees),
        "node_attributes": len(arrays.in_degrees),
        "truth": len(arrays.in_degrees),
    }
    for name, length in expected.items():
        array = getattr(arrays, name)
        if array is not None and len(array) != length:
            raise DatasetError(f"{name} has {len(array)} entries, but {length} are needed.")
    if arrays.node_attributes is not None and not np.isfinite(arrays.node_attributes).all():
        row = int(np.flatnonzero(~np.isfinite(arrays.node_attributes).all(axis=1))[0])
        raise DatasetError(f"the attributes of node row {row} are not finite numbers; replace NaN and infinities.")
