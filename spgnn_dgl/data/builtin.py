"""Datasets that need no download.

``MOTIFS`` is generated and knows which nodes decide the class, so that a picture of what a model looked at can be
checked. ``DIGITS`` is real data that scikit-learn ships.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from spgnn_dgl.data.arrays import DatasetMeta, assemble
from spgnn_dgl.data.catalogue import DATASETS
from spgnn_dgl.data.store import GraphDataset
from spgnn_dgl.errors import OptionError

MOTIFS = {
    # two hubs with four common neighbours: K(2, 4)
    "hubs-apart": ((0, 2), (0, 3), (0, 4), (0, 5), (1, 2), (1, 3), (1, 4), (1, 5)),
    # two hubs joined by an edge, by two ways over one node and by one way over two nodes
    "hubs-joined": ((0, 1), (0, 2), (2, 1), (0, 3), (3, 1), (0, 4), (4, 5), (5, 1)),
    # a ring of six with two crossing chords
    "ring": ((0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (5, 0), (0, 3), (1, 4)),
}
"""Class name → edges. All have 6 nodes and 8 edges, and the first two have the same degrees: counting is not enough."""

MOTIF_NODES = 6
SMALLEST_BASE = 5
SIZE_SPREAD = 5  # graphs have between nodes - 5 and nodes + 5 nodes


@DATASETS.register("MOTIFS")
def motifs(*, num_graphs: int = 300, nodes: int = 20, seed: int = 0) -> GraphDataset:
    """Random graphs with one planted motif each; which motif it is, is the class.

    The base is a random tree of one of three kinds with one more edge, so that it has a cycle of its own as a decoy.
    The motif hangs on it by one edge. Every motif has more than one cycle, so the base cannot contain one by
    accident and the class is certain. Sizes are drawn per group of one graph of each class: the classes have the same
    node counts and edge counts.

    Parameters
    ----------
    num_graphs
        Number of graphs; the classes take turns.
    nodes
        Nodes per graph on average; the graphs have between ``nodes - 5`` and ``nodes + 5``.
    seed
        Equal seeds give equal datasets.

    Returns
    -------
    dataset
        Without node labels; ``ndata["truth"]`` is True on the nodes of the motif.

    Examples
    --------
    >>> data = motifs(num_graphs=9, seed=1)
    >>> data.meta.class_names
    ('hubs-apart', 'hubs-joined', 'ring')
    >>> graph, label = data[0]
    >>> int(graph.ndata["truth"].sum())
    6
    """
    if num_graphs < len(MOTIFS):
        raise OptionError(
            f"num_graphs={num_graphs}, but MOTIFS has {len(MOTIFS)} classes; give at least as many graphs."
        )
    smallest = MOTIF_NODES + SMALLEST_BASE + SIZE_SPREAD
    if nodes < smallest:
        raise OptionError(f"nodes={nodes} leaves no room for a base graph around the motif; give at least {smallest}.")
    rng = np.random.default_rng(seed)
    labels = np.arange(num_graphs) % len(MOTIFS)
    groups = -(-num_graphs // len(MOTIFS))
    sizes = np.repeat(rng.integers(nodes - SIZE_SPREAD, nodes + SIZE_SPREAD + 1, groups), len(MOTIFS))[:num_graphs]
    motif_edges = [np.array(edges).T for edges in MOTIFS.values()]

    sources, targets, truths = [], [], []
    for label, size, start in zip(labels, sizes, np.cumsum(sizes) - sizes):
        edges, truth = _planted(motif_edges[label], int(size), rng)
        sources.append(edges[0] + start)
        targets.append(edges[1] + start)
        truths.append(truth)
    source, target = np.concatenate(sources), np.concatenate(targets)
    arrays, _ = assemble(
        sizes,
        np.concatenate([source, target]),
        np.concatenate([target, source]),
        labels=labels,
        truth=np.concatenate(truths),
    )
    meta = DatasetMeta(name="MOTIFS", class_names=tuple(MOTIFS), source=f"generated with seed {seed}")
    return GraphDataset(arrays, meta)


def _planted(motif: np.ndarray, size: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Edges (2, size + 3) of a base graph with the motif on it, and (size,) which nodes are the motif."""
    base_size = size - MOTIF_NODES
    base = _base(base_size, rng)
    bridge = np.array([[rng.integers(base_size)], [base_size + rng.integers(MOTIF_NODES)]])
    edges = np.concatenate([base, bridge, motif + base_size], axis=1)
    shuffled = rng.permutation(size)  # the motif must not be recognisable by its node numbers
    truth = np.zeros(size, dtype=bool)
    truth[shuffled[base_size:]] = True
    return shuffled[edges], truth


def _base(size: int, rng: np.random.Generator) -> np.ndarray:
    """Edges (2, size) of a random tree of a random kind and one more edge."""
    kind = _TREES[rng.integers(len(_TREES))]
    parents = kind(size, rng)  # (size - 1,): the parent of node 1, 2, …
    tree = np.stack([np.arange(1, size), parents])
    taken = {frozenset(edge) for edge in tree.T.tolist()}
    while True:
        first, second = rng.choice(size, 2, replace=False).tolist()
        if frozenset((first, second)) not in taken:
            return np.concatenate([tree, [[first], [second]]], axis=1)


def _uniform_tree(size: int, rng: np.random.Generator) -> np.ndarray:
    """Every node hangs on any earlier one: short and bushy."""
    return np.array([rng.integers(node) for node in range(1, size)])


def _preferential_tree(size: int, rng: np.random.Generator) -> np.ndarray:
    """Every node hangs on an earlier one with a chance proportional to its degree (Barabási–Albert): hubs."""
    ends = [0]
    parents = []
    for node in range(1, size):
        parents.append(ends[rng.integers(len(ends))])
        ends += [node, parents[-1]]
    return np.array(parents)


def _long_tree(size: int, rng: np.random.Generator) -> np.ndarray:
    """Every node hangs on one of the three before it: long and thin."""
    return np.array([max(0, node - 1 - rng.integers(3)) for node in range(1, size)])


_TREES: tuple[Callable[[int, np.random.Generator], np.ndarray], ...] = (_uniform_tree, _preferential_tree, _long_tree)


INTENSITY_BINS = 4
BRIGHTEST = 16.0


@DATASETS.register("DIGITS")
def digits() -> GraphDataset:
    """scikit-learn's 1 797 handwritten digits (8 × 8 pixels) as graphs, ten classes.

    One node per pixel with ink on it, joined to the up to eight inked pixels around it. The node label is the
    intensity in four steps, the node attributes are row, column and intensity, each from 0 to 1.
    """
    from sklearn.datasets import load_digits

    bunch = load_digits()
    images = bunch.images  # (G, 8, 8), 0 … 16
    ink = images > 0
    graph, row, column = np.nonzero(ink)  # (N,) each, graph by graph
    number = np.full(images.shape, -1)
    number[ink] = np.arange(len(graph))

    side = images.shape[1]
    sources, targets = [], []
    for down, right in ((0, 1), (1, -1), (1, 0), (1, 1)):  # each pair once; assemble() needs both directions
        inside = (row + down < side) & (column + right >= 0) & (column + right < side)
        here = np.flatnonzero(inside)
        there = number[graph[here], row[here] + down, column[here] + right]
        sources.append(here[there >= 0])
        targets.append(there[there >= 0])
    source, target = np.concatenate(sources), np.concatenate(targets)

    intensity = images[ink]
    arrays, _ = assemble(
        ink.sum(axis=(1, 2)),
        np.concatenate([source, target]),
        np.concatenate([target, source]),
        labels=bunch.target,
        node_labels=np.ceil(intensity * INTENSITY_BINS / BRIGHTEST).astype(np.int32) - 1,
        node_attributes=np.stack([row / (side - 1), column / (side - 1), intensity / BRIGHTEST], axis=1),
    )
    step = int(BRIGHTEST) // INTENSITY_BINS
    meta = DatasetMeta(
        name="DIGITS",
        class_names=tuple(str(name) for name in bunch.target_names),
        node_label_names=tuple(f"intensity {b * step + 1}–{(b + 1) * step}" for b in range(INTENSITY_BINS)),
        source="scikit-learn's load_digits",
    )
    return GraphDataset(arrays, meta)
