"""Substructures that occur together, as sentences: what deep graph kernels learn word vectors from.

Each base gives a bag of words per graph and sentences of the same words. The words of a sentence are a set: they are
shuffled, and a long sentence is a sample.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import scipy.sparse
from scipy.sparse.csgraph import dijkstra

from spgnn_dgl.data.store import GraphDataset
from spgnn_dgl.data.substructures.wl import flatten, mix, node_names, text_keys
from spgnn_dgl.data.substructures.words import Words, path_keys, path_words, stack_words, wl_words
from spgnn_dgl.errors import DatasetError

LONGEST = 200  # words of a sentence
SOURCES = 50  # nodes per graph whose shortest paths become sentences
MOST_WEDGES = 100_000_000

Sentences = tuple[np.ndarray, np.ndarray]
"""(t, 2) keys, sentence after sentence, and (s,) where each sentence ends."""


@dataclass(frozen=True)
class Base:
    """A kind of substructure; both functions take a dataset, what its nodes are called, and a height."""

    words: Callable[[GraphDataset, str, int], Words]
    sentences: Callable[[GraphDataset, str, int, np.random.Generator], Sentences]


def _together(ids: np.ndarray, keys: np.ndarray, rng: np.random.Generator) -> Sentences:
    """Keys with equal ids as one sentence: shuffled, and at most :data:`LONGEST` of them."""
    order = np.lexsort((rng.random(len(ids)), ids))
    ids, keys = ids[order], keys[order]
    first = np.flatnonzero(np.diff(ids, prepend=-1))  # (s,)
    lengths = np.diff(np.append(first, len(ids)))
    place = np.arange(len(ids)) - np.repeat(first, lengths)
    return keys[place < LONGEST], np.cumsum(np.minimum(lengths, LONGEST))


# ---- subtrees: those of one graph and height occur together ------------------------


def _subtrees(data: GraphDataset, labels: str, height: int) -> Words:
    return stack_words(wl_words(data, height, labels=labels))


def _subtree_sentences(data: GraphDataset, labels: str, height: int, rng: np.random.Generator) -> Sentences:
    parts = wl_words(data, height, labels=labels)
    ids = np.concatenate([part.graphs * len(parts) + t for t, part in enumerate(parts)])
    return _together(ids, stack_words(parts).keys, rng)


# ---- shortest paths: those with the same source occur together ------------------------


def _paths(data: GraphDataset, labels: str, height: int) -> Words:
    return path_words(data, labels=labels)


def _path_sentences(data: GraphDataset, labels: str, height: int, rng: np.random.Generator) -> Sentences:
    codes, names = node_names(data, labels)
    hashes = text_keys(names)[codes]  # (N, 2)
    flat = flatten(data)
    ones = np.ones(len(flat.neighbours), dtype=np.int8)
    everything = scipy.sparse.csr_matrix((ones, flat.neighbours, flat.indptr), (len(codes), len(codes)))
    ids, keys = [np.zeros(0, dtype=np.int64)], [np.zeros((0, 2), dtype=np.uint64)]
    for start, end in zip(flat.node_offsets[:-1].tolist(), flat.node_offsets[1:].tolist()):
        sources = np.sort(rng.permutation(end - start)[:SOURCES])
        lengths = dijkstra(everything[start:end, start:end], unweighted=True, indices=sources)  # (s, n)
        row, target = np.nonzero(np.isfinite(lengths) & (lengths > 0))
        source = start + sources[row]
        ids.append(source)
        keys.append(path_keys(hashes[source], hashes[start + target], lengths[row, target]))
    return _together(np.concatenate(ids), np.concatenate(keys), rng)


# ---- connected graphlets of three nodes: those with the same centre occur together ------------------------


def _graphlets(data: GraphDataset, labels: str, height: int) -> Words:
    centres, keys, triangle = _wedges(data, labels)
    graphs = flatten(data).graph_of_node[centres]
    return Words(len(data), graphs, keys, np.where(triangle, 1 / 3, 1.0))  # a triangle has three centres


def _graphlet_sentences(data: GraphDataset, labels: str, height: int, rng: np.random.Generator) -> Sentences:
    centres, keys, _ = _wedges(data, labels)
    return _together(centres, keys, rng)


def _wedges(data: GraphDataset, labels: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Every pair of neighbours of every node: the node, the key of the graphlet, and whether it is a triangle.

    The key of a path has the label in the middle and the two at the ends, that of a triangle its three labels.
    """
    codes, names = node_names(data, labels)
    hashes = mix(text_keys(names))[codes]  # (N, 2)
    flat = flatten(data)
    num_nodes = len(codes)
    ends = np.stack([np.repeat(np.arange(num_nodes), np.diff(flat.indptr)), flat.neighbours])  # (2, E)
    if data.meta.directed:  # edges count without direction
        ends = np.concatenate([ends, ends[::-1]], axis=1)
    packed = np.unique(ends[0] * num_nodes + ends[1])  # sorted by node, then neighbour
    node, neighbour = np.divmod(packed, max(num_nodes, 1))
    degrees = np.bincount(node, minlength=num_nodes)
    total = int((degrees * (degrees - 1) // 2).sum())
    if total > MOST_WEDGES:
        raise DatasetError(
            f"{data.name} has {total:,} pairs of neighbours; base='graphlet' can list {MOST_WEDGES:,}. Use base='wl'."
        )
    # the neighbour at place p of a list is paired with those after it
    place = np.arange(len(node)) - np.repeat(np.cumsum(degrees) - degrees, degrees)
    after = degrees[node] - place - 1
    first = np.repeat(np.arange(len(node)), after)
    second = first + 1 + np.arange(total) - np.repeat(np.cumsum(after) - after, after)
    centre, u, v = node[first], neighbour[first], neighbour[second]
    closing = np.searchsorted(packed, u * num_nodes + v)
    triangle = packed[np.minimum(closing, len(packed) - 1)] == u * num_nodes + v if total else np.zeros(0, dtype=bool)
    outside = hashes[u] + hashes[v]
    keys = np.where(triangle[:, None], mix(outside + hashes[centre]), mix(outside + mix(hashes[centre])))
    return centre, keys, triangle


BASES = {
    "wl": Base(_subtrees, _subtree_sentences),
    "sp": Base(_paths, _path_sentences),
    "graphlet": Base(_graphlets, _graphlet_sentences),
}
