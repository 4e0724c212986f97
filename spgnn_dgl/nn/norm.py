"""Batch norm over the nodes of a batch."""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from spgnn_dgl.distributed import ALONE, Ranks


class BatchNorm(nn.BatchNorm1d):
    """Batch norm that also takes a batch of a single node, and one that is spread over ranks.

    One node has no variance. PyTorch raises an error there, in the middle of a training, when the last batch of an
    epoch happens to be one graph of one node; here such a batch is normalised by the running averages, as in
    evaluation.

    Where each rank has a share of the batch, mean and variance are those of the whole batch. (PyTorch's
    ``SyncBatchNorm`` does the same, on GPUs only.)

    In a folded batch (:mod:`spgnn_dgl.data.folding`) a node counts as often as it has copies.

    Shape
    -----
    (N, d), copies (N,) or None → (N, d)
    """

    ranks: Ranks = ALONE
    """Those that the present batch is spread over; see :func:`synchronise`."""

    def forward(self, X: Tensor, copies: Tensor | None = None) -> Tensor:
        if not self.training:
            return super().forward(X)
        if self.ranks.world == 1:
            if (len(X) if copies is None else int(copies.sum())) < 2:
                averages = self.running_mean, self.running_var
                return F.batch_norm(X, *averages, self.weight, self.bias, False, 0.0, self.eps)
            if copies is None:
                return super().forward(X)
        # every rank has a node at least, so that there are two or more
        counts = X.new_ones(len(X)) if copies is None else copies.to(X.dtype)  # (N,)
        count = self.ranks.sum_tensor(counts.sum())
        normalised, mean, variance = _Normalise.apply(X, counts / count, self.eps, self.ranks)
        with torch.no_grad():
            self.num_batches_tracked.add_(1)  # type: ignore[union-attr]
            self.running_mean.lerp_(mean, self.momentum)  # type: ignore[union-attr, arg-type]
            self.running_var.lerp_(variance * (count / (count - 1)), self.momentum)  # type: ignore[union-attr, arg-type]
        return torch.addcmul(self.bias, normalised, self.weight)


class _Normalise(torch.autograd.Function):
    r"""X minus its mean, divided by its deviation, where row i has a share w_i in both; also mean and variance.

    With :math:`\hat X` the result, s the deviation, G its gradient and sums over the rows of all ranks, the gradient
    is :math:`\big(G_i - w_i \sum_j G_j - w_i \hat X_i \sum_j G_j \hat X_j\big) / s`.
    """

    @staticmethod
    def forward(ctx: Any, X: Tensor, shares: Tensor, eps: float, ranks: Ranks) -> tuple[Tensor, Tensor, Tensor]:
        mean = ranks.sum_tensor(shares @ X)  # (d,)
        centred = X - mean
        variance = ranks.sum_tensor(shares @ centred.square())
        inverse = torch.rsqrt(variance + eps)
        normalised = centred.mul_(inverse)
        ctx.save_for_backward(normalised, shares, inverse)
        ctx.ranks = ranks
        ctx.mark_non_differentiable(mean, variance)
        return normalised, mean, variance

    @staticmethod
    def backward(ctx: Any, grad: Tensor, *_: Any) -> tuple[Tensor, None, None, None]:
        normalised, shares, inverse = ctx.saved_tensors
        sums = ctx.ranks.sum_tensor(torch.stack([grad.sum(0), (grad * normalised).sum(0)]))  # (2, d)
        common = torch.addcmul(sums[0], normalised, sums[1]).mul_(shares.unsqueeze(1))
        return (grad - common).mul_(inverse), None, None, None


class NoNorm(nn.Module):
    """In the place of a batch norm where there is none."""

    def forward(self, X: Tensor, copies: Tensor | None = None) -> Tensor:
        return X


def synchronise(net: nn.Module, ranks: Ranks) -> None:
    """Tell the batch norms of a network which ranks its next batches are spread over."""
    for module in net.modules():
        if isinstance(module, BatchNorm):
            module.ranks = ranks
