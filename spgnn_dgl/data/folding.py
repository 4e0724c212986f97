"""Equivalent nodes folded into one: smaller graphs on which a network computes the same.

Nodes of a graph that colour refinement never tells apart, such as the leaves around a hub or the members of a clique,
have equal representations in every layer of every message-passing network. They are computed once: a *folded* graph
has one node for each class of them, and knows how many it stands for. Of COLLAB's nodes that leaves 43 in a hundred,
and 14 of its edges.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from spgnn_dgl.data.arrays import GraphArrays, runs
from spgnn_dgl.data.store import DEGREE, GraphDataset
from spgnn_dgl.data.substructures.wl import FlatGraphs, first_colours, flatten, mix, node_values, number_keys, refine

COPIES, COUNTS, REVERSE_COUNTS = "copies", "counts", "reverse counts"
"""Fields of a folded batch, besides DEGREE; see :class:`FoldedArrays`."""

SAMPLE = 100  # graphs that are tried first
MOST_GRAPHS, MOST_NODES, MOST_EDGES = 1 << 20, 1 << 22, 1 << 25  # beyond, memory would grow with the dataset
BLOCK = 1 << 20  # edges that are refined together
_GRAPH = np.array([0xE7037ED1A0B428DB, 0x8BB84B93962EACC9], dtype=np.uint64)


@dataclass(frozen=True, kw_only=True)
class FoldedArrays(GraphArrays):
    """Arrays in which a node stands for `copies` equivalent ones. N and E count what is left after folding.

    An edge from d to c says that every copy of c has so many neighbours, `counts`, among the copies of d, and every
    copy of d `reverse_counts` among those of c: the entries of a matrix and of its transpose, at the same place.
    """

    copies: np.ndarray = field()  # (N,) int64
    degrees: np.ndarray = field()  # (N,) int64 neighbours of each copy
    counts: np.ndarray = field()  # (E,) float32
    reverse_counts: np.ndarray = field()  # (E,) float32

    def node_fields(self) -> dict[str, np.ndarray]:
        return {**super().node_fields(), COPIES: self.copies, DEGREE: self.degrees}

    def edge_fields(self) -> dict[str, np.ndarray]:
        return {COUNTS: self.counts, REVERSE_COUNTS: self.reverse_counts}

    @property
    def largest_degree(self) -> int:
        return int(self.degrees.max(initial=0))


def fold(data: GraphDataset, features: str = "auto") -> GraphDataset:
    """The graphs of a dataset or view with equivalent nodes folded.

    Parameters
    ----------
    data
        Undirected graphs.
    features
        What a network reads of the nodes, as in :class:`spgnn_dgl.data.features.FeaturePolicy`.

    Examples
    --------
    >>> import networkx as nx
    >>> from spgnn_dgl.data.readers.graphs import as_dataset
    >>> folded = fold(as_dataset([nx.star_graph(5)], [0]))
    >>> folded.node_counts.tolist(), sorted(folded.arrays.copies.tolist())
    ([2], [1, 5])
    """
    parts = [_fold(block, features) for block in _blocks(data)]
    joined = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    offsets = {
        f"{what}_offsets": np.append(0, np.cumsum(joined.pop(f"{what}_counts"))).astype(np.int64)
        for what in ("node", "edge")
    }
    return GraphDataset(FoldedArrays(labels=data.labels, **offsets, **joined), data.meta)


def fold_where_it_pays(data: GraphDataset, features: str = "auto", at_most: float = 0.9) -> GraphDataset:
    """The folded graphs if no more than that share of the nodes is left, else `data` itself; some are tried first."""
    if data.meta.directed or isinstance(data.arrays, FoldedArrays):
        return data
    if not 0 < len(data) <= MOST_GRAPHS:
        return data
    if data.node_counts.sum() > MOST_NODES or data.edge_counts.sum() > MOST_EDGES:
        return data
    sample = data.subset(np.linspace(0, len(data) - 1, min(SAMPLE, len(data))).astype(np.int64))
    if fold(sample, features).node_counts.sum() > at_most * sample.node_counts.sum():
        return data
    return fold(data, features)


def _blocks(data: GraphDataset) -> Iterator[GraphDataset]:
    """The view in parts of about BLOCK edges."""
    block_of = np.cumsum(data.edge_counts) // BLOCK
    for graphs in np.split(np.arange(len(data)), np.flatnonzero(np.diff(block_of)) + 1):
        yield data.subset(graphs)


def _fold(data: GraphDataset, features: str) -> dict[str, np.ndarray]:
    """Arrays of some graphs, with counts of nodes and edges instead of offsets."""
    flat = flatten(data)
    graph_of_node = flat.graph_of_node
    classes, examples = _equivalence(flat, first_colours(data, features))
    C, graph_of_class = len(examples), graph_of_node[examples]
    copies = np.bincount(classes, minlength=C)

    # all nodes of a class have the same number of neighbours in every class, so one example tells
    degrees = np.diff(flat.indptr)[examples]
    neighbours = classes[flat.neighbours[runs(flat.indptr[examples], degrees)]]
    pairs, counts = np.unique(np.repeat(np.arange(C), degrees) * C + neighbours, return_counts=True)
    target, source = np.divmod(pairs, C)
    node_counts = np.bincount(graph_of_class, minlength=len(data))
    first_class = np.cumsum(node_counts) - node_counts
    folded = {
        "node_counts": node_counts,
        "edge_counts": np.bincount(graph_of_class[target], minlength=len(data)),
        "in_degrees": np.bincount(target, minlength=C).astype(np.int32),
        "neighbours": (source - first_class[graph_of_class[target]]).astype(np.int32),
        "copies": copies,
        "degrees": degrees,
        "counts": counts.astype(np.float32),
        "reverse_counts": (counts * copies[target] // copies[source]).astype(np.float32),  # both count the same edges
    }
    for name in ("node_labels", "node_attributes"):
        if (values := getattr(data.arrays, name)) is not None:
            folded[name] = node_values(data, values)[examples]
    return folded


def _equivalence(flat: FlatGraphs, colours: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Classes of nodes of the same graph that refinement never tells apart, graph after graph.

    Returns
    -------
    classes, examples
        (N,) the class of every node, and (C,) a node of every class.
    """
    graph_of_node = flat.graph_of_node
    colours = mix(colours ^ mix(graph_of_node[:, None].astype(np.uint64) + _GRAPH))
    numbers, examples = number_keys(colours)
    while True:
        colours = refine(flat, colours)
        finer, examples_of_finer = number_keys(colours)
        if len(examples_of_finer) == len(examples):
            break
        numbers, examples = finer, examples_of_finer
    order = np.argsort(graph_of_node[examples], kind="stable")
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    return rank[numbers], examples[order]
