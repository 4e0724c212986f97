"""PATCHY-SAN: a convolutional network over canonical receptive fields."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from spgnn_dgl.data.features import CODE, DENSE, Encoder, FeaturePolicy, InputSpec
from spgnn_dgl.data.store import DatasetInfo, GraphDataset
from spgnn_dgl.data.substructures.fields import import_igraph, receptive_fields
from spgnn_dgl.errors import OptionError
from spgnn_dgl.methods.base import METHODS, GNNMethod

FIRST, SECOND, FIELD, DENSE_UNITS = 16, 8, 10, 128  # channels, nodes per filter and hidden units of the paper


@dataclass(frozen=True)
class Fields:
    """A batch: w receptive fields of k nodes per graph."""

    codes: Tensor | None  # (B, w, k) int64; the number of codes where there is no node
    dense: Tensor | None  # (B, w, k, F) float32; 0 where there is no node

    def to(self, device: torch.device) -> Fields:
        return Fields(*(None if part is None else part.to(device) for part in (self.codes, self.dense)))


class FieldEncoder(Encoder):
    """Batches of a dataset as :class:`Fields`.

    Parameters
    ----------
    policy, data
        As for :class:`~spgnn_dgl.data.features.Encoder`.
    fields
        (G, w, k) node numbers inside the graphs of `data`, -1 where there is none.
    """

    def __init__(self, policy: FeaturePolicy, data: GraphDataset, fields: np.ndarray):
        super().__init__(policy, data)
        self.fields = fields

    def batch(self, indices: np.ndarray) -> Fields:
        graph = super().batch(indices)
        sizes = graph.batch_num_nodes()
        fields = torch.from_numpy(np.array(self.fields[indices], dtype=np.int64))  # (B, w, k)
        rows = torch.where(fields < 0, graph.num_nodes(), fields + (sizes.cumsum(0) - sizes)[:, None, None])
        codes = dense = None
        if CODE in graph.ndata:
            codes = F.pad(graph.ndata[CODE], (0, 1), value=self.policy.spec.num_codes)[rows]
        if DENSE in graph.ndata:
            dense = F.pad(graph.ndata[DENSE], (0, 0, 0, 1))[rows]
        return Fields(codes, dense)


class PatchyNet(nn.Module):
    """Two convolutions along the sequence of fields, a hidden layer, dropout.

    The first one has the size and the stride of a field: it is a linear map of each field, and that of one-hot codes
    is a sum of looked-up rows.

    Parameters
    ----------
    spec
        Input of a node.
    width, size
        Fields per graph, nodes per field.
    num_classes
        C.
    dropout
        Before the last layer.

    Shape
    -----
    Fields (B, w, k) → (B, C)
    """

    def __init__(self, spec: InputSpec, width: int, size: int, num_classes: int, dropout: float):
        super().__init__()
        self.spec, self.size = spec, size
        bound = math.sqrt(6 / (size * spec.dim + FIRST))  # Glorot
        self.weight = nn.Parameter(torch.empty(size, spec.dim, FIRST).uniform_(-bound, bound))
        if spec.num_codes > 1:
            with torch.no_grad():
                self.weight[:, spec.num_codes - 1] = 0.0  # a label never seen in training is neutral
        self.bias = nn.Parameter(torch.zeros(FIRST))
        self.second = nn.Conv1d(FIRST, SECOND, min(FIELD, width))
        self.hidden = nn.Linear(SECOND * (width - min(FIELD, width) + 1), DENSE_UNITS)
        self.dropout = nn.Dropout(dropout)
        self.output = nn.Linear(DENSE_UNITS, num_classes)

    def forward(self, fields: Fields) -> Tensor:
        out = F.relu(self.first(fields)).transpose(1, 2)  # (B, 16, w)
        out = F.relu(self.second(out)).flatten(1)  # (B, 8 · (w - 9))
        return self.output(self.dropout(F.relu(self.hidden(out))))  # (B, C)

    def first(self, fields: Fields) -> Tensor:
        """(B, w, 16)."""
        out: Tensor = self.bias
        V = self.spec.num_codes
        if fields.codes is not None:
            B, w, k = fields.codes.shape
            nobody = k * V
            position = torch.arange(k, device=fields.codes.device) * V
            rows = torch.where(fields.codes == V, nobody, fields.codes + position).view(B * w, k)
            table = F.pad(self.weight[:, :V].reshape(k * V, FIRST), (0, 0, 0, 1))
            out = out + F.embedding_bag(rows, table, mode="sum", padding_idx=nobody).view(B, w, FIRST)
        if fields.dense is not None:
            out = out + fields.dense.flatten(2) @ self.weight[:, V:].reshape(-1, FIRST)
        return out


@METHODS.register("pscn", "patchy-san", "patchysan")
class PatchySAN(GNNMethod):
    """PATCHY-SAN (PSCN): receptive fields in canonical order, then a 1-D convolutional network.

    Niepert, Ahmed, Kutzkov: *Learning Convolutional Neural Networks for Graphs*, ICML 2016.

    From each graph the w nodes of the first ranks, and around each of them the k nearest nodes in canonical order, are
    laid out as a sequence (:mod:`spgnn_dgl.data.substructures.fields`); convolutions of 16 and 8 channels, 128 hidden
    units and dropout 0.5 classify it. Node attributes and labels are read, edge labels are not.

    Parameters
    ----------
    width
        w; ``"auto"``: the average number of nodes of the training graphs.
    stride
        s: of the ranked nodes every s-th begins a field.
    size
        k, nodes of a receptive field, the centre among them.
    height
        Rounds of the Weisfeiler–Lehman labelling that ranks nodes.
    dropout
        Before the last layer.
    training
        features, degree_cap and the fields of :class:`~spgnn_dgl.training.TrainingOptions`.
    """

    kind = "two-phase"
    reference = "Niepert et al., ICML 2016"
    extra = "embeddings"
    epoch_candidates = (5, 10, 20, 50, 100, 200)  # its paper tunes them, and it soon knows a training set by heart
    training_defaults: ClassVar[dict[str, Any]] = {"epochs": 50}

    def __init__(
        self,
        *,
        width: int | str = "auto",
        stride: int = 1,
        size: int = 10,
        height: int = 3,
        dropout: float = 0.5,
        **training: Any,
    ):
        super().__init__(**training)
        if width != "auto" and (not isinstance(width, int) or width < 1):
            raise OptionError(f"width={width!r} was given; it is a number of nodes from 1, or 'auto'.")
        if stride < 1 or size < 1 or height < 0:
            raise OptionError(
                f"stride={stride}, size={size}, height={height} was given; stride and size must be at least 1, "
                "height at least 0."
            )
        self.width, self.stride, self.size, self.height, self.dropout = width, stride, size, height, dropout

    def resolve(self, info: DatasetInfo) -> dict[str, Any]:
        import_igraph()  # a missing package is told before the work begins
        return {"width": max(1, round(float(np.mean(info.node_counts)))) if self.width == "auto" else self.width}

    def build(self, info: DatasetInfo, spec: InputSpec) -> nn.Module:
        return PatchyNet(spec, self.resolved["width"], self.size, info.num_classes, self.dropout)

    def encoder(self, data: GraphDataset) -> Encoder:
        width = self.resolved["width"]
        fields = receptive_fields(
            data, self.policy.kind, width=(width - 1) * self.stride + 1, size=self.size, height=self.height
        )
        return FieldEncoder(self.policy, data, fields[:, :: self.stride])
