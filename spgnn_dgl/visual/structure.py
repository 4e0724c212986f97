"""One graph as a drawing needs it, and the part of a large one that is worth drawing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_matrix

from spgnn_dgl.data.store import GraphDataset
from spgnn_dgl.errors import OptionError
from spgnn_dgl.registry import did_you_mean

NODE_TEXTS = ("none", "ids", "symbols")
"""What can be written at the nodes."""


@dataclass(frozen=True, eq=False)
class Structure:
    """A graph: `nodes` are the node numbers in the dataset, edges join positions in `nodes`."""

    nodes: np.ndarray  # (n,)
    edges: np.ndarray  # (m, 2), each once
    total: int  # nodes of the whole graph

    @property
    def num_nodes(self) -> int:
        return len(self.nodes)

    @property
    def size(self) -> str:
        """How many nodes there are, and how many of them are here, in words."""
        return f"{self.total} nodes" if self.num_nodes == self.total else f"{self.num_nodes} of {self.total} nodes"

    def adjacency(self) -> csr_matrix:
        """(n, n) symmetric."""
        source, target = np.concatenate([self.edges, self.edges[:, ::-1]]).T
        return csr_matrix((np.ones(len(source)), (source, target)), shape=(self.num_nodes, self.num_nodes))

    def part(self, keep: np.ndarray) -> Structure:
        """The induced graph on the positions where `keep` (n,) is True."""
        place = np.cumsum(keep) - 1
        edges = self.edges[keep[self.edges].all(axis=1)]
        return Structure(self.nodes[keep], place[edges], self.total)


def structure_of(data: GraphDataset, index: int) -> Structure:
    """The graph at a position of a dataset, without directions."""
    arrays, graph = data.arrays, int(data.members[index])
    start, end = arrays.node_offsets[graph : graph + 2]
    source = arrays.neighbours[slice(*arrays.edge_offsets[graph : graph + 2])].astype(np.int64)
    target = np.repeat(np.arange(end - start), arrays.in_degrees[start:end])
    edges = np.unique(np.sort(np.stack([source, target], axis=1), axis=1), axis=0)
    return Structure(np.arange(end - start), edges.reshape(-1, 2), int(end - start))


def neighbourhood(structure: Structure, ranked: Sequence[int] | np.ndarray, limit: int) -> Structure:
    """At most `limit` nodes of a large graph: the best ranked ones and what is around them, step by step.

    Parameters
    ----------
    ranked
        Positions of the nodes to show, the most wanted first.
    """
    if structure.num_nodes <= limit:
        return structure
    adjacency = structure.adjacency()
    # at most a quarter for those themselves: the rest shows where they are
    frontier = np.asarray(ranked, dtype=np.int64)[: max(1, limit // 4)]
    keep = np.zeros(structure.num_nodes, dtype=bool)
    keep[frontier] = True
    while len(frontier) and keep.sum() < limit:
        around = np.concatenate([adjacency.indices[slice(*adjacency.indptr[n : n + 2])] for n in frontier])
        _, first = np.unique(around, return_index=True)
        around = around[np.sort(first)]  # in the order of the nodes they surround
        frontier = around[~keep[around]][: limit - int(keep.sum())]
        keep[frontier] = True
    return structure.part(keep)


def node_texts(data: GraphDataset, index: int, kind: str) -> list[str]:
    """What to write at each node of a graph: ``"none"``, ``"ids"``, or ``"symbols"`` (atoms, labels, else degrees)."""
    size = int(data.node_counts[index])
    if kind == "none":
        return [""] * size
    if kind == "ids":
        return [str(node) for node in range(size)]
    if kind != "symbols":
        raise OptionError(
            f"unknown node text '{kind}'.{did_you_mean(kind, NODE_TEXTS)} Known: {', '.join(NODE_TEXTS)}."
        )
    if data.arrays.node_labels is None:
        raise OptionError(f"the nodes of {data.name} have no labels to write; use ids.")
    start = int(data.arrays.node_offsets[data.members[index]])
    names = data.meta.node_symbols or data.meta.node_label_names
    return [names[code] for code in data.arrays.node_labels[start : start + size].tolist()]
