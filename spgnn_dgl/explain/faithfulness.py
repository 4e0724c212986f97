"""Do the pooled nodes matter to the model? Take them away, or leave nothing else, and look at its predictions.

Removing nodes that matter must hurt more than removing others; the nodes that matter must carry the prediction when
they alone are kept. Both are compared with random nodes, nodes of highest degree and input-gradient saliency.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from spgnn_dgl.data.arrays import assemble
from spgnn_dgl.data.store import GraphDataset
from spgnn_dgl.data.substructures.wl import flatten, node_values
from spgnn_dgl.errors import DatasetError, OptionError
from spgnn_dgl.explain.explainers import EXPLAINERS
from spgnn_dgl.explain.intervals import Interval, mean_interval
from spgnn_dgl.explain.subject import Subject

SHARES = (0.05, 0.10, 0.20, 0.50)
REMOVED, KEPT = "removed", "kept"
CHANCE = "random"
DRAWS = 3
"""Random orders that are averaged."""


@dataclass(frozen=True)
class Outcome:
    """What is left of the predictions after `share` of the nodes, by `explainer`, were removed or alone kept.

    `probability` is that of the true class. `against_random` is the difference of accuracy to random nodes on the
    same graphs: below zero where removing these nodes hurts more.
    """

    explainer: str
    operation: str
    share: float
    accuracy: Interval
    probability: Interval
    against_random: Interval


@dataclass(frozen=True)
class Faithfulness:
    """All outcomes, and the predictions on whole graphs."""

    accuracy: Interval
    probability: Interval
    outcomes: tuple[Outcome, ...]


def faithfulness(
    subject: Subject,
    *,
    shares: Sequence[float] = SHARES,
    explainers: Sequence[str] = ("pooled", "random", "degree", "saliency"),
    seed: int = 0,
) -> Faithfulness:
    """Accuracy and probability of the true class without, and with nothing but, the highest scored nodes.

    At least one node is removed or kept, and at least one stays. Exact ties of scores are broken by chance. The
    remaining graph is encoded as any new graph: where a model reads degrees, they are those of what remains.

    Parameters
    ----------
    shares
        Shares of each graph's nodes, between 0 and 1.
    explainers
        Names in :data:`spgnn_dgl.explain.explainers.EXPLAINERS`; "random" is always measured.
    """
    if (subject.labels < 0).any():
        raise DatasetError(
            f"graph {subject.graphs[np.flatnonzero(subject.labels < 0)[0]]} has no class that the model knows; "
            "whether predictions stay right can be measured on graphs with known classes only."
        )
    for share in shares:
        if not 0 < share < 1:
            raise OptionError(f"a share of {share} was given; shares of nodes lie between 0 and 1, for example 0.1.")
    names = list(dict.fromkeys([CHANCE, *explainers]))
    correct, probability = _judged(subject)
    measured: dict[tuple[str, str, float], tuple[np.ndarray, np.ndarray]] = {}
    for name in names:
        draws = DRAWS if name == CHANCE else 1
        for share in shares:
            for operation in (REMOVED, KEPT):
                results = [_perturbed(subject, name, operation, share, seed + draw) for draw in range(draws)]
                right, sure = (np.mean([result[i] for result in results], axis=0) for i in (0, 1))
                measured[name, operation, share] = right, sure
    outcomes = tuple(
        Outcome(
            name,
            operation,
            share,
            mean_interval(right, seed=seed),
            mean_interval(sure, seed=seed),
            mean_interval(right - measured[CHANCE, operation, share][0], seed=seed),
        )
        for (name, operation, share), (right, sure) in measured.items()
    )
    return Faithfulness(mean_interval(correct, seed=seed), mean_interval(probability, seed=seed), outcomes)


def _perturbed(subject: Subject, name: str, operation: str, share: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    right, sure = [], []
    for part in subject.parts:
        data = subject.data.subset(part.graphs)
        scores = EXPLAINERS.get(name)(part.method, data, seed)
        chosen = np.concatenate([highest(score, share, rng) for score in scores])
        changed = keep_nodes(data, chosen if operation == KEPT else ~chosen)
        own = dataclasses.replace(
            subject, data=changed, parts=(dataclasses.replace(part, graphs=np.arange(len(changed))),)
        )
        correct, probability = _judged(own)
        right.append(correct)
        sure.append(probability)
    return np.concatenate(right), np.concatenate(sure)


def _judged(subject: Subject) -> tuple[np.ndarray, np.ndarray]:
    """(G,) whether each graph is predicted rightly, and the probability of its true class."""
    probabilities, labels = subject.probabilities(), subject.labels
    return (probabilities.argmax(axis=1) == labels).astype(np.float64), probabilities[np.arange(len(labels)), labels]


def highest(score: np.ndarray, share: float, rng: np.random.Generator) -> np.ndarray:
    """(n,) the given share of the nodes, those of highest score; at least one, not all where there are two or more.

    >>> highest(np.array([3.0, 1.0, 2.0, 0.0]), 0.5, np.random.default_rng(0)).tolist()
    [True, False, True, False]
    """
    size = len(score)
    count = int(np.clip(round(share * size), 1, max(size - 1, 1)))
    chosen = np.zeros(size, dtype=bool)
    chosen[np.lexsort((rng.permutation(size), -score))[:count]] = True
    return chosen


def keep_nodes(data: GraphDataset, keep: np.ndarray) -> GraphDataset:
    """The graphs of a view with some nodes only, and the edges between those.

    Parameters
    ----------
    keep
        (N,) over all nodes of the view. A graph that would lose all its nodes keeps its first one.
    """
    flat = flatten(data)
    keep = keep.copy()
    empty = np.add.reduceat(keep, flat.node_offsets[:-1]) == 0
    keep[flat.node_offsets[:-1][empty]] = True
    target = np.repeat(np.arange(len(keep)), np.diff(flat.indptr))
    inside = keep[flat.neighbours] & keep[target]
    place = np.cumsum(keep) - 1
    own = {
        name: node_values(data, values)[keep]
        for name in ("node_labels", "node_attributes", "truth")
        if (values := getattr(data.arrays, name)) is not None
    }
    arrays, _ = assemble(
        np.add.reduceat(keep, flat.node_offsets[:-1]),
        place[flat.neighbours[inside]],
        place[target[inside]],
        labels=data.labels,
        directed=data.meta.directed,
        **own,
    )
    return GraphDataset(arrays, dataclasses.replace(data.meta, edge_label_names=()))
