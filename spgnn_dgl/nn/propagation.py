"""Message passing over a batch: DGL's fused products, without a transposed graph where there is no need of one."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from spgnn_dgl._dgl import dgl
from spgnn_dgl.data.folding import COPIES, COUNTS, REVERSE_COUNTS
from spgnn_dgl.data.store import graph_from_csc, symmetric_lists
from spgnn_dgl.errors import OptionError
from spgnn_dgl.nn.ops import bag_sum
from spgnn_dgl.nn.structure import neighbour_lists
from spgnn_dgl.registry import did_you_mean

ReduceUDF = Callable[[Any], dict[str, Tensor]]
POOLS = ("sum", "mean", "max")


def reduce_function(pool: str | ReduceUDF) -> Any:
    """DGL's fused reduce for a named pool; a user's own reduce UDF as it is. Both reduce field "m"."""
    if callable(pool):
        return pool
    if pool not in POOLS:
        raise OptionError(
            f"unknown pool '{pool}'.{did_you_mean(pool, POOLS)} Known: {', '.join(POOLS)}, or a reduce function "
            "on `nodes.mailbox['m']` that returns {'pooled': …}."
        )
    return getattr(dgl.function, pool)("m", "pooled")


class _OwnTranspose(dgl.heterograph_index.HeteroGraphIndex):  # type: ignore[name-defined]
    """A graph index whose reverse is itself.

    True of the adjacency matrix of an undirected graph, but not of its edge *numbers*: only for messages that copy
    node data, never for messages that read edge data. It answers from memory what `update_all` asks the C++ side for
    dozens of times per call.
    """

    @property
    def metagraph(self) -> Any:
        if "metagraph" not in self._cache:
            self._cache["metagraph"] = super().metagraph
        return self._cache["metagraph"]

    def number_of_ntypes(self) -> int:
        return 1

    def number_of_etypes(self) -> int:
        return 1

    def reverse(self) -> _OwnTranspose:
        return self

    def get_relation_graph(self, etype: int) -> _OwnTranspose:
        """The part with one type of edge, which is all of it; DGL would hand out an index of the plain class."""
        return self


class _View(dgl.DGLGraph):  # type: ignore[name-defined]
    """A graph with one type of edge: its part with that type, which `update_all` asks for each time, is itself."""

    def __getitem__(self, key: Any) -> _View:
        return self


_VIEW = "spgnn_dgl: view for node messages"


def node_message_view(graph: Any) -> Any:
    """The structure of `graph` without its features, to call ``update_all(copy_u(…), …)`` on.

    The gradient of A·Y is Aᵀ·G. For a graph known to be undirected Aᵀ = A, so the view hands DGL the same index for
    the backward pass; otherwise DGL builds the transposed format once per batch. The view is made once per batch.
    """
    cache = graph._graph._cache
    view = cache.get(_VIEW)
    if view is None:
        lists = symmetric_lists(graph)
        if lists is None:
            return _View(graph._graph, ["_N"], ["_E"])
        view = graph_from_csc(*lists, edge_ids=False)
        view.__class__, view._graph.__class__ = _View, _OwnTranspose
        cache[_VIEW] = view
    return view


_COUNTS = "spgnn_dgl: neighbours in a folded batch"


def is_folded(graph: Any) -> bool:
    """Whether nodes of the batch stand for several; see :mod:`spgnn_dgl.data.folding`."""
    return COPIES in graph.ndata


def neighbour_sum(graph: Any, Y: Tensor) -> Tensor:
    """(N, d) → (N, d): sums over the neighbours of every node, in a folded batch over those of each copy.

    The sums are DGL's where the graph is directed. Those over the neighbours of an undirected one are sums of rows,
    forwards and backwards, and PyTorch has a kernel for them that takes half of the time of DGL's. In a folded batch
    neighbours have a count: there a product with a sparse matrix is the fastest.
    """
    if not is_folded(graph):
        lists = symmetric_lists(graph)
        return dgl.ops.copy_u_sum(node_message_view(graph), Y) if lists is None else _SymmetricSum.apply(Y, *lists)
    cache = graph._graph._cache
    if _COUNTS not in cache:
        lists = neighbour_lists(graph)
        cache[_COUNTS] = tuple(_csr(*lists, graph.edata[field]) for field in (COUNTS, REVERSE_COUNTS))
    return _Product.apply(Y, *cache[_COUNTS])


def _csr(indptr: Tensor, indices: Tensor, values: Tensor) -> Tensor:
    N = len(indptr) - 1
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Sparse CSR tensor support is in beta state")
        return torch.sparse_csr_tensor(indptr, indices, values, (N, N), check_invariants=False)


class _SymmetricSum(torch.autograd.Function):
    """A·Y for A = Aᵀ with entries 1, given by its neighbour lists."""

    @staticmethod
    def forward(ctx: Any, Y: Tensor, indptr: Tensor, neighbours: Tensor) -> Tensor:
        ctx.lists = neighbours, indptr[:-1]
        return bag_sum(Y, *ctx.lists)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None, None]:
        return bag_sum(grad, *ctx.lists), None, None


class _Product(torch.autograd.Function):
    """A·Y with a given transpose of A."""

    @staticmethod
    def forward(ctx: Any, Y: Tensor, A: Tensor, transposed: Tensor) -> Tensor:
        ctx.transposed = transposed
        return A @ Y

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None, None]:
        return ctx.transposed @ grad, None, None
