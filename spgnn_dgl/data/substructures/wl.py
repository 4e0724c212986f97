"""Weisfeiler–Lehman colour refinement of a whole dataset at once.

Every node carries a 128-bit key instead of a growing string. The key of the first round is a hash of the node's label
*value*, the next one a hash of the own key and the multiset of the neighbours' keys, so that equal keys mean equal
subtrees in whatever dataset the nodes are, and a refinement of all graphs is a few passes over flat arrays.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

import numpy as np

from spgnn_dgl.data.arrays import cut, slices
from spgnn_dgl.data.features import choose_kind
from spgnn_dgl.data.store import GraphDataset
from spgnn_dgl.errors import DatasetError, OptionError
from spgnn_dgl.registry import did_you_mean

LABEL_KINDS = ("labels", "degree", "constant")
"""What a node is called in the first round: its label, its degree, or nothing."""

_LANES = np.array([0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F], dtype=np.uint64)  # one per 64-bit half of a key
_NEIGHBOUR = np.array([0xD6E8FEB86659FD93, 0xA0761D6478BD642F], dtype=np.uint64)
_ATTRIBUTE = np.array([0xA24BAED4963EE407, 0x9FB21C651E98DF25], dtype=np.uint64)


@dataclass(frozen=True)
class FlatGraphs:
    """The structure of a view as one large graph: G graphs, N nodes, E stored edges."""

    node_offsets: np.ndarray  # (G + 1,) first row of every graph
    indptr: np.ndarray  # (N + 1,) where the neighbours of every node begin
    neighbours: np.ndarray  # (E,) node rows

    @property
    def graph_of_node(self) -> np.ndarray:
        """(N,) number of the graph each node belongs to."""
        return np.repeat(np.arange(len(self.node_offsets) - 1), np.diff(self.node_offsets))


def flatten(data: GraphDataset) -> FlatGraphs:
    """The graphs of a dataset or view, one after the other, in-neighbours numbered over all of them."""
    arrays, members = data.arrays, data.members
    node_counts, edge_counts = data.node_counts, data.edge_counts
    node_offsets = np.concatenate([[0], np.cumsum(node_counts)])
    degrees = node_values(data, arrays.in_degrees)
    indptr = np.concatenate([[0], np.cumsum(degrees, dtype=np.int64)])
    if len(data) == 0:
        return FlatGraphs(node_offsets, indptr, np.zeros(0, dtype=np.int64))
    inside = cut(arrays.neighbours, slices(arrays.edge_offsets[members], edge_counts))
    return FlatGraphs(node_offsets, indptr, inside + np.repeat(node_offsets[:-1], edge_counts))


def node_values(data: GraphDataset, values: np.ndarray) -> np.ndarray:
    """The entries of a per-node array that belong to the graphs of a view, in the view's order."""
    if len(data) == 0:
        return values[:0]
    return cut(values, slices(data.arrays.node_offsets[data.members], data.node_counts))


def label_kind(data: GraphDataset, labels: str = "auto") -> str:
    """What ``"auto"`` stands for on this dataset: its node labels, or degrees where there are none."""
    if labels == "auto":
        return "labels" if data.num_node_labels else "degree"
    if labels not in LABEL_KINDS:
        known = ("auto", *LABEL_KINDS)
        raise OptionError(f"unknown node labels '{labels}'.{did_you_mean(labels, known)} Known: {', '.join(known)}.")
    if labels == "labels" and not data.num_node_labels:
        raise DatasetError(
            f"node labels are asked for, but the nodes of {data.name} have none. Give labelled graphs, or use 'degree'."
        )
    return labels


def node_names(data: GraphDataset, labels: str = "auto") -> tuple[np.ndarray, tuple[str, ...]]:
    """(N,) codes of the nodes of a view, and the text each code stands for."""
    kind = label_kind(data, labels)
    if kind == "labels":
        assert data.arrays.node_labels is not None
        return node_values(data, data.arrays.node_labels), data.meta.node_label_names
    if kind == "degree":
        degrees = node_values(data, data.arrays.in_degrees)
        return degrees, tuple(str(d) for d in range(int(degrees.max(initial=0)) + 1))
    return np.zeros(int(data.node_counts.sum()), dtype=np.int32), ("",)


def text_keys(texts: tuple[str, ...]) -> np.ndarray:
    """(n, 2) uint64, a 128-bit hash of each text."""
    digests = b"".join(hashlib.blake2b(text.encode(), digest_size=16).digest() for text in texts)
    return np.frombuffer(digests, dtype="<u8").astype(np.uint64).reshape(-1, 2)


def mix(keys: np.ndarray) -> np.ndarray:
    """Scatter 64-bit numbers: the finaliser of SplitMix64, a bijection in which every bit depends on all others."""
    keys = (keys ^ (keys >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    keys = (keys ^ (keys >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return keys ^ (keys >> np.uint64(31))


def wl_keys(data: GraphDataset, iterations: int, *, labels: str = "auto") -> list[np.ndarray]:
    r"""128-bit colours of all nodes after 0, 1, …, `iterations` rounds; comparable between datasets.

    .. math:: c_{t+1}(v) = h\Bigl(f(c_t(v)) + \sum_{u \in N(v)} g(c_t(u))\Bigr)

    with scattering functions f, g, h on two independent 64-bit lanes and sums modulo :math:`2^{64}`, which depend on
    the multiset of neighbours alone. Two different multisets meet with probability :math:`2^{-128}`: among a million
    colours the chance of any mistake is below :math:`10^{-26}`.

    Parameters
    ----------
    data
        A dataset or view. Of a directed dataset the in-neighbours count.
    iterations
        Rounds of refinement.
    labels
        First colours: ``"labels"``, ``"degree"``, ``"constant"``, or ``"auto"`` (labels where there are any).

    Returns
    -------
    list of numpy.ndarray
        ``iterations + 1`` arrays (N, 2) uint64, nodes in the view's order.
    """
    if iterations < 0:
        raise OptionError(f"{iterations} rounds of colour refinement were asked for; it must be 0 or more.")
    flat = flatten(data)
    keys = [first_keys(data, labels)]
    for _ in range(iterations):
        keys.append(refine(flat, keys[-1]))
    return keys


def first_keys(data: GraphDataset, labels: str = "auto") -> np.ndarray:
    """(N, 2) uint64, the colours before any refinement; parameters as for :func:`wl_keys`."""
    codes, names = node_names(data, labels)
    return text_keys(names)[codes]


def first_colours(data: GraphDataset, features: str = "auto") -> np.ndarray:
    """(N, 2) uint64: equal for nodes that a network cannot tell apart before it passes messages.

    Parameters
    ----------
    features
        As in :class:`spgnn_dgl.data.features.FeaturePolicy`. Degrees are not capped and attributes count to the last
        bit, so that no network sees more.
    """
    kind = choose_kind(data, features)
    keys = first_keys(data, kind.partition("+")[0] if kind != "attributes" else "constant")
    if "attributes" in kind:
        assert data.arrays.node_attributes is not None
        values = node_values(data, data.arrays.node_attributes).astype(np.float32) + np.float32(0)  # -0 becomes 0
        for column in values.view(np.uint32).T:
            keys = mix(keys ^ mix(column[:, None].astype(np.uint64) + _ATTRIBUTE))
    return keys


def refine(flat: FlatGraphs, keys: np.ndarray) -> np.ndarray:
    """(N, 2) → (N, 2): one round of colour refinement; see :func:`wl_keys`."""
    return mix(mix(keys + _LANES) + neighbour_sums(flat, mix(keys + _NEIGHBOUR)))


def neighbour_sums(flat: FlatGraphs, values: np.ndarray) -> np.ndarray:
    """(N, 2) → (N, 2): sums over the neighbours of every node, modulo 2⁶⁴."""
    sums = np.zeros((len(flat.neighbours) + 1, 2), dtype=np.uint64)
    # running sums wrap around, and so do their differences: exact modulo 2⁶⁴, also for empty neighbourhoods
    np.cumsum(values[flat.neighbours], axis=0, out=sums[1:])
    return sums[flat.indptr[1:]] - sums[flat.indptr[:-1]]


def wl_colours(data: GraphDataset, iterations: int, *, labels: str = "auto") -> list[np.ndarray]:
    """Weisfeiler–Lehman colours of all nodes after 0, 1, …, `iterations` rounds.

    Shervashidze et al., *Weisfeiler–Lehman Graph Kernels*, JMLR 2011. Nodes have the same colour after t rounds
    exactly when their subtrees of height t are equal, across all graphs of the view. Colours of a round are
    ``0 … n-1`` in an arbitrary but fixed order that does not depend on node numbers; see :func:`wl_keys` for the
    parameters, and for colours that can be compared between datasets.

    Returns
    -------
    list of numpy.ndarray
        ``iterations + 1`` arrays (N,) int64, nodes in the view's order.

    Examples
    --------
    >>> import networkx as nx
    >>> from spgnn_dgl.data.readers.graphs import as_dataset
    >>> path = as_dataset([nx.path_graph(4)], [0])
    >>> [len(set(colours)) for colours in wl_colours(path, 2, labels="constant")]
    [1, 2, 2]
    """
    return [number_keys(keys)[0] for keys in wl_keys(data, iterations, labels=labels)]


def number_keys(keys: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Contiguous numbers for 128-bit keys in ascending order, and the position of one example of each.

    Parameters
    ----------
    keys
        (n, 2) uint64.

    Returns
    -------
    numbers, examples
        (n,) and (distinct,) int64: ``keys[examples][numbers]`` is `keys`.
    """
    order = np.argsort(keys[:, 0], kind="stable")
    ordered = keys[order]
    same = ordered[1:] == ordered[:-1]  # (n - 1, 2)
    if (same[:, 0] & ~same[:, 1]).any():  # one half does not tell all keys apart
        order = np.lexsort((keys[:, 1], keys[:, 0]))
        ordered = keys[order]
        same = ordered[1:] == ordered[:-1]
    first = np.ones(len(keys), dtype=bool)
    first[1:] = ~same.all(axis=1)
    numbers = np.empty(len(keys), dtype=np.int64)
    numbers[order] = np.cumsum(first) - 1
    return numbers, order[first]
