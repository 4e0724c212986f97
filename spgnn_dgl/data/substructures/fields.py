"""Receptive fields of PATCHY-SAN: from each graph a sequence of nodes, around each of them k nodes in canonical order.

Nodes are ranked by a Weisfeiler–Lehman labelling: by the number of walks that start at them, then by colour. Where
nodes of a graph or of a field have the same colour, the canonical labelling of BLISS (through igraph) decides, so that
another numbering of the nodes gives the same fields up to a symmetry of the graph.
"""

from __future__ import annotations

import bisect
import heapq
import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.sparse

from spgnn_dgl.data.derived import derived_arrays
from spgnn_dgl.data.store import GraphDataset
from spgnn_dgl.data.substructures.wl import first_keys, flatten, mix, node_values, number_keys, refine
from spgnn_dgl.errors import missing_extra

WIDTHS = 32  # fields are computed for a multiple of so many nodes: the average size differs a little between folds


def receptive_fields(data: GraphDataset, kind: str, *, width: int, size: int, height: int) -> np.ndarray:
    """(G, width, size) int32 node numbers inside the graph; -1 where a graph or a neighbourhood has no more nodes.

    Kept on disk for the whole store when the view has at least half of its graphs.

    Parameters
    ----------
    kind
        What nodes are told apart by: a kind of :class:`~spgnn_dgl.data.features.FeaturePolicy`.
    width
        Nodes of the sequence: those of the first ranks.
    size
        Nodes of a receptive field.
    height
        Rounds of colour refinement, and largest length of the walks.
    """
    igraph = import_igraph()
    rounded = -(-width // WIDTHS) * WIDTHS
    if 2 * len(data) < data.arrays.num_graphs:
        return _compute(data, kind, rounded, size, height, igraph)[:, :width]
    store = GraphDataset(data.arrays, data.meta)
    options = {"kind": kind, "width": rounded, "size": size, "height": height}
    (fields,) = derived_arrays(
        store, "fields", [options], lambda: iter([_compute(store, kind, rounded, size, height, igraph)])
    )
    return fields[data.members, :width]


def import_igraph() -> Any:
    """The module, or the command that installs it."""
    try:
        import igraph
    except ImportError as problem:
        raise missing_extra("igraph", "embeddings", "the method 'pscn'") from problem
    return igraph


def canonical_places(igraph: Any, num_nodes: int, edges: Any, colours: list[int]) -> list[int]:
    """The place of every node in BLISS's canonical labelling of a coloured graph; nodes are placed by colour first."""
    permutation = igraph.Graph(num_nodes, edges).canonical_permutation(color=colours)
    # igraph 1.0 lists the node at each place, earlier ones the place of each node: three colours without edges tell
    if igraph.Graph(3).canonical_permutation(color=[1, 2, 0]) == [1, 2, 0]:
        return permutation
    places = [0] * num_nodes
    for place, node in enumerate(permutation):
        places[node] = place
    return places


def _compute(data: GraphDataset, kind: str, width: int, size: int, height: int, igraph: Any) -> np.ndarray:
    fields = np.full((len(data), width, size), -1, dtype=np.int32)
    known: dict[Any, list[int]] = {}  # canonical orders of small graphs, which recur
    for graph, (nodes, classes, around) in enumerate(_ranked(data, kind, height, igraph)):
        for place in range(min(width, len(nodes))):
            field, distances = _neighbourhood(around, place, size)
            order = _canonical(field, distances, classes, around, known, igraph)
            fields[graph, place, : len(field)] = nodes[[field[i] for i in order]]
    return fields


def _ranked(
    data: GraphDataset, kind: str, height: int, igraph: Any
) -> Iterator[tuple[np.ndarray, list[int], list[list[int]]]]:
    """For each graph: its nodes by rank; the colour class of each rank; the ranks of its neighbours, ascending."""
    flat = flatten(data)
    num_nodes = int(flat.node_offsets[-1])
    ones = np.ones(len(flat.neighbours))
    adjacency = scipy.sparse.csr_matrix((ones, flat.neighbours, flat.indptr), (num_nodes, num_nodes))
    if data.meta.directed:  # edges count without direction
        adjacency = adjacency.maximum(adjacency.T).tocsr()
    walks = np.ones(num_nodes)
    for _ in range(height):
        walks = 1 + adjacency @ walks  # up to this length: of one length alone, a star's hub has as many as its leaves
    colours = number_keys(_keys(data, kind, height))[0]  # (N,)
    for start, end in zip(flat.node_offsets[:-1].tolist(), flat.node_offsets[1:].tolist()):
        own = colours[start:end]  # (n,)
        part = adjacency[start:end, start:end]
        canonical = np.arange(end - start)
        if len(np.unique(own)) < len(own):
            upper = scipy.sparse.triu(part).tocoo()
            edges = np.stack([upper.row, upper.col], axis=1).tolist()
            canonical = np.array(canonical_places(igraph, end - start, edges, own.tolist()))
        nodes = np.lexsort((canonical, own, -walks[start:end]))
        rank = np.empty(end - start, dtype=np.int64)
        rank[nodes] = np.arange(end - start)
        classes = np.cumsum(np.diff(own[nodes], prepend=own[nodes[0]]) != 0).tolist()
        lists = np.split(rank[part.indices], part.indptr[1:-1])
        yield nodes, classes, [np.sort(lists[node]).tolist() for node in nodes.tolist()]


def _keys(data: GraphDataset, kind: str, height: int) -> np.ndarray:
    """(N, 2) colours that tell nodes apart whose input differs."""
    labels = "labels" if "labels" in kind else "degree" if kind in ("degree", "attributes") else "constant"
    keys = first_keys(data, labels)
    if "attributes" in kind:
        assert data.arrays.node_attributes is not None
        attributes = np.ascontiguousarray(node_values(data, data.arrays.node_attributes), dtype=np.float32)
        for column in attributes.view(np.uint32).T:
            keys = mix(keys + column.astype(np.uint64)[:, None])
    flat = flatten(data)
    for _ in range(height):
        keys = refine(flat, keys)
    return keys


def _neighbourhood(around: list[list[int]], root: int, size: int) -> tuple[list[int], list[int]]:
    """The `size` nodes nearest to a root by breadth-first search, of equal distance those of the first ranks."""
    field, distances, seen = [root], [0], {root}
    level = [root]
    while level and len(field) < size:
        following: list[int] = []
        for node in heapq.merge(*(around[v] for v in level)):  # a hub's neighbours are not looked at beyond need
            if node not in seen:
                seen.add(node)
                following.append(node)
                if len(field) + len(following) == size:
                    break
        field += following
        distances += [distances[-1] + 1] * len(following)
        level = following
    return field, distances


def _has(ascending: list[int], value: int) -> bool:
    place = bisect.bisect_left(ascending, value)
    return place < len(ascending) and ascending[place] == value


def _canonical(
    field: list[int],
    distances: list[int],
    classes: list[int],
    around: list[list[int]],
    known: dict[Any, list[int]],
    igraph: Any,
) -> list[int]:
    """Positions of a field's nodes by distance, then colour class, then the canonical labelling of its subgraph."""
    keys = [(distance, classes[node]) for distance, node in zip(distances, field)]
    distinct = sorted(set(keys))
    order = sorted(range(len(field)), key=keys.__getitem__)
    if len(distinct) == len(field):
        return order
    number = {key: n for n, key in enumerate(distinct)}
    colours = tuple(number[key] for key in keys)
    edges = tuple((p, q) for p, q in itertools.combinations(range(len(field)), 2) if _has(around[field[p]], field[q]))
    if (colours, edges) not in known:
        canonical = canonical_places(igraph, len(field), edges, list(colours))
        known[colours, edges] = sorted(range(len(field)), key=lambda p: (colours[p], canonical[p]))
    return known[colours, edges]
