"""What to know of a dataset before believing a number measured on it."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from spgnn_dgl.data.audit.isomorphism import isomorphism_classes
from spgnn_dgl.data.audit.order import LabelOrder, label_order
from spgnn_dgl.data.audit.twins import Refinement, TwinCounts, count_twins, votes
from spgnn_dgl.data.features import choose_kind
from spgnn_dgl.data.folds import Folds
from spgnn_dgl.data.store import GraphDataset
from spgnn_dgl.data.substructures.wl import flatten, node_names, node_values
from spgnn_dgl.errors import DatasetError, OptionError


@dataclass(frozen=True)
class Spread:
    """Smallest, middle and largest of some numbers."""

    smallest: int
    median: float
    largest: int

    @classmethod
    def of(cls, values: np.ndarray) -> Spread:
        return cls(int(values.min()), float(np.median(values)), int(values.max()))


@dataclass(frozen=True)
class RareValues:
    """Node labels (or degrees, where there are none) and how few nodes have them."""

    what: str  # "label" or "degree"
    distinct: int
    on_one_node: tuple[str, ...]
    in_one_graph: tuple[str, ...]


@dataclass(frozen=True)
class TwinsAcross:
    """Twins on both sides of a cross-validation, summed over its folds.

    `with_twin` of the `tested` graphs have a twin in their training part; for `recalled` of these, the class of most
    of these twins is the right one, so that a list of the training graphs would do.
    """

    folds: int
    source: str
    tested: int
    with_twin: int
    recalled: int


@dataclass(frozen=True)
class AuditReport:
    """What :func:`audit` found.

    `by_depth[t]` are twins after t rounds of message passing, `refined` those that no number of rounds tells apart,
    `exact` the isomorphic ones (None when they were not looked for), `undecided` the graphs for which the search for
    isomorphisms was broken off. Class counts, majority and order are empty or None where classes are not known.
    """

    dataset: str
    graphs: int
    nodes: Spread
    degrees: Spread
    isolated_nodes: int
    mended: dict[str, int]
    unreadable: tuple[str, ...]
    rare: RareValues | None
    classes: dict[str, int]
    majority: float | None
    order: LabelOrder | None
    features: str
    edge_labels: bool
    by_depth: tuple[TwinCounts, ...]
    refined: TwinCounts
    exact: TwinCounts | None
    undecided: int
    across: TwinsAcross | None

    @property
    def layers(self) -> int:
        return len(self.by_depth) - 1

    @property
    def ceiling(self) -> float | None:
        """The best accuracy that any network of `layers` rounds of message passing can reach on these graphs."""
        return self.by_depth[-1].ceiling

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        return {**asdict(self), "layers": self.layers, "ceiling": self.ceiling}


def audit(
    data: GraphDataset,
    layers: int = 4,
    folds: Folds | None = None,
    *,
    features: str = "auto",
    exact: bool = True,
    seconds: float = 30.0,
) -> AuditReport:
    """Count what silently spoils experiments: twins, contradictions, order, isolated nodes, rare labels.

    Parameters
    ----------
    data
        A dataset or view; its classes may be unknown.
    layers
        Rounds of message passing for the ceiling.
    folds
        A cross-validation in which to look for twins of tested graphs among the training graphs: isomorphic ones, or
        with ``exact=False`` those that message passing cannot tell apart.
    features
        What the nodes are described by; see :class:`spgnn_dgl.data.features.FeaturePolicy`.
    exact
        Whether to look for isomorphic graphs among those that message passing cannot tell apart. Edge labels are not
        compared: no method here reads them.
    seconds
        Time for that search.

    Examples
    --------
    >>> import networkx as nx
    >>> from spgnn_dgl.data.readers.graphs import from_graphs
    >>> two_triangles = nx.disjoint_union(nx.cycle_graph(3), nx.cycle_graph(3))
    >>> report = audit(from_graphs([nx.cycle_graph(6), two_triangles] * 3, ["one ring", "two rings"] * 3))
    >>> report.ceiling, report.exact.ceiling
    (0.5, 1.0)
    """
    if layers < 0:
        raise OptionError(f"layers={layers} was given; it must be 0 or more.")
    if len(data) == 0:
        raise DatasetError(f"{data.name} is empty: there is nothing to audit. Give at least one graph.")
    labels = data.labels if data.has_labels else None
    refinement = Refinement(data, features)
    by_depth = [count_twins(refinement.classes, labels)]
    for _ in range(layers):
        refinement.refine()
        by_depth.append(count_twins(refinement.classes, labels))
    twins = refinement.settle().classes
    refined = count_twins(twins, labels)
    undecided = 0
    if exact:
        twins, undecided = isomorphism_classes(refinement, seconds)
    degrees = node_values(data, data.arrays.in_degrees)
    counts = (
        {}
        if labels is None
        else dict(zip(data.meta.class_names, np.bincount(labels, minlength=data.num_classes).tolist()))
    )
    return AuditReport(
        dataset=data.name,
        graphs=len(data),
        nodes=Spread.of(data.node_counts),
        degrees=Spread.of(degrees),
        isolated_nodes=_isolated(data),
        mended=dict(data.meta.mended),
        unreadable=data.meta.unreadable,
        rare=rare_values(data),
        classes=counts,
        majority=max(counts.values()) / len(data) if counts else None,
        order=None if labels is None else label_order(labels),
        features=choose_kind(data, features),
        edge_labels=data.arrays.edge_labels is not None,
        by_depth=tuple(by_depth),
        refined=refined,
        exact=count_twins(twins, labels) if exact else None,
        undecided=undecided,
        across=None if folds is None or labels is None else twins_across(twins, labels, folds),
    )


def _isolated(data: GraphDataset) -> int:
    """Nodes without any edge."""
    alone = node_values(data, data.arrays.in_degrees) == 0
    if not data.meta.directed or not alone.any():
        return int(alone.sum())
    alone[flatten(data).neighbours] = False  # an edge goes out
    return int(alone.sum())


def rare_values(data: GraphDataset) -> RareValues | None:
    """Labels, or degrees where there are none, that occur on one node or in one graph; None where attributes rule."""
    kind = choose_kind(data)
    if kind == "attributes":
        return None
    codes, names = node_names(data, kind)
    num_values = len(names)
    nodes_with = np.bincount(codes, minlength=num_values)
    graph_of_node = np.repeat(np.arange(len(data)), data.node_counts)
    pairs = np.unique(graph_of_node * num_values + codes)
    graphs_with = np.bincount(pairs % num_values, minlength=num_values)
    texts = np.array(names)
    return RareValues(
        kind.removesuffix("s"),
        int((nodes_with > 0).sum()),
        tuple(texts[nodes_with == 1].tolist()),
        tuple(texts[graphs_with == 1].tolist()),
    )


def twins_across(twins: np.ndarray, labels: np.ndarray, folds: Folds) -> TwinsAcross:
    """Count tested graphs that have a twin in their training part, the validation part included.

    Parameters
    ----------
    twins
        (G,) numbers that twins share.
    """
    tested = with_twin = recalled = 0
    for fold in folds:
        train = fold.train if fold.validation is None else np.concatenate([fold.train, fold.validation])
        table = np.zeros((int(twins.max()) + 1, int(labels.max()) + 1), dtype=np.int64)
        seen = votes(twins[train], labels[train])
        table[: seen.shape[0], : seen.shape[1]] = seen
        found = table[twins[fold.test]]  # (tested, C) classes of the twins of each tested graph
        has_twin = found.any(axis=1)
        tested += len(fold.test)
        with_twin += int(has_twin.sum())
        recalled += int((has_twin & (found.argmax(axis=1) == labels[fold.test])).sum())
    return TwinsAcross(len(folds), folds.source, tested, with_twin, recalled)
