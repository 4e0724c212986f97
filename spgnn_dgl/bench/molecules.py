"""Generated graphs of the size of molecules, in blocks of flat arrays, as many as one likes."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from spgnn_dgl.data.arrays import DatasetMeta, assemble
from spgnn_dgl.data.store import GraphDataset

BLOCK = 1 << 15  # graphs that are generated together
SMALLEST, LARGEST = 15, 35  # nodes
RINGS = 3
RING_SIZE = 6
LABELS = 10
_SHARES = 0.5 ** np.arange(LABELS)


def molecules(count: int, seed: int = 0) -> Iterator[GraphDataset]:
    """`count` graphs as datasets of ``BLOCK`` graphs: 25 nodes and 54 stored edges on average, 10 node labels.

    A graph is a branching chain with three rings closed in it. Its class says whether more nodes than usual carry one
    of the rarer labels.
    """
    for number, start in enumerate(range(0, count, BLOCK)):
        yield _block(min(BLOCK, count - start), np.random.default_rng([seed, number]))


def _block(count: int, rng: np.random.Generator) -> GraphDataset:
    sizes = rng.integers(SMALLEST, LARGEST + 1, count)  # (G,)
    starts = np.cumsum(sizes) - sizes
    num_nodes = int(sizes.sum())
    inside = np.arange(num_nodes) - np.repeat(starts, sizes)  # (N,) number of each node in its graph

    back = 1 + np.minimum(rng.geometric(0.7, num_nodes) - 1, 2)  # a node hangs on one of the three before it
    child = np.flatnonzero(inside > 0)
    parent = child - np.minimum(back[child], inside[child])

    # a ring joins a node with the one five further on, which the chain never does; each third of a graph has one
    room = (sizes - RING_SIZE + 1) // RINGS  # (G,)
    first = (np.arange(RINGS) * room[:, None] + (rng.random((count, RINGS)) * room[:, None]).astype(np.int64)).ravel()
    first += np.repeat(starts, RINGS)
    one, other = np.concatenate([child, first]), np.concatenate([parent, first + RING_SIZE - 1])

    node_labels = rng.choice(LABELS, num_nodes, p=_SHARES / _SHARES.sum())
    rare = np.add.reduceat(node_labels >= 2, starts)  # (G,)
    arrays, _ = assemble(
        sizes,
        np.concatenate([one, other]),
        np.concatenate([other, one]),
        labels=(rare > sizes * _SHARES[2:].sum() / _SHARES.sum()).astype(np.int64),
        node_labels=node_labels,
    )
    names = tuple(str(label) for label in range(LABELS))
    return GraphDataset(arrays, DatasetMeta("molecules", ("few", "many"), names))
