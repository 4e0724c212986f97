"""Pure tensor operations on *segments*: rows that belong to graphs of different sizes, one graph after the other."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

_LARGEST_INT32 = 2**31 - 1


def segment_starts(sizes: Tensor) -> Tensor:
    """(B,) first row of every segment."""
    return sizes.cumsum(0) - sizes


def segment_ids(sizes: Tensor) -> Tensor:
    """(N,) number of the segment each row belongs to."""
    return torch.repeat_interleave(torch.arange(len(sizes), device=sizes.device), sizes)


def segment_sum(rows: Tensor, sizes: Tensor) -> Tensor:
    """(N, D) rows summed per segment, (B, D); an empty segment sums to zero."""
    return rows.new_zeros(len(sizes), *rows.shape[1:]).index_add_(0, segment_ids(sizes), rows)


def segment_mean(rows: Tensor, sizes: Tensor) -> Tensor:
    """(N, D) rows averaged per segment, (B, D)."""
    return segment_sum(rows, sizes) / sizes.clamp(min=1).to(rows.dtype).unsqueeze(-1)


def segment_max(rows: Tensor, sizes: Tensor) -> Tensor:
    """(N, D) largest entry per segment and channel, (B, D); an empty segment gives zero."""
    index = segment_ids(sizes).unsqueeze(-1).expand_as(rows)
    return rows.new_zeros(len(sizes), rows.shape[1]).scatter_reduce(0, index, rows, "amax", include_self=False)


def descending_order(rows: Tensor, key: Tensor, sizes: Tensor) -> Tensor:
    """Order of the rows by descending `key` inside each segment, exact ties by the row itself.

    One sort over all segments: segment number and key are packed into one 64-bit integer. Rows whose keys tie are
    ordered by :func:`_row_score`, a fixed linear functional of the row in double precision. It is continuous, so two
    different rows keep their order under the rounding noise of another summation order, where a lexicographic order
    need not; and rows it cannot tell apart agree to about 12 digits, so nobody can see which of them came first.

    Parameters
    ----------
    rows
        (N, D) what breaks ties.
    key
        (N,) float32.
    sizes
        (B,) rows per segment.

    Returns
    -------
    Tensor
        (N,) row numbers, segment after segment.
    """
    rows, key = rows.detach(), key.detach()
    packed, order = _pack(segment_ids(sizes), _LARGEST_INT32 - _monotone_bits(key), 32).sort()
    tied = packed[1:] == packed[:-1]  # (N - 1,) position i ties with i + 1
    after = F.pad(tied, (1, 0))  # (N,) position ties with the one before it
    positions = (after | F.pad(tied, (0, 1))).nonzero().squeeze(1)  # (T,)
    if len(positions):
        run = (~after[positions]).cumsum(0)  # (T,) number of the run of ties
        nodes = order[positions]
        order[positions] = nodes[_pack(run, _row_score(rows[nodes]), 40).argsort()]
    return order


def _pack(major: Tensor, minor: Tensor, bits: int) -> Tensor:
    """One sortable integer of two, the minor one below 2**bits."""
    return (major << bits) + minor


def _monotone_bits(key: Tensor) -> Tensor:
    """Float32 as integers of the same order (negative floats have their magnitude bits flipped)."""
    bits = (key.float() + 0.0).view(torch.int32)  # + 0.0: -0.0 and 0.0 are one key
    return (bits ^ ((bits >> 31) & _LARGEST_INT32)).long()


def _row_score(rows: Tensor) -> Tensor:
    """(T, D) → (T,) integers 0 … 2⁴⁰ - 1, descending in a generic linear functional of the row."""
    score = rows.double() @ _generic_weights(rows.shape[1], rows.device)
    low, high = score.aminmax()
    return ((high - score) * ((2**40 - 1) / (high - low).clamp(min=1e-300))).long()


@lru_cache(maxsize=64)
def _generic_weights(dim: int, device: torch.device) -> Tensor:
    """(D,) float64 numbers without a simple linear relation: square roots of the odd numbers, alternating in sign."""
    index = torch.arange(dim, dtype=torch.float64, device=device)
    return (2 * index + 3).sqrt() * (1 - 2 * (index % 2))


def first_k(order: Tensor, sizes: Tensor, k: int) -> tuple[Tensor, Tensor]:
    """The first k rows of every segment of an order: row numbers, and the slots b·k + rank they go to.

    Both (Σ min(n, k),): a segment of fewer than k rows leaves its last slots free.
    """
    rank = torch.arange(k, device=order.device)
    slots = (rank < sizes.unsqueeze(1)).view(-1).nonzero().squeeze(1)
    return order[(segment_starts(sizes).unsqueeze(1) + rank).view(-1)[slots]], slots


class _KeepRows(torch.autograd.Function):
    """Copy rows to slots of a zero tensor. No row is kept twice, so its gradient is a copy back and not a sum."""

    @staticmethod
    def forward(ctx: Any, rows: Tensor, kept: Tensor, slots: Tensor, num_slots: int) -> Tensor:
        ctx.save_for_backward(kept, slots)
        ctx.num_rows = len(rows)
        out = rows.new_zeros(num_slots, rows.shape[1])
        return out.index_copy_(0, slots, rows.index_select(0, kept))

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None, None, None]:
        kept, slots = ctx.saved_tensors
        back = grad.new_zeros(ctx.num_rows, grad.shape[1])
        return back.index_copy_(0, kept, grad.index_select(0, slots)), None, None, None


def keep_rows(rows: Tensor, kept: Tensor, slots: Tensor, num_slots: int) -> Tensor:
    """(N, D) → (num_slots, D): row ``kept[i]`` at ``slots[i]``, zeros elsewhere. No row may be kept twice."""
    return _KeepRows.apply(rows, kept, slots, num_slots)


def sort_k(rows: Tensor, key: Tensor, sizes: Tensor, k: int) -> tuple[Tensor, Tensor]:
    """The k rows of largest key of every segment, in descending order: *sort-k* of the paper.

    Segments shorter than k are completed with zero rows *after* sorting, so that a negative key never loses to
    padding. Exact ties are broken by the row, also at the cut (:func:`descending_order`).

    Parameters
    ----------
    rows
        (N, D) all segments, one after the other.
    key
        (N,) what is sorted by.
    sizes
        (B,) rows per segment, on the device of `rows`.
    k
        Rows to keep.

    Returns
    -------
    kept
        (B, k, D), differentiable in `rows`.
    ids
        (B, k) row numbers, -1 where padded.

    Examples
    --------
    >>> rows = torch.tensor([[1.], [3.], [2.], [5.]])
    >>> kept, ids = sort_k(rows, rows[:, 0], torch.tensor([3, 1]), k=2)
    >>> kept.squeeze(-1).tolist(), ids.tolist()
    ([[3.0, 2.0], [5.0, 0.0]], [[1, 2], [3, -1]])
    """
    kept, slots = first_k(descending_order(rows, key, sizes), sizes, k)
    shape = (len(sizes), k)
    return keep_rows(rows, kept, slots, len(sizes) * k).view(*shape, -1), slot_ids(kept, slots, shape)


def slot_ids(kept: Tensor, slots: Tensor, shape: tuple[int, ...]) -> Tensor:
    """The kept row numbers in a tensor of that shape, -1 in free slots."""
    ids = kept.new_full((math.prod(shape),), -1)
    ids[slots] = kept
    return ids.view(shape)
