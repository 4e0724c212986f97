"""Exactly which graphs are isomorphic, among those that colour refinement cannot tell apart.

Nodes with the same colour and the same neighbours (with or without themselves) are interchangeable: one of them with
their number says it all. What is left of a clique is one node, and of most social networks a handful, so that a search
for an isomorphism (VF2) has little to do.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import networkx as nx
import numpy as np
from networkx.algorithms.isomorphism import DiGraphMatcher, GraphMatcher

from spgnn_dgl.data.audit.twins import Refinement, numbered
from spgnn_dgl.data.substructures.wl import mix, neighbour_sums, number_keys
from spgnn_dgl.errors import BudgetExceeded

COLOUR = "colour"
_SALTS = np.array([0x2545F4914F6CDD1D, 0xD1342543DE82EF95], dtype=np.uint64)


def isomorphism_classes(refinement: Refinement, seconds: float = 30.0) -> tuple[np.ndarray, int]:
    """Divide stable colour classes into classes of isomorphic graphs.

    Parameters
    ----------
    refinement
        A refinement of the dataset; it is settled first.
    seconds
        Time for all searches together.

    Returns
    -------
    classes, undecided
        (G,) numbers that isomorphic graphs share, and how many graphs the time did not suffice for. Such a graph
        counts as different from those it was compared with.
    """
    refinement.settle()
    deadline = time.monotonic() + seconds
    classes = refinement.classes.copy()
    graphs = dict(zip(refinement.shared.tolist(), reduced_graphs(refinement)))
    following, undecided = len(classes), 0
    for number in np.unique(classes[refinement.shared]):
        different: list[Any] = []  # one graph of each isomorphism class found, with the number of that class
        for position in np.flatnonzero(classes == number).tolist():
            same, timely = _find(graphs[position], different, deadline)
            undecided += not timely
            if same is None:
                same = int(number) if not different else following
                following += bool(different)
                different.append((graphs[position], same))
            classes[position] = same
    return numbered(classes), undecided


def _find(graph: Any, known: Sequence[tuple[Any, int]], deadline: float) -> tuple[int | None, bool]:
    """The number of the first known graph that is isomorphic, and whether all comparisons ended in time."""
    timely = True
    for other, number in known:
        try:
            if isomorphic(graph, other, deadline):
                return number, timely
        except BudgetExceeded:
            timely = False
    return None, timely


def isomorphic(first: Any, second: Any, deadline: float) -> bool:
    """Whether two networkx graphs are isomorphic with their node attribute `colour`.

    Raises :class:`~spgnn_dgl.errors.BudgetExceeded` when ``time.monotonic()`` passes `deadline`.
    """
    at_first, at_second = (sorted((colour, v) for v, colour in g.nodes(data=COLOUR)) for g in (first, second))
    if [colour for colour, _ in at_first] != [colour for colour, _ in at_second]:
        return False
    if first.number_of_edges() != second.number_of_edges():
        return False
    if len({colour for colour, _ in at_first}) == len(at_first):  # only one mapping is possible: look at it
        partner = {v: w for (_, v), (_, w) in zip(at_first, at_second)}
        return all(second.has_edge(partner[u], partner[v]) for u, v in first.edges)
    matcher = (_DirectedMatcher if first.is_directed() else _Matcher)(first, second, deadline)
    try:
        return matcher.is_isomorphic()
    finally:
        matcher.reset_recursion_limit()


class _InTime:
    """Compares colours, and looks at the clock while it does."""

    G1: Any
    G2: Any

    def __init__(self, first: Any, second: Any, deadline: float):
        super().__init__(first, second)  # type: ignore[call-arg]
        self.deadline = deadline

    def semantic_feasibility(self, v: Any, w: Any) -> bool:
        if time.monotonic() > self.deadline:
            raise BudgetExceeded("the search for an isomorphism took longer than it was given.")
        return self.G1.nodes[v][COLOUR] == self.G2.nodes[w][COLOUR]


class _Matcher(_InTime, GraphMatcher):
    pass


class _DirectedMatcher(_InTime, DiGraphMatcher):
    pass


def reduced_graphs(refinement: Refinement) -> list[Any]:
    """The graphs at ``refinement.shared`` as networkx graphs, one node for all that are interchangeable.

    The attribute ``colour`` says the node's colour, how many it stands for, and whether these are joined; with it,
    two reduced graphs are isomorphic exactly when the whole ones are.
    """
    if not len(refinement.shared):
        return []
    flat, directed = refinement.flat, refinement.data.meta.directed
    keep, keys = (np.ones(len(refinement.keys), dtype=bool), refinement.keys) if directed else _collapse(refinement)
    colours = number_keys(keys)[0].tolist()
    target = np.repeat(np.arange(len(keep)), np.diff(flat.indptr))
    edge_kept = keep[flat.neighbours] & keep[target]
    source, target = flat.neighbours[edge_kept], target[edge_kept]
    first_edge = np.searchsorted(target, flat.node_offsets)  # targets ascend
    graphs = []
    for g, (start, end) in enumerate(zip(flat.node_offsets[:-1].tolist(), flat.node_offsets[1:].tolist())):
        graph = nx.DiGraph() if directed else nx.Graph()
        graph.add_nodes_from((v, {COLOUR: colours[v]}) for v in (start + np.flatnonzero(keep[start:end])).tolist())
        edges = slice(first_edge[g], first_edge[g + 1])
        graph.add_edges_from(zip(source[edges].tolist(), target[edges].tolist()))
        graphs.append(graph)
    return graphs


def _collapse(refinement: Refinement) -> tuple[np.ndarray, np.ndarray]:
    """(N,) the first of all nodes that are interchangeable, and (N, 2) colours that say of how many.

    No node is interchangeable with one neighbour and with one that is not: the second would have to neighbour the
    first, and so the node itself.
    """
    flat, keys = refinement.flat, refinement.keys
    own = mix(np.arange(len(keys), dtype=np.uint64)[:, None] + _SALTS)
    around = neighbour_sums(flat, own)  # equal for equal sets of neighbours
    graph = mix(flat.graph_of_node.astype(np.uint64)[:, None] + _SALTS)  # nodes without neighbours stay in their graph
    keep = np.ones(len(keys), dtype=bool)
    marks = np.zeros(len(keys), dtype=np.uint64)
    for joined, neighbours in enumerate((around, around + own)):
        numbers, _ = number_keys(mix(neighbours + graph) + keys)
        sizes = np.bincount(numbers)[numbers]
        several = sizes > 1
        first = np.zeros(len(keys), dtype=bool)
        first[np.unique(numbers, return_index=True)[1]] = True
        keep &= first | ~several
        marks[several] = (2 * sizes[several] + joined).astype(np.uint64)
    return keep, mix(keys + mix(marks[:, None] + _SALTS))
