"""SPGNN and the two ablations of the paper's Table 3."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
from torch import nn

from spgnn_dgl.data.features import InputSpec
from spgnn_dgl.data.store import DatasetInfo
from spgnn_dgl.errors import OptionError
from spgnn_dgl.methods.base import METHODS, GNNMethod
from spgnn_dgl.nn.conv import CONVS
from spgnn_dgl.nn.conv.base import stack
from spgnn_dgl.nn.graphnet import GraphNet
from spgnn_dgl.nn.head import head_for
from spgnn_dgl.nn.readout import READOUTS, Readout

NAMED = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
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
    """Subgraph Pattern GNN: Cat-Agg convolution, WL-SortPool, CNN. Any other conv and readout can take their places.

    Dong, Zhang, Chen: *SPGNN: Recognizing Salient Subgraph Patterns via Enhanced Graph Convolution and Pooling*.

    Parameters
    ----------
    conv
        The graph convolution: a name in :data:`spgnn_dgl.CONVS`, also one of a plugin.
    readout
        From nodes to graphs: a name in :data:`spgnn_dgl.READOUTS`, also one of a plugin. A readout that keeps nodes in
        order is read by the CNN, one that sums up by an MLP.
    layers, channels
        L graph convolutions with d channels each.
    k
        Nodes kept per layer; ``"auto"`` follows :func:`choose_k`, and takes the larger candidate where the paper
        searches (an experiment searches on inner validation instead).
    pool
        How Cat-Agg pools neighbours: ``"sum"``, ``"mean"``, ``"max"``. Another conv must have the option to take it.
    activation
        σ of the convolutions. With ``"relu"``, sums over many neighbours grow from layer to layer; on dense graphs such
        as those of COLLAB, trainings do not recover from that.
    hidden
        Hidden units of the importance MLPs.
    dropout
        In the head.
    """

    reference = "SPGNN (Dong, Zhang, Chen)"

    def __init__(
        self,
        *,
        conv: str = "catagg",
        readout: str = "wlsortpool",
        layers: int = 4,
        channels: int = 32,
        k: int | str = "auto",
        pool: str = "sum",
        activation: str = "tanh",
        hidden: int = 16,
        dropout: float = 0.5,
        **training: Any,
    ):
        super().__init__(**training)
        if layers < 1 or channels < 1:
            raise OptionError(f"layers={layers}, channels={channels} was given; both must be at least 1.")
        if not (k == "auto" or isinstance(k, int)):
            raise OptionError(f"k={k!r} was given; k is a number of nodes, or 'auto'.")
        self._conv, self._readout = CONVS.get(conv), READOUTS.get(readout)
        self.conv, self.readout = conv, readout
        if pool != "sum" and not takes(self._conv, "pool"):
            raise OptionError(f"pool='{pool}' was given, but the conv '{conv}' has no option 'pool'; leave it out.")
        if k != "auto" and not takes(self._readout, "k"):
            raise OptionError(f"k={k} was given, but the readout '{readout}' keeps no k nodes; leave k out.")
        self.layers, self.channels, self.k = layers, channels, k
        self.pool, self.activation, self.hidden, self.dropout = pool, activation, hidden, dropout

    def search_space(self, info: DatasetInfo) -> dict[str, tuple[Any, ...]]:
        if self.k != "auto" or not takes(self._readout, "k"):
            return {}
        candidates = choose_k(info.node_counts, info.domain)
        return {"k": candidates} if len(candidates) > 1 else {}

    def resolve(self, info: DatasetInfo) -> dict[str, Any]:
        if not takes(self._readout, "k"):
            return {}
        return {"k": max(choose_k(info.node_counts, info.domain)) if self.k == "auto" else self.k}

    def build(self, info: DatasetInfo, spec: InputSpec) -> nn.Module:
        dims = [self.channels] * self.layers
        options = {o: v for o, v in self._conv_options().items() if takes(self._conv, o)}
        convs = stack(self._conv, spec, dims, **options)
        readout = self._make_readout(dims)
        head = head_for(readout.out_shape, info.num_classes, dropout=self.dropout)
        return GraphNet(convs, readout, head, spec)

    def _conv_options(self) -> dict[str, Any]:
        """Options for the convs that have them."""
        return {"pool": self.pool, "activation": self.activation}

    def _make_readout(self, dims: list[int]) -> Readout:
        """The readout with what it asks for by name: `dims`, `k`, `hidden`."""
        known = {"dims": dims, "k": self.resolved.get("k"), "hidden": self.hidden}
        asked = inspect.signature(self._readout).parameters.values()
        foreign = [p.name for p in asked if p.default is p.empty and p.kind in NAMED and p.name not in known]
        if foreign:
            raise OptionError(
                f"the readout '{self.readout}' needs {', '.join(foreign)}, which this method does not have; a readout "
                f"here is made from {', '.join(known)}."
            )
        make: Any = self._readout
        return make(**{name: value for name, value in known.items() if takes(self._readout, name)})


def takes(part: Callable[..., Any], option: str) -> bool:
    """Whether a conv or readout has an option of that name."""
    return option in inspect.signature(part).parameters


@METHODS.register("arch1")
class CatAggSortPool(SPGNN):
    """Ablation "architecture 1" of the paper's Table 3: Cat-Agg convolution with DGCNN's SortPool.

    Dong, Zhang, Chen: *SPGNN*, Table 3. Options as for `spgnn`; `hidden` has no effect, SortPool learns no importance.
    """

    def __init__(self, *, readout: str = "sortpool", **options: Any):
        super().__init__(readout=readout, **options)


@METHODS.register("arch2")
class GINSortPool(SPGNN):
    """Ablation "architecture 2" of the paper's Table 3: GIN convolution (Eq. 2) with DGCNN's SortPool.

    Dong, Zhang, Chen: *SPGNN*, Table 3; convolution of Xu et al., ICLR 2019. Options as for `spgnn`; `hidden` has no
    effect, and `pool` cannot be set.

    Parameters
    ----------
    batch_norm
        Batch norm in the MLPs of the convolution, as its authors have it. Without it, sums over four layers grow
        beyond what the head can read where degrees are large.
    activation
        σ of the convolution, as its authors have it.
    """

    def __init__(
        self,
        *,
        conv: str = "gin",
        readout: str = "sortpool",
        batch_norm: bool = True,
        activation: str = "relu",
        **options: Any,
    ):
        super().__init__(conv=conv, readout=readout, activation=activation, **options)
        self.batch_norm = batch_norm

    def _conv_options(self) -> dict[str, Any]:
        return {**super()._conv_options(), "batch_norm": self.batch_norm}
