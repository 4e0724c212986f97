"""Graphs that message passing cannot tell apart, and the accuracy that is left when they have different classes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from spgnn_dgl.data.store import GraphDataset
from spgnn_dgl.data.substructures.wl import FlatGraphs, first_colours, flatten, mix, number_keys, refine

_NODE_IN_GRAPH = np.array([0x8EBC6AF09C88C6E3, 0x589965CC75374CC3], dtype=np.uint64)


class Refinement:
    """Colour refinement that follows only the graphs that are not told apart yet.

    After `rounds` rounds, graphs have equal numbers in `classes` exactly when the multisets of their nodes' colours
    are equal: no network of that many layers can tell them apart, whatever its weights and its readout (Xu et al.,
    *How Powerful are Graph Neural Networks?*, ICLR 2019, Lemma 2). A graph that once differs from all others differs
    for good, so it is left out of the next round.

    Parameters
    ----------
    data
        A dataset or view. Of a directed dataset the in-neighbours count. Edge labels are not read, as no method here
        reads them.
    features
        What the nodes are described by; see :func:`first_colours`.

    Examples
    --------
    >>> import networkx as nx
    >>> from spgnn_dgl.data.readers.graphs import from_graphs
    >>> two_triangles = nx.disjoint_union(nx.cycle_graph(3), nx.cycle_graph(3))
    >>> graphs = from_graphs([nx.cycle_graph(6), two_triangles, nx.path_graph(6)])
    >>> Refinement(graphs).settle().classes.tolist()
    [0, 0, 1]
    """

    def __init__(self, data: GraphDataset, features: str = "auto"):
        self.data = data
        self.rounds = 0
        self.stable = False
        self.classes = np.zeros(len(data), dtype=np.int64)
        self.shared = np.arange(len(data))  # (S,) positions of the graphs that share their class with another
        self.keys = first_colours(data, features)  # (N, 2) colours of the nodes of these graphs
        self._flat: FlatGraphs | None = None
        self._split()

    @property
    def flat(self) -> FlatGraphs:
        """The structure of the graphs at `shared`."""
        if self._flat is None:
            self._flat = flatten(self.data.subset(self.shared))
        return self._flat

    def refine(self) -> None:
        """One round more."""
        self.rounds += 1
        if self.stable:
            return
        keys = refine(self.flat, self.keys)
        if _count(keys) == _count(self.keys):
            self.stable = True  # no colour was divided, so none ever will be
            return
        self.keys = keys
        self._split()

    def settle(self) -> Refinement:
        """Refine until nothing changes any more: what no number of layers can tell apart."""
        while not self.stable:
            self.refine()
        return self

    def _split(self) -> None:
        """Divide the classes by the new colours, and let go of graphs that have one for themselves."""
        counts = self.data.node_counts[self.shared]
        if len(counts):
            starts = np.cumsum(counts) - counts
            graph_keys = np.add.reduceat(mix(self.keys + _NODE_IN_GRAPH), starts, axis=0)  # (S, 2)
            numbers = number_keys(graph_keys)[0]
            self.classes[self.shared] = len(self.classes) + numbers
            self.classes = numbered(self.classes)
            still = np.bincount(numbers)[numbers] > 1
            if not still.all():
                self.shared = self.shared[still]
                self.keys = self.keys[np.repeat(still, counts)]
                self._flat = None
        self.stable = len(self.shared) == 0


def numbered(groups: np.ndarray) -> np.ndarray:
    """The same groups with the numbers 0, 1, … in the order in which they first appear.

    >>> numbered(np.array([7, 3, 7, 5]))
    array([0, 1, 0, 2])
    """
    _, first, inverse = np.unique(groups, return_index=True, return_inverse=True)
    rank = np.empty(len(first), dtype=np.int64)
    rank[np.argsort(first)] = np.arange(len(first))
    return rank[inverse.reshape(-1)]


def _count(keys: np.ndarray) -> int:
    return len(number_keys(keys)[1])


@dataclass(frozen=True)
class TwinCounts:
    """How often graphs are alike; *twins* are graphs of one class of `classes`.

    Parameters
    ----------
    distinct
        Different graphs.
    with_twin
        Graphs that have at least one twin.
    largest
        Size of the largest group of twins.
    contradicting
        Graphs with a twin of another class (in the sense of classification).
    ceiling
        The best accuracy of any rule that treats twins alike; None where classes are not known.
    """

    distinct: int
    with_twin: int
    largest: int
    contradicting: int | None
    ceiling: float | None


def count_twins(classes: np.ndarray, labels: np.ndarray | None) -> TwinCounts:
    """Count twins, given (G,) numbers that twins share and (G,) class codes."""
    sizes = np.bincount(classes)
    distinct, with_twin, largest = len(sizes), int(sizes[sizes > 1].sum()), int(sizes.max(initial=0))
    if labels is None:
        return TwinCounts(distinct, with_twin, largest, None, None)
    table = votes(classes, labels)
    contradicting = int(sizes[(table > 0).sum(axis=1) > 1].sum())
    return TwinCounts(distinct, with_twin, largest, contradicting, float(table.max(axis=1).sum() / len(classes)))


def votes(classes: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """(groups of twins, C): how many graphs of each group have each label."""
    num_labels = int(labels.max(initial=0)) + 1
    return np.bincount(classes * num_labels + labels, minlength=(int(classes.max()) + 1) * num_labels).reshape(
        -1, num_labels
    )


def twin_groups(data: GraphDataset, features: str = "auto") -> np.ndarray:
    """(G,) numbers: equal for graphs that no message-passing network can tell apart, for folds that keep them together.

    Isomorphic graphs are always among these. See `groups` of :func:`spgnn_dgl.data.folds.stratified_folds`.
    """
    return Refinement(data, features).settle().classes
