"""Heads: from a graph's representation to class scores."""

from __future__ import annotations

import abc
from typing import Any

import torch
from torch import Tensor, nn

from spgnn_dgl.errors import OptionError
from spgnn_dgl.nn.inputs import Projection


class _Windows(torch.autograd.Function):
    """All windows of `width` consecutive rows. Its own backward: `unfold`'s is slower by a multiple."""

    @staticmethod
    def forward(ctx: Any, X: Tensor, width: int) -> Tensor:
        B, length, channels = X.shape
        ctx.shape, ctx.width = X.shape, width
        X = X.contiguous()
        steps = (length * channels, channels, 1)
        return X.as_strided((B, length - width + 1, width * channels), steps).contiguous()

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None]:
        _, length, channels = ctx.shape
        count = length - ctx.width + 1
        back = grad.new_zeros(ctx.shape)
        for offset in range(ctx.width):
            back[:, offset : offset + count] += grad[:, :, offset * channels : (offset + 1) * channels]
        return back, None


class _MaxOfPairs(torch.autograd.Function):
    """MaxPool1d(2, 2) along dimension 1; of equal entries the first gets the gradient, as in PyTorch's own."""

    @staticmethod
    def forward(ctx: Any, X: Tensor) -> Tensor:
        half = X.shape[1] // 2
        first, second = X[:, 0 : 2 * half : 2], X[:, 1 : 2 * half : 2]
        ctx.shape = X.shape
        ctx.save_for_backward(first >= second)
        return torch.maximum(first, second)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Tensor:
        (first_wins,) = ctx.saved_tensors
        half = grad.shape[1]
        back = grad.new_zeros(ctx.shape)
        to_first = grad * first_wins
        back[:, 0 : 2 * half : 2] = to_first
        back[:, 1 : 2 * half : 2] = grad - to_first
        return back


class Dropout(nn.Module):
    """Inverted dropout. PyTorch draws its mask with `bernoulli_`, ten times slower on a CPU than uniform numbers."""

    def __init__(self, p: float):
        super().__init__()
        if not 0 <= p < 1:
            raise OptionError(f"dropout={p} was given; it must be at least 0 and below 1.")
        self.p = p

    def forward(self, X: Tensor) -> Tensor:
        if not self.training or self.p == 0:
            return X
        return X * ((torch.rand_like(X) >= self.p) * (1 / (1 - self.p)))

    def extra_repr(self) -> str:
        return f"p={self.p}"


class Head(nn.Module, abc.ABC):
    """A linear map of every row, `first`, and the `rest`.

    The two are apart because a readout may have a cheaper way to the first
    (:meth:`~spgnn_dgl.nn.readout.Readout.projected`).
    """

    @property
    @abc.abstractmethod
    def first(self) -> Projection:
        """The linear map that the head begins with."""

    @abc.abstractmethod
    def rest(self, X: Tensor) -> Tensor:
        """From what the first map gives to class scores, (B, C)."""

    def forward(self, Z_G: Tensor) -> Tensor:
        return self.rest(self.first(Z_G))


class CNNHead(Head):
    r"""The CNN that reads pooled nodes in order. Paper, Sec. 4.2 and supplement.

    Conv1d(1→16, filter = stride = D) · σ · MaxPool(2, 2) · Conv1d(16→32, 5, 1) · σ · flatten · Linear 100 · ReLU ·
    dropout · Linear C.

    A convolution whose filter equals its stride is a linear map of each row, and the second one is a linear map of
    each window of five rows; both are computed as such, which gives the same numbers at a third of the time.
    The paper writes the filter as 32×4 = 128; with the importance channel its width is 33×4 = 132, so it is derived
    from the readout.

    Parameters
    ----------
    in_shape
        (k, D) of the readout; k must be at least 10, or nothing is left for the second filter.
    num_classes
        C.
    hidden
        Width of the hidden layer: 100 in the paper, 128 in DGCNN.
    dropout
        Before the last layer.

    Shape
    -----
    (B, k, D) → (B, C)
    """

    CHANNELS, WIDTH = (16, 32), 5

    def __init__(self, in_shape: tuple[int, ...], num_classes: int, *, hidden: int = 100, dropout: float = 0.5):
        super().__init__()
        k, dim = in_shape
        smallest = 2 * self.WIDTH
        if k < smallest:
            raise OptionError(
                f"k={k} was given, but the CNN head needs k >= {smallest}: after pooling by two, its second filter "
                f"is {self.WIDTH} wide. Choose a larger k, or a readout that sums."
            )
        first, second = self.CHANNELS
        self.filter1 = Projection(dim, first)
        self.filter2 = Projection(self.WIDTH * first, second)
        self.hidden = Projection((k // 2 - self.WIDTH + 1) * second, hidden)
        self.dropout = Dropout(dropout)
        self.out = Projection(hidden, num_classes)

    @property
    def first(self) -> Projection:
        return self.filter1

    def rest(self, X: Tensor) -> Tensor:  # (B, k, 16)
        B = len(X)
        X = torch.relu(_MaxOfPairs.apply(X))  # (B, k/2, 16); σ is monotone, so it may come after the maximum
        X = _Windows.apply(X, self.WIDTH)  # (B, k/2 - 4, 80)
        X = torch.relu(self.filter2(X.flatten(0, 1)))  # (B·(k/2 - 4), 32)
        X = torch.relu(self.hidden(X.view(B, -1)))  # (B, hidden)
        return self.out(self.dropout(X))  # (B, C)


class MLPHead(Head):
    """Linear · ReLU · dropout · Linear, for readouts that give one vector per graph.

    Shape
    -----
    (B, D) → (B, C)
    """

    def __init__(self, in_shape: tuple[int, ...], num_classes: int, *, hidden: int = 100, dropout: float = 0.5):
        super().__init__()
        (dim,) = in_shape
        self.hidden = Projection(dim, hidden)
        self.dropout = Dropout(dropout)
        self.out = Projection(hidden, num_classes)

    @property
    def first(self) -> Projection:
        return self.hidden

    def rest(self, X: Tensor) -> Tensor:  # (B, hidden)
        return self.out(self.dropout(torch.relu(X)))


def head_for(out_shape: tuple[int, ...], num_classes: int, *, dropout: float = 0.5) -> Head:
    """The head that fits a readout: a CNN over an ordered list of nodes, an MLP over one vector."""
    if len(out_shape) == 2:
        return CNNHead(out_shape, num_classes, dropout=dropout)
    return MLPHead(out_shape, num_classes, dropout=dropout)
