"""Batch norm: PyTorch's, and a batch of one node."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from spgnn_dgl.nn.norm import BatchNorm


def test_it_is_pytorchs_batch_norm():
    ours, theirs = BatchNorm(4), nn.BatchNorm1d(4)
    for rows in (7, 2):
        X = torch.randn(rows, 4)
        torch.testing.assert_close(ours(X), theirs(X))
    torch.testing.assert_close(ours.running_var, theirs.running_var)


def test_one_node_is_normalised_as_in_evaluation():
    norm = BatchNorm(4)
    norm(torch.randn(20, 4) * 3 + 1)
    before = norm.running_mean.clone()
    X = torch.randn(1, 4)
    with pytest.raises(ValueError, match="more than 1 value"):
        nn.BatchNorm1d(4)(X)
    trained = norm(X)
    assert torch.equal(norm.running_mean, before)
    torch.testing.assert_close(trained, norm.eval()(X))


def test_copies_count_as_so_many_nodes():
    ours, theirs = BatchNorm(4), nn.BatchNorm1d(4)
    X, copies = torch.randn(5, 4), torch.tensor([1, 3, 1, 2, 4])
    repeated = torch.repeat_interleave(torch.arange(5), copies)
    torch.testing.assert_close(ours(X, copies)[repeated], theirs(X[repeated]))
    torch.testing.assert_close(ours.running_mean, theirs.running_mean)
    torch.testing.assert_close(ours.running_var, theirs.running_var)
    lonely = BatchNorm(4)
    torch.testing.assert_close(lonely(X[:1], copies[:1]), lonely.eval()(X[:1]))
