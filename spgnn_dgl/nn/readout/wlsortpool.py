"""WL-SortPool: every layer sorts its nodes by an importance of its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from spgnn_dgl.data.folding import COPIES
from spgnn_dgl.errors import OptionError
from spgnn_dgl.nn.inputs import Projection
from spgnn_dgl.nn.ops import sum_rows, take_rows, top_k
from spgnn_dgl.nn.propagation import is_folded
from spgnn_dgl.nn.readout.base import READOUTS, Readout


@dataclass(frozen=True)
class Selection:
    """Who was pooled: node rows of the batch per layer, graph and rank.

    `nodes` (L, B, k) int64, -1 where a graph has fewer than k nodes; `importance` (L, N) of every node of the batch.
    """

    nodes: Tensor
    importance: Tensor


@READOUTS.register("wlsortpool", "wl-sortpool")
class WLSortPool(Readout):
    r"""Layer-wise, importance-sorted top-k. Paper, Sec. 3.2 and Eq. (5).

    .. math::
        I^{(l)} = \mathrm{MLP}^{(l)}(Z^{(l)}), \quad
        H^{(l)} = \mathrm{concat}(Z^{(l)}, I^{(l)}), \quad
        Z_G = \mathrm{concat}\big(\mathrm{sort\text{-}k}(H^{(l)}) \mid l = 1 \dots L\big)

    Sorting has no gradient; the importance channel stays in H, and through it alone the MLPs learn. They end without
    an activation. Row i of the result holds the rank-i node of *each* layer, side by side: in general L different
    nodes.

    Parameters
    ----------
    dims
        Widths d_l of the layers.
    k
        Nodes to keep per graph and layer.
    hidden
        Hidden units of the importance MLPs.

    Shape
    -----
    L tensors (N, d_l) → (B, k, Σ(d_l + 1))
    """

    folds = True

    def __init__(self, dims: Sequence[int], k: int, hidden: int = 16):
        super().__init__()
        if k < 1:
            raise OptionError(f"k={k} was given; WL-SortPool keeps at least one node, so k must be 1 or more.")
        self.dims, self.k = tuple(dims), k
        self.importance = nn.ModuleList(
            nn.Sequential(nn.Linear(d, hidden), nn.ReLU(), nn.Linear(hidden, 1)) for d in dims
        )
        for module in self.importance.modules():
            if isinstance(module, nn.Linear):
                nn.init.xavier_uniform_(module.weight)
                nn.init.zeros_(module.bias)
        self.out_shape = (k, sum(dims) + len(self.dims))

    def forward(self, graph: Any, layers: Sequence[Tensor]) -> Tensor:
        importance, ids = self._sorted(graph, layers)
        H = (torch.cat(columns, dim=1) for columns in zip(layers, importance))  # (N, d + 1) each
        own = _of_each_layer(ids, importance.shape[1])
        return torch.cat([take_rows(h, i, repeated=is_folded(graph)) for h, i in zip(H, own)], dim=2)

    def projected(self, graph: Any, layers: Sequence[Tensor], linear: Projection) -> Tensor:
        """A row of Z_G stands in L blocks, one per layer: so does the map, and Σ H⁽ˡ⁾W⁽ˡ⁾ is summed after sorting.

        A layer is multiplied once, with its block of the map and with the first map of its MLP side by side.
        """
        if len(set(self.dims)) > 1:
            return super().projected(graph, layers, linear)
        W1 = torch.stack([mlp[0].weight for mlp in self.importance])  # type: ignore[index]  # (L, hidden, d)
        W = linear.weight.view(len(layers), self.dims[0] + 1, -1)  # (L, d + 1, out), the last row for the importance
        both = torch.cat([W1.transpose(1, 2), W[:, :-1]], dim=2)  # (L, d, hidden + out)
        hidden, P = _products(layers, both.unbind()).split([W1.shape[1], W.shape[2]], dim=2)
        importance = self._importance(hidden)
        P = torch.addcmul(P, importance, W[:, -1:])  # (L, N, out): H⁽ˡ⁾W⁽ˡ⁾
        rows = sum_rows(P.flatten(0, 1), self._top_k(graph, layers, importance), repeated=is_folded(graph))
        return rows if linear.bias is None else rows + linear.bias  # (B, k, out)

    def select(self, graph: Any, layers: Sequence[Tensor]) -> Selection:
        """Which nodes each layer keeps, and the importance of all."""
        importance, ids = self._sorted(graph, layers)
        return Selection(_of_each_layer(ids, importance.shape[1]), importance.squeeze(2))

    def _sorted(self, graph: Any, layers: Sequence[Tensor]) -> tuple[Tensor, Tensor]:
        """(L, N, 1) importance, and who is kept."""
        importance = self._importance(_products(layers, [mlp[0].weight.t() for mlp in self.importance]))  # type: ignore[index]
        return importance, self._top_k(graph, layers, importance)

    def _importance(self, products: Tensor) -> Tensor:
        """(L, N, hidden) → (L, N, 1): what the MLPs of all layers make of the products with their first maps."""
        firsts, lasts = zip(*((mlp[0], mlp[2]) for mlp in self.importance))  # type: ignore[index]
        b1 = torch.stack([linear.bias for linear in firsts]).unsqueeze(1)
        W2 = torch.stack([linear.weight for linear in lasts])  # (L, 1, hidden)
        b2 = torch.stack([linear.bias for linear in lasts]).unsqueeze(1)
        hidden = torch.relu_(products + b1)
        return (hidden * W2).sum(2, keepdim=True) + b2  # faster than a product with one column

    def _top_k(self, graph: Any, layers: Sequence[Tensor], importance: Tensor) -> Tensor:
        """(L, B, k) who is kept, as numbers among all L·N rows, -1 where there are fewer than k. One sort for all."""
        L, sizes, copies = len(layers), graph.batch_num_nodes(), graph.ndata.get(COPIES)
        copies = None if copies is None else copies.repeat(L)
        return top_k(layers, importance.flatten(), sizes.repeat(L), self.k, copies).view(L, len(sizes), self.k)


def _products(layers: Sequence[Tensor], maps: Sequence[Tensor]) -> Tensor:
    """(L, N, c): each layer times its map. The layers stay where they are: to stack them takes as much memory again."""
    return torch.stack([Z @ W for Z, W in zip(layers, maps, strict=True)])


def _of_each_layer(ids: Tensor, N: int) -> Tensor:
    """Numbers among the rows of all layers as numbers among the N rows of one."""
    return torch.where(ids < 0, ids, ids % N)
