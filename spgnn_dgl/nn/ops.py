"""Pure tensor operations on *segments*: rows that belong to graphs of different sizes, one graph after the other."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

_LARGEST_INT32 = 2**31 - 1
_SCORE_BITS = 36  # of what breaks ties: as many as leave room for the numbers of run and row beside it


def segment_starts(sizes: Tensor) -> Tensor:
    """(B,) first row of every segment."""
    return sizes.cumsum(0) - sizes


def segment_ids(sizes: Tensor) -> Tensor:
    """(N,) number of the segment each row belongs to."""
    return torch.repeat_interleave(torch.arange(len(sizes), device=sizes.device), sizes)


def bag_sum(rows: Tensor, members: Tensor, starts: Tensor) -> Tensor:
    """(N, D) → (B, D): the sums of some rows, without a gradient; those who call it know a cheap one.

    Bag b sums the rows whose numbers stand in `members` from ``starts[b]`` up to the start of the next bag. An empty
    bag sums to zero. ``tools/bench.py sums`` compares it with DGL's sums, which take twice as long on a CPU.
    """
    # of a tensor that wants a gradient, PyTorch would prepare one, which takes as long as the sums
    return F.embedding_bag(members, rows.detach().contiguous(), starts, mode="sum")


def segment_sum(rows: Tensor, sizes: Tensor, copies: Tensor | None = None) -> Tensor:
    """(N, …) rows summed per segment, (B, …); an empty segment sums to zero. `copies` (N,): how often a row counts."""
    if copies is not None:
        rows = rows * copies.to(rows.dtype).unsqueeze(-1)
    if rows.is_floating_point():
        return _SegmentSum.apply(rows, sizes)
    return rows.new_zeros(len(sizes), *rows.shape[1:]).index_add_(0, segment_ids(sizes), rows)


class _SegmentSum(torch.autograd.Function):
    """The sums of segments; the gradient of a sum is that of each of its rows."""

    @staticmethod
    def forward(ctx: Any, rows: Tensor, sizes: Tensor) -> Tensor:
        ctx.sizes = sizes
        members = torch.arange(len(rows), device=rows.device)
        return bag_sum(rows.flatten(1), members, segment_starts(sizes)).view(len(sizes), *rows.shape[1:])

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None]:
        return grad.index_select(0, segment_ids(ctx.sizes)), None


def segment_mean(rows: Tensor, sizes: Tensor, copies: Tensor | None = None) -> Tensor:
    """(N, D) rows averaged per segment, (B, D). `copies` (N,): how often a row counts."""
    counts = sizes if copies is None else segment_sum(copies.unsqueeze(-1), sizes).squeeze(-1)
    return segment_sum(rows, sizes, copies) / counts.clamp(min=1).to(rows.dtype).unsqueeze(-1)


def segment_max(rows: Tensor, sizes: Tensor, copies: Tensor | None = None) -> Tensor:
    """(N, D) largest entry per segment and channel, (B, D); an empty segment gives zero; `copies` change nothing."""
    return _SegmentMax.apply(rows, sizes)


class _SegmentMax(torch.autograd.Function):
    """The largest entries; their gradient goes to those that are equal to them, in equal parts.

    PyTorch's own gradient of this reduction is the same, and takes three to five times as long.
    """

    @staticmethod
    def forward(ctx: Any, rows: Tensor, sizes: Tensor) -> Tensor:
        ids = segment_ids(sizes)  # (N,)
        index = ids.unsqueeze(-1).expand_as(rows)
        largest = rows.new_zeros(len(sizes), rows.shape[1])  # (B, D)
        largest.scatter_reduce_(0, index, rows, "amax", include_self=False)
        ctx.save_for_backward(rows, largest, ids)
        return largest

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None]:
        rows, largest, ids = ctx.saved_tensors
        wins = (rows == largest.index_select(0, ids)).to(grad.dtype)  # (N, D)
        counts = torch.zeros_like(grad).index_add_(0, ids, wins)  # (B, D); zero in an empty segment
        return wins.mul_((grad / counts).index_select(0, ids)), None


def descending_order(rows: Tensor | Sequence[Tensor], key: Tensor, sizes: Tensor) -> Tensor:
    """Order of the rows by descending `key` inside each segment, exact ties by the row itself.

    One sort over all segments: segment number, key and row number are packed into one 64-bit integer. Rows whose keys
    tie are ordered by :func:`_row_score`, a fixed linear functional of the row in double precision. It is continuous,
    so two different rows keep their order under the rounding noise of another summation order, where a lexicographic
    order need not; and rows it cannot tell apart agree to about 11 digits, so nobody can see which of them came first.

    The integers are computed in NumPy, on the CPU also for tensors of another device: thirty operations on a few
    thousand integers cost a third of the same in PyTorch, where starting each one takes longer than the work.

    Parameters
    ----------
    rows
        (N, D) what breaks ties; also in several blocks, which stand one after the other.
    key
        (N,) float32.
    sizes
        (B,) rows per segment.

    Returns
    -------
    Tensor
        (N,) row numbers, segment after segment.
    """
    lengths = sizes.cpu().numpy()
    segments = np.repeat(np.arange(len(lengths)), lengths)
    packed, order = _sorted(_pack(segments, _descending_bits(key), 32), bits=32 + len(lengths).bit_length())
    tied = np.zeros(len(order) + 1, dtype=bool)
    np.equal(packed[1:], packed[:-1], out=tied[1:-1])  # position i ties with the one before it
    positions = np.flatnonzero(tied[:-1] | tied[1:])  # (T,) … or with the one after it
    if len(positions):
        run = np.cumsum(~tied[positions])  # (T,) number of the run of ties
        nodes = order[positions]
        score = _row_score([rows] if isinstance(rows, Tensor) else rows, nodes)
        bits = _SCORE_BITS + int(run[-1]).bit_length()
        order[positions] = nodes[_sorted(_pack(run, score, _SCORE_BITS), bits)[1]]
    return torch.from_numpy(order).to(key.device)


def _sorted(values: np.ndarray, bits: int) -> tuple[np.ndarray, np.ndarray]:
    """Integers below 2**bits in ascending order, and where they stood."""
    below = len(values).bit_length()
    if bits + below > 63:
        order = values.argsort()
        return values[order], order
    numbered = _pack(values, np.arange(len(values)), below)  # sorting values takes a third of the time of argsort
    numbered.sort()
    return numbered >> below, numbered & ((1 << below) - 1)


def _pack(major: np.ndarray, minor: np.ndarray, bits: int) -> np.ndarray:
    """One sortable integer of two, the minor one below 2**bits."""
    return (major << bits) + minor


def _descending_bits(key: Tensor) -> np.ndarray:
    """Float32 as integers 0 … 2³² - 1 of the opposite order (negative floats have their magnitude bits flipped)."""
    bits = (key.detach().float().cpu().numpy() + np.float32(0)).view(np.int32)  # + 0: -0.0 and 0.0 are one key
    return _LARGEST_INT32 - (bits ^ ((bits >> 31) & _LARGEST_INT32)).astype(np.int64)


def _row_score(blocks: Sequence[Tensor], nodes: np.ndarray) -> np.ndarray:
    """(T,) integers of _SCORE_BITS bits for these rows, descending in a generic linear functional of the row."""
    ends = np.cumsum([len(rows) for rows in blocks])
    block_of = np.searchsorted(ends, nodes, side="right")
    score = np.empty(len(nodes))
    for number, rows in enumerate(blocks):
        here = np.flatnonzero(block_of == number)
        places = torch.from_numpy(nodes[here] - (ends[number] - len(rows))).to(rows.device)
        tied = rows.detach().index_select(0, places).cpu().numpy().astype(np.float64)
        score[here] = tied @ _generic_weights(rows.shape[1])
    score = score.max() - score
    spread = score.max()
    scale = (2**_SCORE_BITS - 1) / spread if spread > 1e-290 else 0.0
    return (score * scale).astype(np.int64)


@lru_cache(maxsize=64)
def _generic_weights(dim: int) -> np.ndarray:
    """(D,) float64 numbers without a simple linear relation: square roots of the odd numbers, alternating in sign."""
    index = np.arange(dim)
    return np.sqrt(2 * index + 3) * (1 - 2 * (index % 2))


def top_k(rows: Tensor | Sequence[Tensor], key: Tensor, sizes: Tensor, k: int, copies: Tensor | None = None) -> Tensor:
    """(B, k) numbers of the k rows of largest key of every segment, in descending order, -1 where it has fewer.

    Parameters as for :func:`descending_order`.

    With `copies` (N,) a row counts that many times: its number is repeated, and k is reached the sooner.
    """
    order, lengths = descending_order(rows, key, sizes).cpu().numpy(), sizes.cpu().numpy()
    if copies is not None:
        counts = copies.cpu().numpy()
        before = np.append(0, np.cumsum(counts))  # copies of the rows before each row
        ends = np.cumsum(lengths)
        order, lengths = np.repeat(order, counts[order]), before[ends] - before[ends - lengths]
    lengths, ranks = lengths[:, None], np.arange(k)
    places = np.cumsum(lengths)[:, None] - lengths + ranks  # (B, k)
    ids = np.append(order, -1)[np.where(ranks < lengths, places, len(order))]
    return torch.from_numpy(ids).to(key.device)


class _TakeRows(torch.autograd.Function):
    """A selection of rows. No row is taken twice, so its gradient is a selection as well and not a sum."""

    @staticmethod
    def forward(ctx: Any, rows: Tensor, ids: Tensor) -> Tensor:
        ctx.num_rows, ctx.ids = len(rows), ids.cpu().numpy()
        return _select(rows, ctx.ids)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None]:
        return _select(grad, _places(ctx.ids, ctx.num_rows)), None


def _places(ids: np.ndarray, num_rows: int) -> np.ndarray:
    """(num_rows,) where each row went, -1 where nowhere; the inverse of distinct `ids`."""
    places = np.full(num_rows + 1, -1)  # "no row", -1, writes to the last entry, which is dropped
    places[ids] = np.arange(len(ids))
    return places[:-1]


def _select(rows: Tensor, ids: np.ndarray) -> Tensor:
    """Rows by number, zeros for -1. (To gather rows takes a third of the time of scattering them.)"""
    if len(rows) == 0:
        return rows.new_zeros(len(ids), rows.shape[1])
    out = rows.index_select(0, torch.from_numpy(np.maximum(ids, 0)).to(rows.device))
    missing = np.flatnonzero(ids < 0)
    return out.index_fill_(0, torch.from_numpy(missing).to(rows.device), 0) if len(missing) else out


def take_rows(rows: Tensor, ids: Tensor, *, repeated: bool = False) -> Tensor:
    """(N, D) rows at `ids` (…), (…, D); zeros where the id is -1. A row may be taken twice only if `repeated`."""
    if repeated:
        with_zeros = F.pad(rows, (0, 0, 0, 1))  # the last row is the one that -1 names
        return with_zeros.index_select(0, (ids % len(with_zeros)).flatten()).view(*ids.shape, -1)
    return _TakeRows.apply(rows, ids.reshape(-1)).view(*ids.shape, rows.shape[1])


class _SumRows(torch.autograd.Function):
    """Sums of rows. The gradient of a sum is the gradient of each of its rows."""

    @staticmethod
    def forward(ctx: Any, rows: Tensor, ids: Tensor, repeated: bool) -> Tensor:
        ctx.num_rows, ctx.repeated, ctx.ids = len(rows), repeated, ids.flatten(1).cpu().numpy()  # (L, S)
        present = ctx.ids[0] >= 0
        count = len(ids) * present  # (S,) summands of each sum
        summands, starts = ctx.ids[:, present].T.ravel(), np.cumsum(count) - count
        summands, starts = (torch.from_numpy(numbers).to(rows.device) for numbers in (summands, starts))
        return bag_sum(rows, summands, starts).view(*ids.shape[1:], -1)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None, None]:
        grad = grad.flatten(0, -2)  # (S, D)
        if not ctx.repeated:
            places = _places(ctx.ids.ravel(), ctx.num_rows)
            return _select(grad, np.where(places < 0, -1, places % len(grad))), None, None
        total = grad.new_zeros(ctx.num_rows + 1, grad.shape[1])  # the last row is the one that -1 names
        for ids in ctx.ids:
            total.index_add_(0, torch.from_numpy(ids % len(total)).to(grad.device), grad)
        return total[:-1], None, None


def sum_rows(rows: Tensor, ids: Tensor, *, repeated: bool = False) -> Tensor:
    """(N, D) rows at `ids` (L, …), summed over the first dimension of `ids`: (…, D).

    An id of -1 adds nothing; it is -1 along all of the first dimension or nowhere. A row may be taken twice only if
    `repeated`.
    """
    return _SumRows.apply(rows, ids, repeated)


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
    ids = top_k(rows, key, sizes, k)
    return take_rows(rows, ids), ids
