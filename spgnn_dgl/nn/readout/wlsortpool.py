"""WL-SortPool: every layer sorts its nodes by an importance of its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F
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
        widest = max(dims)
        used = [layer * (widest + 1) + c for layer, d in enumerate(dims) for c in range(widest - d, widest + 1)]
        self._columns = None if len(set(dims)) == 1 else used  # narrow layers are padded in front; drop that again

    def forward(self, graph: Any, layers: Sequence[Tensor]) -> Tensor:
        Z, importance, ids = self._sorted(graph, layers)
        H = torch.cat([Z, importance], dim=2)  # (L, N, d + 1)
        H = take_rows(H.flatten(0, 1), ids.permute(1, 2, 0), repeated=is_folded(graph)).flatten(2)  # (B, k, L·(d + 1))
        return H if self._columns is None else H[:, :, self._columns]

    def projected(self, graph: Any, layers: Sequence[Tensor], linear: Projection) -> Tensor:
        """A row of Z_G stands in L blocks, one per layer: so does the map, and Σ H⁽ˡ⁾W⁽ˡ⁾ is summed after sorting."""
        if self._columns is not None:
            return super().projected(graph, layers, linear)
        Z, importance, ids = self._sorted(graph, layers)
        W = linear.weight.view(len(Z), Z.shape[2] + 1, -1)  # (L, d + 1, out)
        P = torch.baddbmm(importance * W[:, -1:], Z, W[:, :-1])  # (L, N, out): H⁽ˡ⁾W⁽ˡ⁾
        rows = sum_rows(P.flatten(0, 1), ids, repeated=is_folded(graph))  # (B, k, out)
        return rows if linear.bias is None else rows + linear.bias

    def select(self, graph: Any, layers: Sequence[Tensor]) -> Selection:
        """Which nodes each layer keeps, and the importance of all."""
        Z, importance, ids = self._sorted(graph, layers)
        return Selection(torch.where(ids < 0, ids, ids % Z.shape[1]), importance.squeeze(2))

    def _sorted(self, graph: Any, layers: Sequence[Tensor]) -> tuple[Tensor, Tensor, Tensor]:
        """(L, N, d) all layers, (L, N, 1) importance, and who is kept. One sort for all layers.

        The latter are (L, B, k) numbers among all L·N rows, -1 where there are fewer than k.
        """
        Z = self._stack(layers)
        importance = self._importance(Z)
        sizes, copies = graph.batch_num_nodes(), graph.ndata.get(COPIES)
        if copies is not None:
            copies = copies.repeat(len(Z))
        ids = top_k(Z.flatten(0, 1), importance.flatten(), sizes.repeat(len(Z)), self.k, copies)
        return Z, importance, ids.view(len(Z), len(sizes), self.k)

    def _stack(self, tensors: Sequence[Tensor]) -> Tensor:
        """Tensors of different width in one, the narrow ones with zeros in front."""
        widest = max(self.dims)
        return torch.stack([t if (d := t.shape[-1]) == widest else F.pad(t, (widest - d, 0)) for t in tensors])

    def _importance(self, Z: Tensor) -> Tensor:
        """(L, N, d) → (L, N, 1): the MLPs of all layers at once."""
        firsts, lasts = zip(*((mlp[0], mlp[2]) for mlp in self.importance))  # type: ignore[index]
        W1 = self._stack([linear.weight for linear in firsts]).transpose(1, 2)  # (L, d, hidden)
        b1 = torch.stack([linear.bias for linear in firsts]).unsqueeze(1)
        W2 = torch.stack([linear.weight for linear in lasts])  # (L, 1, hidden)
        b2 = torch.stack([linear.bias for linear in lasts]).unsqueeze(1)
        hidden = torch.relu(torch.baddbmm(b1, Z, W1))
        return (hidden * W2).sum(2, keepdim=True) + b2  # faster than a product with one column
