"""`GraphNet`: convs, a readout and a head in a row."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from torch import Tensor, nn

from spgnn_dgl.data.features import DENSE, InputSpec
from spgnn_dgl.errors import OptionError
from spgnn_dgl.nn.conv.base import Conv
from spgnn_dgl.nn.head import Head
from spgnn_dgl.nn.inputs import NodeInput
from spgnn_dgl.nn.readout.base import Readout
from spgnn_dgl.nn.readout.wlsortpool import Selection


class GraphNet(nn.Module):
    r"""A graph classifier in three parts.

    .. math::
        Z^{(l+1)} = \mathrm{conv}_l(G, Z^{(l)}), \quad
        Z_G = \mathrm{readout}(G, [Z^{(1)} \dots Z^{(L)}]), \quad
        \text{scores} = \mathrm{head}(Z_G)

    Parameters
    ----------
    convs, readout, head
        The parts. The readout receives the whole list of layers.
    spec
        What the nodes carry, as :class:`spgnn_dgl.data.features.Encoder` writes it on a batch; None: dense features
        in ``ndata["x"]``.

    Shape
    -----
    encoded batch of B graphs → (B, C)
    """

    def __init__(self, convs: Sequence[Conv], readout: Readout, head: nn.Module, spec: InputSpec | None = None):
        super().__init__()
        self.spec = spec
        self.convs = nn.ModuleList(convs)
        self.readout = readout
        self.head = head

    @property
    def fold_at(self) -> float:
        """Share of nodes left up to which folded batches are the faster ones; 0 where a part cannot read them."""
        can = all(getattr(part, "folds", False) for part in (*self.convs, self.readout))
        return min(getattr(conv, "fold_at", Conv.fold_at) for conv in self.convs) if can else 0.0

    def layers(self, graph: Any) -> list[Tensor]:
        """[Z¹ … Z^L], each (N, d_l)."""
        return self.layers_of(graph, graph.ndata[DENSE] if self.spec is None else NodeInput.of(graph, self.spec))

    def layers_of(self, graph: Any, Z: Tensor | NodeInput) -> list[Tensor]:
        """[Z¹ … Z^L] from another Z⁰ than the one that the graph carries."""
        out: list[Any] = [Z]
        for conv in self.convs:
            out.append(conv(graph, out[-1]))
        return out[1:]

    def forward(self, graph: Any) -> Tensor:
        return self.scores(graph, self.layers(graph))

    def scores(self, graph: Any, layers: Sequence[Tensor]) -> Tensor:
        """(B, C) from [Z¹ … Z^L]: ``head(readout(graph, layers))``."""
        if isinstance(self.head, Head):
            return self.head.rest(self.readout.projected(graph, layers, self.head.first))
        return self.head(self.readout(graph, layers))

    def select(self, graph: Any) -> Selection:
        """The nodes that the readout keeps, per layer."""
        select = getattr(self.readout, "select", None)
        if select is None:
            raise OptionError(
                f"{type(self.readout).__name__} keeps no nodes, so there is nothing to select; "
                "use a sorting readout (WLSortPool, SortPool)."
            )
        return select(graph, self.layers(graph))
