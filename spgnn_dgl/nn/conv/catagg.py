"""Cat-Agg graph convolution."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch import Tensor

from spgnn_dgl._dgl import dgl
from spgnn_dgl.data.features import InputSpec
from spgnn_dgl.nn.activation import Activation
from spgnn_dgl.nn.activation import activation as sigma_by_name
from spgnn_dgl.nn.conv.base import CONVS, Conv
from spgnn_dgl.nn.inputs import NodeInput, Projection
from spgnn_dgl.nn.propagation import (
    ReduceUDF,
    is_folded,
    neighbour_sum,
    node_message_view,
    reduce_function,
)


@CONVS.register("catagg", "cat-agg")
class CatAggConv(Conv):
    r"""Concatenation-based injective graph convolution. Paper, Eqs. (3) and (4).

    .. math::
        Y = \sigma(Z W), \qquad
        Z'_i = \sigma\big(M^\top \, \mathrm{concat}(Y_i,\ \mathrm{pool}\{Y_j : j \in \mathcal N(i)\})\big)

    The neighbours are a multiset without i itself: the centre keeps a place of its own in the concatenation, which
    is what tells a star centred at a from one centred at b. An empty neighbourhood pools to zero.

    Parameters
    ----------
    in_dim
        Width of Z, or the input spec in the first layer.
    out_dim
        Width d of Y and Z'.
    pool
        ``"sum"`` (paper), ``"mean"``, ``"max"``, or a reduce function on ``nodes.mailbox["m"]`` that returns
        ``{"pooled": …}``. Named pools run as one fused product; a function is 20-70 times slower.
    activation
        σ, by name or as a function.

    Shape
    -----
    graph with N nodes, Z (N, in) or NodeInput → (N, out)

    Examples
    --------
    >>> import spgnn_dgl as sp
    >>> data = sp.load_dataset("MOTIFS")
    >>> conv = CatAggConv(3, 8)
    >>> conv(graph := data.batch([0, 1]), torch.ones(graph.num_nodes(), 3)).shape[1]
    8
    """

    folds = True

    def __init__(
        self,
        in_dim: int | InputSpec,
        out_dim: int,
        *,
        pool: str | ReduceUDF = "sum",
        activation: str | Activation = "relu",
    ):
        super().__init__()
        self.out_dim = out_dim
        self.W = Projection(in_dim, out_dim)
        self.M = Projection(2 * out_dim, out_dim)
        self.sigma = sigma_by_name(activation, in_place=True)  # of sums that nothing else reads
        self.pool = pool
        self.reduce = reduce_function(pool)
        if pool != "sum":
            self.folds = False

    def forward(self, graph: Any, Z: Tensor | NodeInput) -> Tensor:
        upper, lower = self.M.weight.split(self.out_dim)
        Y, rows = self._transformed(Z)
        assert self.M.bias is not None
        # concat(a, b) M is a M₁ + b M₂ with the upper and the lower half of M: nothing is copied side by side
        own = rows(torch.addmm(self.M.bias, Y, upper))  # (N, d)
        # Σ (Y_j M₂) is (Σ Y_j) M₂: mapped before they are summed, neighbours need not be kept for the backward pass
        sent = rows(Y @ lower if self.pool == "sum" else Y)
        if is_folded(graph):
            return self.sigma(own.add_(neighbour_sum(graph, sent)))
        view = node_message_view(graph)
        view.ndata["own"], view.ndata["sent"] = own, sent
        apply = partial(self.concatenate, lower)
        if callable(self.pool) and view.num_edges() == 0:
            view.apply_nodes(apply)  # DGL's update_all fails where a reduce UDF gets no message at all
        else:
            view.update_all(dgl.function.copy_u("sent", "m"), self.reduce, apply)
        return view.ndata["Z"]

    def _transformed(self, Z: Tensor | NodeInput) -> tuple[Tensor, Callable[[Tensor], Tensor]]:
        """Y = σ(ZW), and how to get a row per node from what is computed of it.

        Nodes of one label have one row of Y: where there are fewer labels than nodes, it is computed per label.
        """
        if isinstance(Z, NodeInput) and Z.dense is None and Z.codes is not None and Z.spec.num_codes < len(Z.codes):
            codes = Z.codes
            return self.sigma(self.W.table()), lambda per_label: per_label.index_select(0, codes)
        return self.sigma(self.W(Z)), lambda per_node: per_node

    def concatenate(self, lower: Tensor, nodes: Any) -> dict[str, Tensor]:
        """DGL's apply step: the pooled half of concat(Y_i, pooled neighbours) M, added to the node's own, and σ."""
        Z = nodes.data["own"]
        if "pooled" in nodes.data:
            pooled = nodes.data["pooled"]
            if self.pool == "max":  # DGL's maximum over no neighbours is -inf, and is mended only after this step
                pooled = pooled.masked_fill(pooled.isneginf(), 0.0)
            Z = Z.add_(pooled) if self.pool == "sum" else Z.addmm_(pooled, lower)
        return {"Z": self.sigma(Z)}
