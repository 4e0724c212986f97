"""DCNN."""

from __future__ import annotations

from typing import Any, ClassVar

from torch import nn

from spgnn_dgl.data.features import InputSpec
from spgnn_dgl.data.store import DatasetInfo
from spgnn_dgl.methods.base import METHODS, GNNMethod
from spgnn_dgl.nn.diffusion import DiffusionNet, check_diffusion


@METHODS.register("dcnn")
class DCNN(GNNMethod):
    """Diffusion-Convolutional Neural Network.

    Atwood and Towsley: *Diffusion-Convolutional Neural Networks*, NIPS 2016.

    The input of the nodes is spread by a random walk, pooled over the nodes of a graph for each number of steps,
    weighted, and classified linearly after tanh.

    Parameters
    ----------
    hops
        Numbers of steps that are looked at: 0 … `hops` - 1.
    pool
        Over the nodes: ``"mean"`` as in its paper, or ``"sum"``, as the row is called in the SPGNN paper's Table 2.
    """

    reference = "Atwood and Towsley, NIPS 2016"
    training_defaults: ClassVar[dict[str, Any]] = {"lr": 0.01}

    def __init__(self, *, hops: int = 4, pool: str = "mean", **training: Any):
        super().__init__(**training)
        check_diffusion(hops, pool)
        self.hops, self.pool = hops, pool

    def build(self, info: DatasetInfo, spec: InputSpec) -> nn.Module:
        return DiffusionNet(spec, info.num_classes, hops=self.hops, pool=self.pool)
