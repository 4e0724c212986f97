"""Batch norm over the nodes of a batch."""

from __future__ import annotations

import torch.nn.functional as F
from torch import Tensor, nn


class BatchNorm(nn.BatchNorm1d):
    """Batch norm that also takes a batch of a single node.

    One node has no variance. PyTorch raises an error there, in the middle of a training, when the last batch of an
    epoch happens to be one graph of one node; here such a batch is normalised by the running averages, as in
    evaluation.

    Shape
    -----
    (N, d) → (N, d)
    """

    def forward(self, X: Tensor) -> Tensor:
        if self.training and len(X) < 2:
            return F.batch_norm(X, self.running_mean, self.running_var, self.weight, self.bias, False, 0.0, self.eps)
        return super().forward(X)
