"""Segment operations against plain loops."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from spgnn_dgl.nn.ops import segment_max, segment_mean, segment_sum, sort_k, sum_rows, take_rows, top_k


def rows_and_sizes(seed: int, sizes: list[int], dim: int = 3, levels: int | None = None):
    """Random rows; with `levels`, few distinct values so that keys and channels tie often."""
    rng = np.random.default_rng(seed)
    total = sum(sizes)
    values = rng.normal(size=(total, dim)) if levels is None else rng.integers(-levels, levels + 1, (total, dim))
    return torch.tensor(values, dtype=torch.float32), torch.tensor(sizes)


def sorted_by_loop(rows: torch.Tensor, key: torch.Tensor, sizes: list[int], k: int) -> np.ndarray:
    """sort-k written down naively, for keys without ties."""
    out = np.zeros((len(sizes), k, rows.shape[1]), dtype=np.float32)
    start = 0
    for segment, size in enumerate(sizes):
        members = sorted(range(start, start + size), key=lambda i: -float(key[i]))
        for rank, node in enumerate(members[:k]):
            out[segment, rank] = rows[node].numpy()
        start += size
    return out


@given(st.lists(st.integers(1, 12), min_size=1, max_size=6), st.integers(1, 15), st.integers(0, 10_000))
@settings(deadline=None, max_examples=60)
def test_sort_k_is_the_naive_sort(sizes, k, seed):
    rows, lengths = rows_and_sizes(seed, sizes)
    kept, ids = sort_k(rows, rows[:, -1], lengths, k)
    np.testing.assert_array_equal(kept.numpy(), sorted_by_loop(rows, rows[:, -1], sizes, k))
    for segment, start in enumerate(np.cumsum([0, *sizes[:-1]])):
        expected = min(sizes[segment], k)
        assert (ids[segment, expected:] == -1).all()
        assert ((ids[segment, :expected] >= start) & (ids[segment, :expected] < start + sizes[segment])).all()
        torch.testing.assert_close(kept[segment, :expected], rows[ids[segment, :expected]], rtol=0, atol=0)


@given(st.lists(st.integers(1, 10), min_size=1, max_size=5), st.integers(1, 12), st.integers(0, 10_000))
@settings(deadline=None, max_examples=60)
def test_ties_are_broken_by_the_row_and_never_by_its_number(sizes, k, seed):
    """Shuffling the rows of each segment changes nothing, although keys tie everywhere, also at the cut."""
    rows, lengths = rows_and_sizes(seed, sizes, levels=1)
    rng = np.random.default_rng(seed + 1)
    starts = np.cumsum([0, *sizes[:-1]])
    shuffled = np.concatenate([start + rng.permutation(size) for start, size in zip(starts, sizes)])
    kept, _ = sort_k(rows, rows[:, -1], lengths, k)
    again, _ = sort_k(rows[shuffled], rows[shuffled][:, -1], lengths, k)
    torch.testing.assert_close(kept, again, rtol=0, atol=0)


def test_negative_keys_come_before_padding():
    rows = torch.tensor([[-3.0], [-1.0], [-2.0]])
    kept, ids = sort_k(rows, rows[:, 0], torch.tensor([2, 1]), k=3)
    assert kept.squeeze(-1).tolist() == [[-1.0, -3.0, 0.0], [-2.0, 0.0, 0.0]]
    assert ids.tolist() == [[1, 0, -1], [2, -1, -1]]


def test_infinite_keys_sort_like_any_other():
    rows = torch.tensor([[1.0], [float("inf")], [-float("inf")], [0.0], [-0.0]])
    _, ids = sort_k(torch.arange(5.0).unsqueeze(1), rows[:, 0], torch.tensor([5]), k=5)
    assert ids[0].tolist()[:2] == [1, 0]
    assert ids[0].tolist()[-1] == 2


def test_an_empty_segment_gives_zero_rows():
    kept, ids = sort_k(torch.ones(2, 2), torch.ones(2), torch.tensor([0, 2]), k=2)
    assert kept[0].abs().sum() == 0
    assert ids[0].tolist() == [-1, -1]


def test_sort_k_passes_gradients_to_the_kept_rows_only():
    rows = torch.tensor([[1.0, 5.0], [2.0, 9.0], [3.0, 7.0]], requires_grad=True)
    kept, _ = sort_k(rows, rows[:, 1], torch.tensor([3]), k=2)
    kept.pow(2).sum().backward()
    assert rows.grad is not None
    np.testing.assert_allclose(rows.grad.numpy(), [[0, 0], [4, 18], [6, 14]])


@given(st.lists(st.integers(0, 6), min_size=1, max_size=5), st.integers(1, 12), st.integers(0, 10_000))
@settings(deadline=None, max_examples=60)
def test_copies_of_a_row_count_as_so_many_rows(sizes, k, seed):
    rows, lengths = rows_and_sizes(seed, sizes)
    copies = np.random.default_rng(seed).integers(1, 4, sum(sizes))
    found = top_k(rows, rows[:, -1], lengths, k, copies=torch.from_numpy(copies))
    start = 0
    for segment, size in enumerate(sizes):
        members = sorted(range(start, start + size), key=lambda i: -float(rows[i, -1]))
        expected = [node for node in members for _ in range(copies[node])][:k]
        assert found[segment].tolist() == expected + [-1] * (k - len(expected))
        start += size


@pytest.mark.parametrize("repeated", [False, True])
def test_selected_rows_and_their_sums_by_loop(repeated):
    """Two layers of five rows; a place without a row has none in either layer."""
    rows = torch.randn(10, 3, dtype=torch.float64, requires_grad=True)
    ids = torch.tensor([[[0, 0, 4], [2, -1, -1]], [[7, 5, 5], [5, -1, -1]]])
    if not repeated:
        ids = torch.tensor([[[0, 1, 4], [2, -1, -1]], [[7, 5, 6], [9, -1, -1]]])
    weights = torch.randn(2, 2, 3, 3, dtype=torch.float64)  # of every selected number in what is differentiated
    taken = np.zeros((2, 2, 3, 3))
    for place in np.ndindex(2, 2, 3):
        if ids[place] >= 0:
            taken[place] = rows[ids[place]].detach().numpy()
    for found, plain, weight in (
        (take_rows(rows, ids, repeated=repeated), taken, weights),
        (sum_rows(rows, ids, repeated=repeated), taken.sum(0), weights[0]),
    ):
        np.testing.assert_allclose(found.detach().numpy(), plain, atol=1e-12)
        expected = np.zeros((10, 3))
        for place in np.ndindex(2, 2, 3):
            if ids[place] >= 0:
                expected[ids[place]] += weight.expand_as(weights)[place].numpy()
        (gradient,) = torch.autograd.grad((found * weight).sum(), rows)
        np.testing.assert_allclose(gradient.numpy(), expected, atol=1e-12)


@pytest.mark.parametrize(
    ("ours", "plain"),
    [(segment_sum, np.sum), (segment_mean, np.mean), (segment_max, np.max)],
    ids=["sum", "mean", "max"],
)
def test_segment_reductions(ours, plain):
    sizes = [3, 1, 5]
    rows, lengths = rows_and_sizes(0, sizes)
    expected = np.stack([plain(part, axis=0) for part in np.split(rows.numpy(), np.cumsum(sizes)[:-1])])
    np.testing.assert_allclose(ours(rows, lengths).numpy(), expected, rtol=1e-6)


@given(seed=st.integers(0, 1000), sizes=st.lists(st.integers(0, 6), min_size=1, max_size=6))
@settings(max_examples=30, deadline=None)
def test_sums_of_segments_and_their_gradient_by_loop(seed, sizes):
    rng = np.random.default_rng(seed)
    copies = rng.integers(1, 4, sum(sizes))
    rows, weights = rng.normal(size=(sum(sizes), 2, 3)), rng.normal(size=(len(sizes), 2, 3))
    sums, gradient = np.zeros_like(weights), np.zeros_like(rows)
    for row, segment in enumerate(np.repeat(np.arange(len(sizes)), sizes)):
        sums[segment] += copies[row] * rows[row]
        gradient[row] = copies[row] * weights[segment]
    flat = torch.tensor(rows.reshape(-1, 6), dtype=torch.float32, requires_grad=True)
    found = segment_sum(flat, torch.tensor(sizes), torch.from_numpy(copies))
    np.testing.assert_allclose(found.detach().numpy(), sums.reshape(-1, 6), atol=1e-5)
    found.backward(torch.tensor(weights.reshape(-1, 6), dtype=torch.float32))
    np.testing.assert_allclose(flat.grad.numpy(), gradient.reshape(-1, 6), atol=1e-5)
    # matrices in the place of rows, and whole numbers, which stay exact
    repeated = torch.from_numpy(rows).repeat_interleave(torch.from_numpy(copies), dim=0)
    segments = np.repeat(np.arange(len(sizes)), sizes)
    lengths = torch.from_numpy(np.bincount(segments, weights=copies, minlength=len(sizes))).long()
    np.testing.assert_allclose(segment_sum(repeated, lengths).numpy(), sums, atol=1e-12)
    large = torch.from_numpy(copies) + 2**40
    counted = [int(large[segments == segment].sum()) for segment in range(len(sizes))]
    assert segment_sum(large, torch.tensor(sizes)).tolist() == counted


@given(seed=st.integers(0, 1000), sizes=st.lists(st.integers(0, 6), min_size=1, max_size=6))
@settings(max_examples=30, deadline=None)
def test_the_gradient_of_a_maximum_goes_to_the_largest_rows_in_equal_parts(seed, sizes):
    rows, lengths = rows_and_sizes(seed, sizes, levels=1)  # many ties
    weights = torch.from_numpy(np.random.default_rng(seed).normal(size=(len(sizes), 3))).float()
    rows.requires_grad_()
    largest = segment_max(rows, lengths)
    (largest * weights).sum().backward()
    start = 0
    for segment, size in enumerate(sizes):
        part = rows.detach()[start : start + size].numpy()
        for channel in range(3):
            peak = part[:, channel].max() if size else 0.0
            winners = part[:, channel] == peak
            expected = winners * (weights[segment, channel].item() / max(winners.sum(), 1))
            assert largest[segment, channel] == peak
            np.testing.assert_allclose(rows.grad[start : start + size, channel].numpy(), expected, rtol=1e-6)
        start += size
