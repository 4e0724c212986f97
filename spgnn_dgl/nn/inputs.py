"""Node input without a one-hot matrix, and the linear map that takes it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from spgnn_dgl.data.features import CODE, DENSE, InputSpec


@dataclass(frozen=True)
class NodeInput:
    """Z⁰: for each node a one-hot code, dense features, or both side by side. The one-hot part stays a code."""

    spec: InputSpec
    codes: Tensor | None  # (N,) int64
    dense: Tensor | None  # (N, F) float32

    @classmethod
    def of(cls, graph: Any, spec: InputSpec) -> NodeInput:
        """Read what :class:`spgnn_dgl.data.features.Encoder` wrote on a batch."""
        return cls(
            spec,
            graph.ndata[CODE] if spec.num_codes else None,
            graph.ndata[DENSE] if spec.num_dense else None,
        )

    def matrix(self) -> Tensor:
        """(N, dim) as a dense matrix, for methods that cannot do without."""
        parts = []
        if self.codes is not None:
            parts.append(F.one_hot(self.codes, self.spec.num_codes).float())
        if self.dense is not None:
            parts.append(self.dense)
        return torch.cat(parts, dim=1)


class Projection(nn.Module):
    r"""The linear map :math:`ZW + b`, with W of shape (in, out) as the paper writes it.

    For a :class:`NodeInput` the product of a one-hot row with W is a row of W: it is looked up, not multiplied.
    The row of the code "other" starts at zero, so that a label never seen in training is neutral and not random.

    Parameters
    ----------
    in_dim
        Width of Z, or the :class:`~spgnn_dgl.data.features.InputSpec` of a node input.
    out_dim
        Width of the result.
    bias
        Whether to add b.

    Shape
    -----
    (…, in) → (…, out), NodeInput → (N, out)
    """

    def __init__(self, in_dim: int | InputSpec, out_dim: int, *, bias: bool = True):
        super().__init__()
        self.spec = in_dim if isinstance(in_dim, InputSpec) else InputSpec(0, in_dim)
        self.weight = nn.Parameter(torch.empty(self.spec.dim, out_dim))
        self.bias = nn.Parameter(torch.zeros(out_dim)) if bias else None
        self.reset_parameters()

    def reset_parameters(self) -> None:
        nn.init.xavier_uniform_(self.weight)
        if self.bias is not None:
            nn.init.zeros_(self.bias)
        if self.spec.num_codes > 1:
            with torch.no_grad():
                self.weight[self.spec.num_codes - 1] = 0.0

    def forward(self, Z: Tensor | NodeInput) -> Tensor:
        if isinstance(Z, Tensor):
            if Z.dim() > 2:
                return self(Z.flatten(0, -2)).view(*Z.shape[:-1], -1)
            return Z @ self.weight if self.bias is None else torch.addmm(self.bias, Z, self.weight)
        if Z.codes is None:
            return self(Z.dense)
        rows = self.table().index_select(0, Z.codes)  # whose gradient takes a fifth of the time of F.embedding's
        return rows if Z.dense is None else rows + Z.dense @ self.weight[self.spec.num_codes :]

    def table(self) -> Tensor:
        """(codes, out): what the map makes of each code. The bias is added here, once per code and not per node."""
        weight = self.weight[: self.spec.num_codes]
        return weight if self.bias is None else weight + self.bias

    def extra_repr(self) -> str:
        return f"{self.spec.dim}, {self.weight.shape[1]}, bias={self.bias is not None}"
