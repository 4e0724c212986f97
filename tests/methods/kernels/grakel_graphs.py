"""Datasets in the form GraKeL takes."""

from __future__ import annotations

from typing import Any

import numpy as np

from spgnn_dgl.data.store import GraphDataset


def grakel_graphs(data: GraphDataset) -> list[tuple[np.ndarray, dict[int, int]]]:
    """Adjacency matrix and node labels of every graph."""
    return [_one(data[i][0]) for i in range(len(data))]


def _one(graph: Any) -> tuple[np.ndarray, dict[int, int]]:
    adjacency = np.zeros((graph.num_nodes(), graph.num_nodes()))
    adjacency[tuple(ends.numpy() for ends in graph.edges())] = 1
    return adjacency, dict(enumerate(graph.ndata["label"].tolist()))


def grakel_dictionaries(data: GraphDataset) -> list[tuple[dict[int, dict[int, float]], dict[int, int]]]:
    """The same with the edges as dictionaries, in which a node may have none."""
    return [
        ({u: {v: 1.0 for v in np.flatnonzero(row).tolist()} for u, row in enumerate(adjacency)}, labels)
        for adjacency, labels in grakel_graphs(data)
    ]
