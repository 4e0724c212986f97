"""Which graphs to show."""

from __future__ import annotations

import numpy as np

from spgnn_dgl.explain.selection import Pooled
from spgnn_dgl.explain.subject import Subject


def graphs_per_class(subject: Subject, per_class: int) -> list[list[int]]:
    """A few graphs of each class, spread over the sizes that occur, rightly predicted ones first.

    Returns
    -------
    list of list
        A row per class that has graphs: positions in the dataset, in ascending size.
    """
    right = subject.probabilities().argmax(axis=1) == subject.labels
    rows = []
    for label in np.unique(subject.labels):
        members = np.flatnonzero(subject.labels == label)
        rows.append(_spread(subject, _right_first(members, right, per_class), per_class))
    return rows


def by_class(subject: Subject) -> list[list[int]]:
    """All graphs of a subject, a row per class."""
    return [subject.graphs[subject.labels == label].tolist() for label in np.unique(subject.labels)]


def communities_and_complete(subject: Subject, communities: int, complete: int, largest: int = 45) -> list[list[int]]:
    """The two cases of the paper's figure: per class, graphs with communities, then complete graphs.

    A graph counts as one with communities when its modularity (over Louvain communities) is among the highest
    quarter of its class; graphs with more than `largest` or fewer than 8 nodes are left out.
    """
    data, sizes = subject.explained, subject.explained.node_counts
    right = subject.probabilities().argmax(axis=1) == subject.labels
    is_complete = data.edge_counts == sizes * (sizes - 1)
    fits = (sizes >= 8) & (sizes <= largest)
    rows = []
    for label in np.unique(subject.labels):
        own = (subject.labels == label) & fits
        open_ = np.flatnonzero(own & ~is_complete)
        if len(open_):
            value = np.array([_modularity(subject, number) for number in open_.tolist()])
            open_ = open_[value >= np.quantile(value, 0.75)]
        row = _spread(subject, _right_first(open_, right, communities), communities)
        row += _spread(subject, _right_first(np.flatnonzero(own & is_complete), right, complete), complete)
        if row:
            rows.append(row)
    return rows


def _right_first(members: np.ndarray, right: np.ndarray, wanted: int) -> np.ndarray:
    """The rightly predicted among the members, or all of them where they are too few."""
    good = members[right[members]]
    return good if len(good) >= wanted else members


def _spread(subject: Subject, members: np.ndarray, count: int) -> list[int]:
    """`count` of the members at even steps of their sizes, as positions in the dataset."""
    ordered = members[np.argsort(subject.explained.node_counts[members], kind="stable")]
    steps = (np.arange(count) + 0.5) / max(count, 1) * len(ordered)
    return subject.graphs[ordered[np.unique(steps.astype(np.int64))]].tolist() if len(ordered) else []


def _modularity(subject: Subject, number: int) -> float:
    import networkx as nx

    graph = subject.explained.batch([number])
    source, target = graph.edges()
    plain = nx.Graph(zip(source.tolist(), target.tolist()))
    return float(nx.community.modularity(plain, nx.community.louvain_communities(plain, seed=0)))


def graph_with_changing_leaders(subject: Subject, *, smallest: int = 8, largest: int = 24) -> int:
    """A graph in which each layer finds another node the most important: the paper's Figure 1 on real data.

    Among the graphs of a handy size the one with the most different single leaders; rightly predicted ones and
    larger ones win a draw. Where no graph has that size, the one nearest to it.
    """
    sizes = subject.explained.node_counts
    distance = np.maximum(np.maximum(smallest - sizes, sizes - largest), 0)
    numbers = np.flatnonzero(distance == distance.min())
    some = subject.of(subject.graphs[numbers])
    right = some.probabilities().argmax(axis=1) == some.labels
    leaders = [_single_leaders(pooled) for pooled in some.pooled()]
    best = max(
        range(len(leaders)), key=lambda g: (leaders[g], right[g], some.explained.node_counts[g], -some.graphs[g])
    )
    return int(some.graphs[best])


def _single_leaders(pooled: Pooled) -> int:
    """Number of different nodes that lead a layer alone."""
    alone = [np.flatnonzero(row == row.max()) for row in pooled.importance]
    return len({int(first[0]) for first in alone if len(first) == 1})
