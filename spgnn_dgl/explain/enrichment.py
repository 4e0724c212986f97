"""Counting patterns among pooled and all nodes, and Fisher's exact test on the counts."""

from __future__ import annotations

import numpy as np
from scipy.stats import false_discovery_control, hypergeom

from spgnn_dgl.explain.subject import Subject


def count_patterns(
    subject: Subject, layer: int, colour: np.ndarray, pooled: np.ndarray, rank: np.ndarray, fewest_graphs: int
) -> dict[str, np.ndarray]:
    """Counts of every pattern and class of a layer where enough graphs pool it, one entry each."""
    data, label_of_graph = subject.explained, subject.labels
    num_classes, num_colours = len(subject.class_names), int(colour.max()) + 1
    graph = np.repeat(np.arange(len(data)), data.node_counts)  # (N,)
    label = label_of_graph[graph]

    def per_class(labels: np.ndarray, colours: np.ndarray) -> np.ndarray:  # (C, P)
        return np.bincount(labels * num_colours + colours, minlength=num_classes * num_colours).reshape(num_classes, -1)

    nodes, pooled_nodes = per_class(label, colour), per_class(label[pooled], colour[pooled])
    pairs = np.unique(graph[pooled] * num_colours + colour[pooled])
    graphs = per_class(label_of_graph[pairs // num_colours], pairs % num_colours)
    of_class, pattern = np.nonzero(graphs >= fewest_graphs)
    in_class = np.bincount(label_of_graph, minlength=num_classes)

    # the example is a pooled node of the smallest graph, the first in rank there
    order = np.lexsort((rank, data.node_counts[graph], colour, label))
    order = order[pooled[order]]
    code = label[order] * num_colours + colour[order]
    first = order[np.searchsorted(code, of_class * num_colours + pattern)]
    starts = np.concatenate([[0], np.cumsum(data.node_counts)])
    return {
        "label": of_class,
        "layer": np.full(len(of_class), layer),
        "pooled": pooled_nodes[of_class, pattern],
        "nodes": nodes[of_class, pattern],
        "all_pooled": pooled_nodes.sum(axis=1)[of_class],
        "all_nodes": nodes.sum(axis=1)[of_class],
        "graphs": graphs[of_class, pattern],
        "class_graphs": in_class[of_class],
        "graphs_anywhere": graphs.sum(axis=0)[pattern],
        "all_graphs": np.full(len(of_class), len(data)),
        "example_graph": graph[first],
        "example_node": first - starts[graph[first]],
    }


def log_fisher(both: np.ndarray, first: np.ndarray, second: np.ndarray, total: np.ndarray) -> np.ndarray:
    """Logarithm of the one-sided p-value of Fisher's exact test: `both` or more in common, given the margins.

    Parameters
    ----------
    both, first, second, total
        (n,) counts: things with both properties, with the first, with the second, and all.

    Examples
    --------
    >>> round(float(np.exp(log_fisher(np.array([3]), np.array([3]), np.array([4]), np.array([8])))[0]), 4)
    0.0714
    """
    # SciPy sums over the last argument, so the smaller margin goes there
    small, large = np.minimum(first, second), np.maximum(first, second)
    return np.minimum(hypergeom.logsf(both - 1, total, large, small), 0.0)


def benjamini_hochberg(log_p: np.ndarray) -> np.ndarray:
    """q-values of logarithms of p-values."""
    return false_discovery_control(np.exp(log_p), method="bh")
