"""GIN."""

from __future__ import annotations

from typing import Any, ClassVar

from torch import nn

from spgnn_dgl.data.features import InputSpec
from spgnn_dgl.data.store import DatasetInfo
from spgnn_dgl.errors import OptionError
from spgnn_dgl.methods.base import METHODS, GNNMethod
from spgnn_dgl.nn.conv.base import stack
from spgnn_dgl.nn.conv.gin import GINConv
from spgnn_dgl.nn.graphnet import GraphNet
from spgnn_dgl.nn.readout.jumping import JumpingReadout

PRESETS = ("paper", "original")
EPSILON = ("auto", "trained", "zero")
READOUT = ("auto", "sum", "mean")


@METHODS.register("gin")
class GIN(GNNMethod):
    """Graph Isomorphism Network: sums over neighbours through MLPs, every layer votes.

    Xu, Hu, Leskovec, Jegelka: *How Powerful are Graph Neural Networks?*, ICLR 2019.

    Four convolutions with batch norm; the nodes of each layer and of the input are summed up and classified linearly,
    and the scores added. Adam with a learning rate of 0.01, halved every 50 epochs.

    Parameters
    ----------
    preset
        ``"paper"``: as the SPGNN paper compares it, ε trained (its Eq. 2), nodes summed up, batches of 50.
        ``"original"``: as its authors report it, ε = 0 (GIN-0), nodes averaged in social sets, batches of 32. (Their
        epoch is 50 random batches; here it is one pass over the graphs.)
    layers
        Convolutions.
    hidden
        Channels; ``"auto"`` is 64 for social graphs and 32 for others.
    epsilon
        ``"trained"``, ``"zero"``, or ``"auto"``: as the preset says.
    readout
        ``"sum"``, ``"mean"``, or ``"auto"``: as the preset says.
    dropout
        On the scores of each layer.
    """

    reference = "Xu et al., ICLR 2019"
    epoch_candidates = (50, 100, 150, 200, 250, 300, 350)
    training_defaults: ClassVar[dict[str, Any]] = {"epochs": 350, "lr": 0.01, "schedule": "step"}

    def __init__(
        self,
        *,
        preset: str = "paper",
        layers: int = 4,
        hidden: int | str = "auto",
        epsilon: str = "auto",
        readout: str = "auto",
        dropout: float = 0.5,
        **training: Any,
    ):
        if preset == "original":
            training.setdefault("batch_size", 32)
        super().__init__(**training)
        for name, value, known in (
            ("preset", preset, PRESETS),
            ("epsilon", epsilon, EPSILON),
            ("readout", readout, READOUT),
        ):
            if value not in known:
                raise OptionError(f"{name}={value!r} was given; known: {', '.join(known)}.")
        if layers < 1:
            raise OptionError(f"layers={layers} was given; it must be at least 1.")
        if not (hidden == "auto" or (isinstance(hidden, int) and hidden >= 1)):
            raise OptionError(f"hidden={hidden!r} was given; it is a number of channels, or 'auto'.")
        self.preset, self.layers, self.hidden = preset, layers, hidden
        self.epsilon, self.readout, self.dropout = epsilon, readout, dropout

    def resolve(self, info: DatasetInfo) -> dict[str, Any]:
        social, original = info.domain == "social", self.preset == "original"
        automatic = {
            "hidden": 64 if social else 32,
            "epsilon": "zero" if original else "trained",
            "readout": "mean" if original and social else "sum",
        }
        chosen = {name: getattr(self, name) for name in automatic}
        return {name: automatic[name] if value == "auto" else value for name, value in chosen.items()}

    def build(self, info: DatasetInfo, spec: InputSpec) -> nn.Module:
        dims = [self.resolved["hidden"]] * self.layers
        convs = stack(GINConv, spec, dims, learn_epsilon=self.resolved["epsilon"] == "trained", batch_norm=True)
        readout = JumpingReadout(spec, dims, info.num_classes, pool=self.resolved["readout"], dropout=self.dropout)
        return GraphNet(convs, readout, nn.Identity(), spec)
