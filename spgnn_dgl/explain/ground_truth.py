"""Against ground truth: do scores find the nodes that are known to decide the class?"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy.stats import rankdata

from spgnn_dgl.data.readers.numbers import read_table
from spgnn_dgl.data.readers.sources import FolderSource, open_source
from spgnn_dgl.data.readers.tu import find_prefix
from spgnn_dgl.data.store import GraphDataset
from spgnn_dgl.data.substructures.wl import node_values
from spgnn_dgl.errors import DatasetError, DatasetNotFoundError
from spgnn_dgl.explain.explainers import EXPLAINERS
from spgnn_dgl.explain.intervals import Interval, mean_interval
from spgnn_dgl.explain.subject import Subject

PRECISION_AT = (3, 5, 10)


def with_edge_truth(data: GraphDataset, path: str | Path) -> GraphDataset:
    """The dataset with the node truth of an edge list: a node is true when one of its edges is.

    Parameters
    ----------
    data
        A whole dataset read from TU files; they are read again for the order of their edges.
    path
        A text file with one 0 or 1 per line of ``NAME_A.txt``.
    """
    path = Path(path)
    if not path.is_file():
        raise DatasetNotFoundError(f"there is no file '{path}'; give a text file with one 0 or 1 per edge.")
    (marks,) = read_table(FolderSource(path.parent), path.name, int, columns=1, limits=(0, 1), meaning="0 or 1")
    source, target = _edge_rows(data)
    if len(marks) != len(source):
        raise DatasetError(
            f"'{path}' has {len(marks)} lines, but {data.name} lists {len(source)} edges; it needs one line for each."
        )
    truth = np.zeros(len(data.arrays.in_degrees), dtype=bool)
    truth[source[marks == 1]] = True
    truth[target[marks == 1]] = True
    return GraphDataset(dataclasses.replace(data.arrays, truth=truth), data.meta, data.members)


def _edge_rows(data: GraphDataset) -> tuple[np.ndarray, np.ndarray]:
    """Node rows of the edges in the order of the TU file, doubled edges and loops among them."""
    place = Path(data.meta.source)
    if not data.meta.source or not place.exists():
        raise DatasetError(
            f"{data.name} was not read from files that are still there, so that its edge order is not known."
        )
    files = open_source(place)
    prefix = find_prefix(files)
    if prefix is None:
        raise DatasetError(f"'{place}' is not in TU format; edge truth follows the order of a TU file NAME_A.txt.")
    (graph,) = read_table(files, f"{prefix}_graph_indicator.txt", int, columns=1, meaning="the number of a graph")
    row = np.empty(len(graph), dtype=np.int64)
    row[np.argsort(graph, kind="stable")] = np.arange(len(graph))  # nodes are stored graph by graph
    source, target = read_table(
        files, f"{prefix}_A.txt", int, columns=2, limits=(1, len(graph)), meaning="node numbers"
    )
    return row[source - 1], row[target - 1]


@dataclass(frozen=True)
class Agreement:
    """How well an explainer's scores find the true nodes, averaged over graphs."""

    explainer: str
    auc: Interval
    precision: dict[int, Interval]  # by k
    precision_at_size: Interval  # k = number of true nodes of the graph


def agreement(
    subject: Subject,
    *,
    explainers: Sequence[str] = ("pooled", "random", "degree", "saliency"),
    precision_at: Sequence[int] = PRECISION_AT,
    seed: int = 0,
) -> tuple[Agreement, ...]:
    """Precision@k and ROC-AUC of node scores, per graph, over the graphs that have both true and other nodes."""
    if subject.data.arrays.truth is None:
        raise DatasetError(
            f"{subject.data.name} does not say which nodes decide the class. MOTIFS does; for a TU dataset, "
            "a file with a 0 or 1 per edge can be given (--truth-file)."
        )
    found = []
    for name in explainers:
        rows = []
        for part in subject.parts:
            data = subject.data.subset(part.graphs)
            truths = np.split(node_values(data, subject.data.arrays.truth), np.cumsum(data.node_counts)[:-1])
            for score, truth in zip(EXPLAINERS.get(name)(part.method, data, seed), truths):
                if truth.any() and not truth.all():
                    hits = [precision(score, truth, k) for k in (*precision_at, int(truth.sum()))]
                    rows.append([roc_auc(score, truth), *hits])
        if not rows:
            raise DatasetError("none of the graphs has both true and other nodes, so that nothing can be compared.")
        auc, *at, at_size = (mean_interval(column, seed=seed) for column in np.array(rows).T)
        found.append(Agreement(name, auc, dict(zip(precision_at, at)), at_size))
    return tuple(found)


def precision(score: np.ndarray, truth: np.ndarray, k: int) -> float:
    """Share of true nodes among the k of highest score, on average over all ways to break ties at the cut.

    >>> precision(np.array([1.0, 1.0, 0.0]), np.array([True, False, False]), 1)
    0.5
    """
    k = min(k, len(score))
    cut = np.sort(score)[-k]
    above, tied = score > cut, score == cut
    return float((truth[above].sum() + (k - above.sum()) * truth[tied].mean()) / k)


def roc_auc(score: np.ndarray, truth: np.ndarray) -> float:
    """Chance that a true node scores higher than another one, ties counting half (Mann–Whitney)."""
    positive = int(truth.sum())
    negative = len(truth) - positive
    return float((rankdata(score)[truth].sum() - positive * (positive + 1) / 2) / (positive * negative))
