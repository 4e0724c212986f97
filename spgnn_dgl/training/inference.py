"""Batches of a dataset, and what a trained network says of them."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from spgnn_dgl.data.features import Encoder
from spgnn_dgl.distributed import ALONE, Ranks


def batches(count: int, size: int, rng: np.random.Generator | None = None) -> Iterator[np.ndarray]:
    """Positions 0 … count-1 in batches; shuffled when a generator is given."""
    order = np.arange(count) if rng is None else rng.permutation(count)
    for start in range(0, count, size):
        yield order[start : start + size]


@torch.no_grad()
def scores(net: nn.Module, data: Encoder, batch_size: int = 50, ranks: Ranks = ALONE) -> Tensor:
    """(G, C) class scores in evaluation mode, on the CPU.

    Parameters
    ----------
    ranks
        Each takes some of the batches, and each receives all scores.
    """
    net.eval()
    device = next(net.parameters()).device
    if ranks.world == 1:
        return torch.cat([net(data.batch(i).to(device)).cpu() for i in batches(len(data.data), batch_size)])
    found = np.zeros((len(data.data), data.data.num_classes))
    for number, indices in enumerate(batches(len(data.data), batch_size)):
        if number % ranks.world == ranks.rank:
            found[indices] = net(data.batch(indices).to(device)).cpu().numpy()
    return torch.from_numpy(ranks.sum(found)).float()  # the others have added zeros


def probabilities(net: nn.Module, data: Encoder, batch_size: int = 50, ranks: Ranks = ALONE) -> np.ndarray:
    """(G, C) class probabilities; each row sums to one in float64."""
    return torch.softmax(scores(net, data, batch_size, ranks).double(), dim=1).numpy()


def evaluate(net: nn.Module, data: Encoder, batch_size: int = 50, ranks: Ranks = ALONE) -> tuple[float, float]:
    """Mean cross-entropy and accuracy."""
    output, labels = scores(net, data, batch_size, ranks), torch.from_numpy(data.data.labels)
    return float(F.cross_entropy(output, labels)), float((output.argmax(1) == labels).float().mean())
