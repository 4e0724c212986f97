"""Which patterns a model pools: the rooted subtrees around pooled nodes, per layer and class, with tests.

Layer l sees a node as the tree of its surroundings within l steps (one Weisfeiler–Lehman colour). Two questions are
asked of every such pattern in every class, each answered by Fisher's exact test, one-sided:

* *enriched*: among the class's nodes, is the pattern more frequent among pooled nodes than among all?
* *typical*: is it pooled in more graphs of this class than of the others?

A pattern is *salient* where both hold; its p-value is the larger of the two (an intersection-union test), and
q-values follow Benjamini and Hochberg over everything that was tested. Nodes of one graph are not independent, so that
the first test is too sure of itself; graphs are, and the second one is sound.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from spgnn_dgl.data.substructures.wl import number_keys, wl_keys
from spgnn_dgl.errors import DatasetError, OptionError
from spgnn_dgl.explain.enrichment import benjamini_hochberg, count_patterns, log_fisher
from spgnn_dgl.explain.selection import input_dataset, layer_depths, require_selecting
from spgnn_dgl.explain.subject import Subject
from spgnn_dgl.explain.trees import Tree, contains, parse_query, unfold

FEWEST_GRAPHS = 5
"""A pattern is tested in a class where so many of its graphs pool it."""
DEFAULT_TOP = 5
GROUPS = {"nitro group": ("N(O, O)", "O(N(O))"), "amino group": ("N(H, H)", "H(N(H))")}
"""Groups that are looked for on molecules: for each kind of atom in the group, the tree that has it at the root."""
MANY_WAYS = 20_000


@dataclass(frozen=True)
class Pattern:
    """A subtree pattern in one class and layer. Counts are of nodes and graphs of that class."""

    label: int  # class
    layer: int  # from 1
    depth: int  # steps that the layer sees
    pooled: int  # pooled nodes with the pattern
    nodes: int  # all nodes with the pattern
    enrichment: float  # share among pooled nodes / share among all nodes
    graphs: int  # graphs in which it is pooled
    graph_share: float  # of the class's graphs
    share_elsewhere: float  # the same share in the other classes
    log_p_enriched: float  # natural logarithms: the numbers themselves can be too small to be written
    log_p_typical: float
    q_enriched: float
    q_typical: float
    q: float  # of both together
    example: tuple[int, int]  # graph (number in the subject) and node

    @property
    def log_p(self) -> float:
        """Of both tests together."""
        return max(self.log_p_enriched, self.log_p_typical)


class PatternTable:
    """Patterns of all classes, the most salient of each class first.

    Attributes
    ----------
    patterns : tuple of Pattern
    top : ranks of each layer that count as pooled
    pooled_share : share of all nodes that were pooled, averaged over layers
    """

    def __init__(self, subject: Subject, patterns: Sequence[Pattern], top: int, pooled_share: float):
        self.subject = subject
        self.patterns = tuple(patterns)
        self.top = top
        self.pooled_share = pooled_share
        self._graph = lru_cache(maxsize=256)(self._load)

    def of_class(self, label: int) -> list[Pattern]:
        """The patterns of a class, the most salient first."""
        return [pattern for pattern in self.patterns if pattern.label == label]

    def tree(self, pattern: Pattern, depth: int | None = None) -> Tree:
        """The pattern as a tree, or its upper part; cut where a dense graph would make it endless."""
        graph, node = pattern.example
        neighbours, names = self._graph(graph)
        wanted = pattern.depth if depth is None else min(depth, pattern.depth)
        ways, reached = np.eye(1, len(names), node, dtype=np.float64)[0], 0
        while reached < wanted:
            ways = np.array([sum(ways[list(around)]) for around in neighbours])
            if reached and ways.sum() > MANY_WAYS:
                break
            reached += 1
        return unfold(neighbours, names, node, reached)

    def ranks(self, label: int, queries: Sequence[str]) -> list[tuple[int, Pattern]]:
        """Where a group stands in the list of a class: rank (from 1) and pattern, for roots that are in the group."""
        trees = [parse_query(query) for query in queries]
        depth = max(tree.depth for tree in trees)
        return [
            (rank, pattern)
            for rank, pattern in enumerate(self.of_class(label), start=1)
            if any(contains(self.tree(pattern, depth), tree) for tree in trees)
        ]

    def _load(self, number: int) -> tuple[list[tuple[int, ...]], list[str]]:
        """Neighbours and names of the nodes of a graph."""
        position = self.subject.graphs[number]
        part = next(part for part in self.subject.parts if position in part.graphs)
        inputs = input_dataset(require_selecting(part.method), self.subject.data.subset([position]))
        degrees = inputs.arrays.in_degrees
        neighbours = np.split(inputs.arrays.neighbours, np.cumsum(degrees)[:-1])
        assert inputs.arrays.node_labels is not None
        names = [inputs.meta.node_symbols[code] for code in inputs.arrays.node_labels]
        return [tuple(around.tolist()) for around in neighbours], names


def find_patterns(subject: Subject, *, top: int | None = None, fewest_graphs: int = FEWEST_GRAPHS) -> PatternTable:
    """Patterns around pooled nodes, tested and ranked within each class.

    Parameters
    ----------
    top
        How many ranks of each layer count as pooled. Default: the model's k, where that keeps less than half of all
        nodes, else 5: where nearly every node is pooled, none is singled out.
    fewest_graphs
        Patterns pooled in fewer graphs of a class are not tested in it.
    """
    if (subject.labels < 0).any():
        raise DatasetError(
            f"graph {subject.graphs[np.flatnonzero(subject.labels < 0)[0]]} has no class that the model knows; "
            "patterns are counted per class."
        )
    if top is not None and top < 1:
        raise OptionError(f"top={top} was given; at least one rank per layer must count as pooled.")
    rank, keys, depths = _ranks_and_keys(subject)
    if top is None:
        top = int(rank.max()) + 1 if (rank >= 0).mean() < 0.5 else DEFAULT_TOP
    pooled = (rank >= 0) & (rank < top)  # (L, N)
    columns = [
        count_patterns(subject, layer, number_keys(of_layer)[0], pooled[layer], rank[layer], fewest_graphs)
        for layer, of_layer in enumerate(keys)
    ]
    table = {name: np.concatenate([column[name] for column in columns]) for name in columns[0]}
    return PatternTable(subject, _tested(table, depths), top, float(pooled.mean()))


def _ranks_and_keys(subject: Subject) -> tuple[np.ndarray, list[np.ndarray], tuple[int, ...]]:
    """(L, N) rank of every node in every layer, -1 where not kept; (N, 2) colour keys and steps seen per layer."""
    ranks, keys = [], []
    depths: tuple[int, ...] = ()
    for part in subject.parts:
        method, data = require_selecting(part.method), subject.data.subset(part.graphs)
        selections = method.select(data)
        depths = layer_depths(method, len(selections[0].nodes))
        rounds = wl_keys(input_dataset(method, data), max(depths), labels="labels")
        keys.append([rounds[depth] for depth in depths])
        for selection in selections:
            rank = np.full(selection.importance.shape, -1, dtype=np.int64)
            for layer, kept in enumerate(selection.nodes.cpu().numpy()):
                rank[layer, kept[kept >= 0]] = np.arange((kept >= 0).sum())
            ranks.append(rank)
    return np.concatenate(ranks, axis=1), [np.concatenate(layer) for layer in zip(*keys)], depths


def _tested(table: dict[str, np.ndarray], depths: Sequence[int]) -> list[Pattern]:
    """Patterns with p- and q-values, by class and then by p."""
    if len(table["label"]) == 0:
        return []
    t = table
    enriched = log_fisher(t["pooled"], t["nodes"], t["all_pooled"], t["all_nodes"])
    typical = log_fisher(t["graphs"], t["graphs_anywhere"], t["class_graphs"], t["all_graphs"])
    q_enriched, q_typical, q = (benjamini_hochberg(p) for p in (enriched, typical, np.maximum(enriched, typical)))
    enrichment = (t["pooled"] / t["all_pooled"]) / (t["nodes"] / t["all_nodes"])
    elsewhere = (t["graphs_anywhere"] - t["graphs"]) / np.maximum(t["all_graphs"] - t["class_graphs"], 1)
    order = np.lexsort((-enrichment, np.maximum(enriched, typical), t["label"]))
    return [
        Pattern(
            label=int(t["label"][i]),
            layer=int(t["layer"][i]) + 1,
            depth=depths[t["layer"][i]],
            pooled=int(t["pooled"][i]),
            nodes=int(t["nodes"][i]),
            enrichment=float(enrichment[i]),
            graphs=int(t["graphs"][i]),
            graph_share=float(t["graphs"][i] / t["class_graphs"][i]),
            share_elsewhere=float(elsewhere[i]),
            log_p_enriched=float(enriched[i]),
            log_p_typical=float(typical[i]),
            q_enriched=float(q_enriched[i]),
            q_typical=float(q_typical[i]),
            q=float(q[i]),
            example=(int(t["example_graph"][i]), int(t["example_node"][i])),
        )
        for i in order
    ]
