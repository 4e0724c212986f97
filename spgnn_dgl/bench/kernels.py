"""Kernel matrices, against GraKeL's."""

from __future__ import annotations

import functools
import importlib
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from spgnn_dgl.bench.timing import Row, interleave, medians, readable
from spgnn_dgl.data import GraphDataset, load_dataset
from spgnn_dgl.errors import missing_extra
from spgnn_dgl.methods import make_method
from spgnn_dgl.methods.budget import Deadline
from spgnn_dgl.training import seeded

DATASETS = ("MUTAG", "PTC")
PEERS: dict[str, tuple[Any, str, str, dict[str, Any]]] = {
    "wl": (5, "weisfeiler_lehman", "WeisfeilerLehman", {"n_iter": 5}),
    "sp": (None, "shortest_path", "ShortestPath", {"algorithm_type": "dijkstra"}),
    "pk": (5, "propagation", "Propagation", {"t_max": 6, "w": 0.001, "random_state": 0}),
    "rw": (0.001, "random_walk", "RandomWalkLabeled", {"lamda": 0.001}),
}
"""Method → the value of its searched option, and GraKeL's module, class and options that compute the same."""


def measure(home: Path, *, rounds: int = 3, names: tuple[str, ...] = DATASETS) -> Iterator[Row]:
    """A row per dataset and kernel, with one thread: the normalised matrix of all graphs."""
    with seeded(0, threads=1):
        for name in names:
            data = load_dataset(name, data_home=home)
            for method in PEERS:
                yield _row(data, method, rounds)


def _row(data: GraphDataset, name: str, rounds: int) -> Row:
    candidates: dict[str, Callable[[], Any]] = {
        "ours": functools.partial(our_matrix, data, name),
        "theirs": their_matrix(data, name),
    }
    seconds = medians(interleave(candidates, rounds))
    return Row(
        f"{data.name}: the matrix of {name}",
        readable(seconds["ours"]),
        f"GraKeL {readable(seconds['theirs'])}",
        seconds["theirs"] / seconds["ours"],
    )


def our_matrix(data: GraphDataset, name: str) -> np.ndarray:
    """(G, G) normalised."""
    method: Any = make_method(name)
    method.labels_ = method.label_kind(data)
    return next(method.kernels(data, data, (PEERS[name][0],), Deadline(None, name)))


def their_matrix(data: GraphDataset, name: str) -> Callable[[], np.ndarray]:
    """Work that computes the same with GraKeL, of graphs that lie ready in its form."""
    _, module, kernel, options = PEERS[name]
    try:
        made = getattr(importlib.import_module(f"grakel.kernels.{module}"), kernel)
    except ImportError as problem:
        raise missing_extra("grakel", "dev", "measuring kernels") from problem
    graphs = grakel_graphs(data) if name in ("pk", "rw") else grakel_dictionaries(data)

    def compute() -> np.ndarray:
        with warnings.catch_warnings():  # GraKeL changes the process's filters
            warnings.simplefilter("ignore")
            return np.asarray(made(normalize=True, **options).fit_transform(graphs))

    return compute


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
