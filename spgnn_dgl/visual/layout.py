"""Where to draw nodes: layouts that are good to look at and the same on every run.

Every layout minimises Kamada and Kawai's energy, also called *stress*,

.. math::
    \\sum_{i<j} d_{ij}^{-2} \\big(\\lVert x_i - x_j \\rVert - d_{ij}\\big)^2

with d the number of steps between two nodes. It is minimised by majorisation (Gansner, Koren, North 2004): each step is
one matrix product, no step can make it worse, and graphs of one size are laid out together.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field

import networkx as nx
import numpy as np
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import connected_components, shortest_path
from scipy.spatial import cKDTree

STEPS = 80
GAP = 1.2  # between components, in edge lengths
SPARSE = 1.5  # edges per node
APART = 0.6  # how much further than their steps say dense communities are held from each other
DENSE = 0.55  # share of the pairs inside communities that are joined, from which communities count as dense
BATCH_ENTRIES = 2_000_000


def layout(num_nodes: int, edges: np.ndarray, *, seed: int = 0) -> np.ndarray:
    """Positions (n, 2) of one graph's nodes, an edge about one unit long, centred, the longer side horizontal.

    Parameters
    ----------
    edges
        (m, 2) node numbers; direction and repetition do not matter.
    seed
        Of the community search. Equal seeds give equal layouts.

    Examples
    --------
    >>> layout(3, np.array([[0, 1], [1, 2]])).round(3)[:, 0].tolist()
    [-1.0, 0.0, 1.0]
    """
    return layouts([(num_nodes, edges)], seed=seed)[0]


def layouts(graphs: Sequence[tuple[int, np.ndarray]], *, seed: int = 0) -> list[np.ndarray]:
    """:func:`layout` of many graphs; components with equally many nodes are computed at once."""
    components = [_components(num_nodes, edges) for num_nodes, edges in graphs]
    by_size: dict[int, list[_Component]] = defaultdict(list)
    for component in (c for of_graph in components for c in of_graph):
        by_size[len(component.nodes)].append(component)
    for num_nodes, same_size in by_size.items():
        step = max(1, BATCH_ENTRIES // num_nodes**2)
        for start in range(0, len(same_size), step):
            part = same_size[start : start + step]
            for component, positions in zip(part, _same_size(num_nodes, [c.edges for c in part], seed)):
                component.positions = positions
    return [_packed(num_nodes, of_graph) for (num_nodes, _), of_graph in zip(graphs, components)]


@dataclass
class _Component:
    """A connected part of a graph, its edges between positions in `nodes`."""

    nodes: np.ndarray  # (c,)
    edges: np.ndarray  # (m, 2)
    positions: np.ndarray = field(default_factory=lambda: np.zeros((0, 2)))  # (c, 2)


def _components(num_nodes: int, edges: np.ndarray) -> list[_Component]:
    """The connected parts, the largest first."""
    edges = np.unique(np.sort(np.asarray(edges, dtype=np.int64).reshape(-1, 2), axis=1), axis=0)
    count, number = connected_components(_adjacency(num_nodes, edges), directed=False)
    if count == 1:
        return [_Component(np.arange(num_nodes), edges)]
    place = np.empty(num_nodes, dtype=np.int64)
    parts = []
    for component in range(count):
        nodes = np.flatnonzero(number == component)
        place[nodes] = np.arange(len(nodes))
        parts.append(_Component(nodes, place[edges[number[edges[:, 0]] == component]]))
    return sorted(parts, key=lambda part: -len(part.nodes))


def _packed(num_nodes: int, components: Sequence[_Component]) -> np.ndarray:
    """(n, 2) the components in rows, about as wide as the largest of them."""
    X = np.zeros((num_nodes, 2))
    sizes = [np.ptp(c.positions, axis=0) + GAP for c in components]
    width = max(sizes[0][0], np.sqrt(sum(size.prod() for size in sizes)))
    left = top = row_height = 0.0
    for component, size in zip(components, sizes):
        if left and left + size[0] > width + 1e-9:
            left, top, row_height = 0.0, top - row_height, 0.0
        X[component.nodes] = component.positions - component.positions.min(axis=0) + [left, top - size[1]]
        left, row_height = left + size[0], max(row_height, size[1])
    return X - (X.min(axis=0) + X.max(axis=0)) / 2


def _same_size(num_nodes: int, edge_lists: Sequence[np.ndarray], seed: int) -> np.ndarray:
    """(B, n, 2) positions of B connected graphs with n nodes each."""
    X = np.zeros((len(edge_lists), num_nodes, 2))
    uneven = []
    for index, edges in enumerate(edge_lists):
        if len(edges) == num_nodes * (num_nodes - 1) // 2:  # complete: all nodes are alike, and look it on a circle
            X[index] = _on_circle(np.zeros(num_nodes), radius=max(0.5, num_nodes / (2 * np.pi)))
        else:
            uneven.append(index)
    if not uneven:
        return X
    targets, starts = [], []
    for index in uneven:
        edges = edge_lists[index]
        target = shortest_path(_adjacency(num_nodes, edges), directed=False, unweighted=True)
        circle = None
        if len(edges) >= SPARSE * num_nodes:  # trees and rings have no communities worth the search
            groups = _communities(num_nodes, edges, seed)
            target += APART * _dense(target, groups) * (groups[:, None] != groups)
            circle = _on_circle(groups, target.max() / 2)
        scaled = _scaled(target, seed)
        targets.append(target)
        starts.append((scaled, scaled if circle is None else circle))
    D, first, second = np.stack(targets), *map(np.stack, zip(*starts))  # (B, n, n), (B, n, 2) twice
    candidates = [majorise(D, first), majorise(D, second) if (first != second).any() else first]
    best = np.stack([stress(D, candidate) for candidate in candidates]).argmin(axis=0)  # (B,)
    for b, index in enumerate(uneven):
        X[index] = _upright(_parted(candidates[best[b]][b]))
    return X


def stress(D: np.ndarray, X: np.ndarray) -> np.ndarray:
    """(B,) the energy of positions X (B, n, 2) for wanted distances D (B, n, n)."""
    with np.errstate(divide="ignore"):
        W = np.where(D > 0, D**-2.0, 0.0)
    return (W * (_distances(X) - D) ** 2).sum(axis=(1, 2)) / 2


def majorise(D: np.ndarray, X: np.ndarray, steps: int = STEPS) -> np.ndarray:
    """Positions (B, n, 2) of lower stress, from the positions X."""
    n = D.shape[1]
    with np.errstate(divide="ignore"):
        W = np.where(D > 0, D**-2.0, 0.0)
    laplacian = _laplacian(W)
    inverse = np.linalg.inv(laplacian + 1.0 / n)  # as good as the pseudo-inverse: the positions stay centred
    X = X - X.mean(axis=1, keepdims=True)
    for _ in range(steps):
        pull = W * D / np.maximum(_distances(X), 1e-9)
        X = inverse @ (_laplacian(pull) @ X)
    return X


def _laplacian(W: np.ndarray) -> np.ndarray:
    L = -W
    diagonal = np.arange(W.shape[1])
    L[:, diagonal, diagonal] = W.sum(axis=2) - W[:, diagonal, diagonal]
    return L


def _distances(X: np.ndarray) -> np.ndarray:
    """(B, n, n) by one matrix product; nodes that nearly meet are good to about 1e-7."""
    squares = (X**2).sum(axis=2)
    squared = squares[:, :, None] + squares[:, None, :] - 2 * X @ X.transpose(0, 2, 1)
    return np.sqrt(np.maximum(squared, 0))


def _adjacency(num_nodes: int, edges: np.ndarray) -> csr_matrix:
    return csr_matrix((np.ones(len(edges)), (edges[:, 0], edges[:, 1])), shape=(num_nodes, num_nodes))


def _communities(num_nodes: int, edges: np.ndarray, seed: int) -> np.ndarray:
    """(n,) number of the modularity community (Louvain) of each node."""
    groups = np.zeros(num_nodes, dtype=np.int64)
    graph = nx.Graph()
    graph.add_nodes_from(range(num_nodes))
    graph.add_edges_from(edges.tolist())
    for number, members in enumerate(nx.community.louvain_communities(graph, seed=seed)):
        groups[list(members)] = number
    return groups


def _dense(steps: np.ndarray, groups: np.ndarray) -> bool:
    """Whether the communities are dense inside: rings and trees must not be torn apart."""
    inside = (groups[:, None] == groups) & (steps > 0)
    return bool(inside.any() and (steps[inside] == 1).mean() >= DENSE)


def _on_circle(groups: np.ndarray, radius: float) -> np.ndarray:
    """(n, 2) a circle on which the members of a community are neighbours."""
    place = np.empty(len(groups))
    place[np.argsort(groups, kind="stable")] = np.arange(len(groups))
    angle = 2 * np.pi * place / len(groups)
    return radius * np.stack([np.cos(angle), np.sin(angle)], axis=1)


def _scaled(D: np.ndarray, seed: int) -> np.ndarray:
    """(n, 2) classical scaling: the plane that keeps most of the squared distances."""
    centred = D**2 - (D**2).mean(axis=0) - (D**2).mean(axis=1)[:, None] + (D**2).mean()
    values, vectors = np.linalg.eigh(-centred / 2)
    # eigenvectors have no sign of their own
    vectors = vectors * np.where(vectors[np.abs(vectors).argmax(axis=0), np.arange(len(D))] < 0, -1, 1)
    X = vectors[:, -2:] * np.sqrt(np.maximum(values[-2:], 0))
    # nodes that are alike fall on one point there, where majorisation could not part them
    return X + np.random.default_rng(seed).normal(scale=0.05, size=X.shape)


def _parted(X: np.ndarray, share: float = 0.75, rounds: int = 12) -> np.ndarray:
    """Nodes much nearer to each other than usual in this layout, such as two hubs of the same nodes, moved apart."""
    least = share * float(np.median(cKDTree(X).query(X, k=2)[0][:, 1]))
    for _ in range(rounds):
        near = cKDTree(X).query_pairs(least, output_type="ndarray")
        if len(near) == 0:
            break
        difference = X[near[:, 0]] - X[near[:, 1]]
        distance = np.maximum(np.linalg.norm(difference, axis=1), 1e-9)
        push = (0.5 * (least - distance) / distance)[:, None] * difference
        X = X.copy()
        np.add.at(X, near[:, 0], push)
        np.add.at(X, near[:, 1], -push)
    return X


def _upright(X: np.ndarray) -> np.ndarray:
    """Turned so that the longer side is horizontal, and the lower numbers are on the left and below."""
    _, _, axes = np.linalg.svd(X - X.mean(axis=0), full_matrices=False)
    if len(axes) < 2:
        return X
    turned = (X - X.mean(axis=0)) @ axes.T
    half = (len(X) + 1) // 2
    sign = np.where(turned[:half].mean(axis=0) > 1e-9, -1.0, 1.0)
    return turned * sign
