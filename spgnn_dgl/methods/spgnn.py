"""SPGNN and the two ablations of the paper's Table 3."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from torch import nn

from spgnn_dgl.data.features import InputSpec
from spgnn_dgl.data.store import DatasetInfo
from spgnn_dgl.errors import OptionError
from spgnn_dgl.methods.base import METHODS, GNNMethod
from spgnn_dgl.nn.conv import CONVS
from spgnn_dgl.nn.graphnet import GraphNet
from spgnn_dgl.nn.head import head_for
from spgnn_dgl.nn.readout.sortpool import SortPool
from spgnn_dgl.nn.readout.wlsortpool import WLSortPool

SMALL, LARGE = 30, 200  # average numbers of nodes at which the paper's rule for k changes


def choose_k(node_counts: np.ndarray, domain: str | None = None) -> tuple[int, ...]:
    """Candidates for k by the rule of the paper's Sec. 4.2, from *training* graphs.

    Small graphs (average below 30 nodes): 30. Large graphs (above 200): the smallest k such that half of the graphs,
    or nine in ten in a social set, have fewer nodes. In between: 30 or 50, to be decided on inner validation.

    >>> choose_k(np.array([10, 20]))
    (30,)
    >>> choose_k(np.array([100, 300, 500]))
    (301,)
    """
    average = float(np.mean(node_counts))
    if average < SMALL:
        return (30,)
    if average <= LARGE:
        return (30, 50)
    share = 0.9 if domain == "social" else 0.5
    ordered = np.sort(node_counts)
    return (int(ordered[int(np.ceil(share * len(ordered))) - 1]) + 1,)


@METHODS.register("spgnn")
class SPGNN(GNNMethod):
    """Subgraph Pattern GNN: Cat-Agg convolution, WL-SortPool, CNN.

    Dong, Zhang, Chen: *SPGNN: Recognizing Salient Subgraph Patterns via Enhanced Graph Convolution and Pooling*.

    Parameters
    ----------
    layers, channels
        L graph convolutions with d channels each.
    k
        Nodes kept per layer; ``"auto"`` follows :func:`choose_k`, and takes the larger candidate where the paper
        searches (an experiment searches on inner validation instead).
    pool
        How Cat-Agg pools neighbours: ``"sum"``, ``"mean"``, ``"max"``.
    activation
        σ of the convolutions.
    hidden
        Hidden units of the importance MLPs.
    dropout
        In the head.
    """

    reference = "SPGNN (Dong, Zhang, Chen)"
    conv: ClassVar[str] = "catagg"
    layerwise: ClassVar[bool] = True
    """Whether every layer sorts for itself (WL-SortPool) or one order serves all (SortPool)."""

    def __init__(
        self,
        *,
        layers: int = 4,
        channels: int = 32,
        k: int | str = "auto",
        pool: str = "sum",
        activation: str = "relu",
        hidden: int = 16,
        dropout: float = 0.5,
        **training: Any,
    ):
        super().__init__(**training)
        if layers < 1 or channels < 1:
            raise OptionError(f"layers={layers}, channels={channels} was given; both must be at least 1.")
        if not (k == "auto" or isinstance(k, int)):
            raise OptionError(f"k={k!r} was given; k is a number of nodes, or 'auto'.")
        self.layers, self.channels, self.k = layers, channels, k
        self.pool, self.activation, self.hidden, self.dropout = pool, activation, hidden, dropout

    def search_space(self, info: DatasetInfo) -> dict[str, tuple[Any, ...]]:
        candidates = choose_k(info.node_counts, info.domain)
        return {"k": candidates} if self.k == "auto" and len(candidates) > 1 else {}

    def resolve(self, info: DatasetInfo) -> dict[str, Any]:
        return {"k": max(choose_k(info.node_counts, info.domain)) if self.k == "auto" else self.k}

    def conv_options(self) -> dict[str, Any]:
        return {"pool": self.pool, "activation": self.activation}

    def build(self, info: DatasetInfo, spec: InputSpec) -> nn.Module:
        conv = CONVS.get(self.conv)
        dims = [self.channels] * self.layers
        convs = [conv(before, d, **self.conv_options()) for before, d in zip([spec, *dims], dims)]  # type: ignore[call-arg]
        k = self.resolved["k"]
        readout = WLSortPool(dims, k, self.hidden) if self.layerwise else SortPool(dims, k)
        return GraphNet(spec, convs, readout, head_for(readout.out_shape, info.num_classes, dropout=self.dropout))


@METHODS.register("arch1")
class CatAggSortPool(SPGNN):
    """Ablation "architecture 1" of the paper's Table 3: Cat-Agg convolution with DGCNN's SortPool.

    Dong, Zhang, Chen: *SPGNN*, Table 3. Options as for `spgnn`; `hidden` has no effect, SortPool learns no importance.
    """

    layerwise = False


@METHODS.register("arch2")
class GINSortPool(SPGNN):
    """Ablation "architecture 2" of the paper's Table 3: GIN convolution (Eq. 2) with DGCNN's SortPool.

    Dong, Zhang, Chen: *SPGNN*, Table 3; convolution of Xu et al., ICLR 2019. Options as for `spgnn`; `hidden` has no
    effect.
    """

    conv = "gin"
    layerwise = False

    def conv_options(self) -> dict[str, Any]:
        return {"activation": self.activation}
