"""Graphs made out of a batch: with self-loops, cut down to some of its nodes, two hops in one.

All work on the flat neighbour lists of the whole batch; none goes through it graph by graph. The results carry the
structure only, no features, and know the sizes of their graphs.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse
import torch
from torch import Tensor

from spgnn_dgl._dgl import set_batch_sizes
from spgnn_dgl.data.store import graph_from_csc, symmetric_lists
from spgnn_dgl.nn.ops import segment_ids, segment_max, segment_sum

_WITH_LOOPS = "spgnn_dgl: with self-loops"


def neighbour_lists(graph: Any) -> tuple[Tensor, Tensor]:
    """In-neighbour lists of a batch: where each node's list starts (N + 1,), and the lists (E,); both int32."""
    lists = symmetric_lists(graph)
    if lists is None:
        indptr, neighbours, _ = graph.adj_tensors("csc")
        lists = indptr.int(), neighbours.int()
    return lists


def with_self_loops(graph: Any) -> Any:
    """The batch with an edge from every node to itself, last in its neighbour list. Made once per batch.

    The graphs must not have self-loops yet; those of a dataset have none.

    Examples
    --------
    >>> from spgnn_dgl._dgl import dgl
    >>> with_self_loops(dgl.graph(([0], [1]), num_nodes=3)).in_degrees().tolist()
    [1, 2, 1]
    """
    cache = graph._graph._cache
    if _WITH_LOOPS not in cache:
        indptr, neighbours = neighbour_lists(graph)
        count = torch.arange(len(indptr), dtype=torch.int32, device=indptr.device)  # (N + 1,)
        nodes, new_indptr = count[:-1], indptr + count
        lists = neighbours.new_empty(len(neighbours) + len(nodes))
        place = torch.arange(len(neighbours), device=indptr.device) + _targets(indptr)  # one loop before each list
        lists[place] = neighbours
        lists[new_indptr[1:].long() - 1] = nodes
        # not marked as undirected: attention has edge data, and the transposed graph numbers its edges differently
        made = graph_from_csc(new_indptr, lists)
        sizes = graph.batch_num_nodes()
        set_batch_sizes(made, sizes, graph.batch_num_edges() + sizes)
        cache[_WITH_LOOPS] = made
    return cache[_WITH_LOOPS]


def induced_subgraph(graph: Any, keep: Tensor) -> Any:
    """The nodes where `keep` is true, and the edges between them; a node's new number is its rank among the kept.

    Parameters
    ----------
    graph
        A batch of B graphs with N nodes.
    keep
        (N,) bool.

    Returns
    -------
    DGLGraph
        A batch of B graphs, without features.

    Examples
    --------
    >>> from spgnn_dgl._dgl import dgl
    >>> path = dgl.graph(([0, 1, 2], [1, 2, 3]))
    >>> induced_subgraph(path, torch.tensor([True, True, False, True])).edges()
    (tensor([0], dtype=torch.int32), tensor([1], dtype=torch.int32))
    """
    indptr, neighbours = neighbour_lists(graph)
    targets = _targets(indptr)
    inside = keep[neighbours.long()] & keep[targets]  # (E,)
    number = keep.cumsum(0) - 1  # (N,) new numbers of the kept nodes
    num_kept = int(keep.sum())
    degrees = torch.bincount(number[targets[inside]], minlength=num_kept)  # (N',)
    lists = number[neighbours[inside].long()].int()
    return _subgraph(graph, keep, degrees, lists)


def two_hop_subgraph(graph: Any, keep: Tensor) -> Any:
    """The nodes where `keep` is true, joined where they are at most two hops apart in `graph`.

    The sub-matrix of (A + I)² without its diagonal, entries 1. Where one node of a graph is joined to all others, as
    in every ego network, the result is complete and known; for other graphs the kept rows and columns are multiplied
    as sparse matrices. Between the neighbours of a hub there is every edge there can be: n² for n neighbours.

    Examples
    --------
    >>> from spgnn_dgl._dgl import dgl
    >>> path = dgl.graph(([0, 1, 2, 1, 2, 3], [1, 2, 3, 0, 1, 2]))  # 0 - 1 - 2 - 3
    >>> two_hop_subgraph(path, torch.tensor([True, False, True, True])).in_degrees().tolist()
    [1, 2, 1]
    """
    sizes = graph.batch_num_nodes()
    of_kept = segment_ids(sizes)[keep].cpu().numpy()  # (N',) the graph of each kept node
    complete = _is_ego_network(graph).cpu().numpy()[of_kept]  # (N',)
    degrees = np.empty(len(of_kept), dtype=np.int64)
    degrees[~complete], products = _two_hop_rows(graph, keep, ~complete)
    degrees[complete], cliques = _complete_rows(np.bincount(of_kept, minlength=len(sizes)), of_kept, complete)
    multiplied = np.repeat(~complete, degrees)  # (E',) both kinds of rows, in the order of the nodes
    lists = np.empty(len(multiplied), dtype=np.int32)
    lists[multiplied], lists[~multiplied] = products, cliques
    device = keep.device
    return _subgraph(graph, keep, torch.from_numpy(degrees).to(device), torch.from_numpy(lists).to(device))


def _is_ego_network(graph: Any) -> Tensor:
    """(B,) whether the graph is undirected and a node of it is joined to all others."""
    sizes = graph.batch_num_nodes()
    if symmetric_lists(graph) is None:
        return torch.zeros_like(sizes, dtype=torch.bool)
    return segment_max(graph.in_degrees().unsqueeze(1), sizes).squeeze(1) == sizes - 1


def _two_hop_rows(graph: Any, keep: Tensor, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Degrees and neighbour lists of some rows of the two-hop matrix among the kept nodes."""
    indptr, neighbours = (lists.cpu().numpy() for lists in neighbour_lists(graph))
    N = len(indptr) - 1
    A = scipy.sparse.csr_matrix((np.ones(len(neighbours), dtype=bool), neighbours, indptr), shape=(N, N))
    reach = A + scipy.sparse.identity(N, dtype=bool, format="csr")
    kept = keep.nonzero().squeeze(1).cpu().numpy()
    pairs = reach[kept[rows]] @ reach[:, kept]
    row = np.repeat(np.arange(pairs.shape[0]), np.diff(pairs.indptr))
    apart = pairs.indices != np.flatnonzero(rows)[row]
    return np.bincount(row[apart], minlength=pairs.shape[0]), pairs.indices[apart]


def _complete_rows(sizes: np.ndarray, graphs: np.ndarray, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Degrees and neighbour lists of some rows where every graph is complete: all nodes of it but the row's own."""
    nodes = np.flatnonzero(rows)
    first = (np.cumsum(sizes) - sizes)[graphs[nodes]]
    degrees = sizes[graphs[nodes]] - 1
    position = np.arange(degrees.sum()) - np.repeat(np.cumsum(degrees) - degrees, degrees)  # in the row's list
    return degrees, np.repeat(first, degrees) + position + (position >= np.repeat(nodes - first, degrees))


def _targets(indptr: Tensor) -> Tensor:
    """(E,) the node that each entry of the neighbour lists belongs to."""
    nodes = torch.arange(len(indptr) - 1, device=indptr.device)
    return torch.repeat_interleave(nodes, indptr.diff().long())


def _subgraph(graph: Any, keep: Tensor, degrees: Tensor, lists: Tensor) -> Any:
    """A batch over the kept nodes of `graph`, from their degrees and neighbour lists."""
    indptr = lists.new_zeros(len(degrees) + 1)
    torch.cumsum(degrees, 0, dtype=torch.int32, out=indptr[1:])
    made = graph_from_csc(indptr, lists, undirected=symmetric_lists(graph) is not None)
    sizes = segment_sum(keep.long(), graph.batch_num_nodes())
    set_batch_sizes(made, sizes, segment_sum(degrees.long(), sizes))
    return made
