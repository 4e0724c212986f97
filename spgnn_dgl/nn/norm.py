"""Batch norm over the nodes of a batch."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from spgnn_dgl.distributed import ALONE, Ranks, SumOverRanks


class BatchNorm(nn.BatchNorm1d):
    """Batch norm that also takes a batch of a single node, and one that is spread over ranks.

    One node has no variance. PyTorch raises an error there, in the middle of a training, when the last batch of an
    epoch happens to be one graph of one node; here such a batch is normalised by the running averages, as in
    evaluation.

    Where each rank has a share of the batch, mean and variance are those of the whole batch. (PyTorch's
    ``SyncBatchNorm`` does the same, on GPUs only.)

    Shape
    -----
    (N, d) → (N, d)
    """

    ranks: Ranks = ALONE
    """Those that the present batch is spread over; see :func:`synchronise`."""

    def forward(self, X: Tensor) -> Tensor:
        if self.training and self.ranks.world > 1:
            return self._of_all_ranks(X)
        if self.training and len(X) < 2:
            return F.batch_norm(X, self.running_mean, self.running_var, self.weight, self.bias, False, 0.0, self.eps)
        return super().forward(X)

    def _of_all_ranks(self, X: Tensor) -> Tensor:
        """As above; every rank has a node at least, so that there are two or more."""
        sums = SumOverRanks.apply(torch.cat([X.sum(0), X.new_tensor([len(X)])]))  # (d + 1,)
        count = sums[-1].detach()
        mean = sums[:-1] / count
        centred = X - mean  # (N, d)
        variance = SumOverRanks.apply(centred.square().sum(0)) / count  # (d,)
        with torch.no_grad():
            self.num_batches_tracked.add_(1)  # type: ignore[union-attr]
            self.running_mean.lerp_(mean, self.momentum)  # type: ignore[union-attr, arg-type]
            unbiased = variance * (count / (count - 1))
            self.running_var.lerp_(unbiased, self.momentum)  # type: ignore[union-attr, arg-type]
        return centred * torch.rsqrt(variance + self.eps) * self.weight + self.bias


def synchronise(net: nn.Module, ranks: Ranks) -> None:
    """Tell the batch norms of a network which ranks its next batches are spread over."""
    for module in net.modules():
        if isinstance(module, BatchNorm):
            module.ranks = ranks
