"""The heads against PyTorch's own convolution and pooling layers."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from spgnn_dgl.errors import OptionError
from spgnn_dgl.nn.head import CNNHead, Dropout, MLPHead, head_for


@pytest.mark.parametrize("k", [10, 11, 30])
def test_cnn_head_is_the_papers_conv1d_network(k):
    """Same numbers and gradients as Conv1d · MaxPool1d · Conv1d with the same weights."""
    torch.manual_seed(0)
    head = CNNHead((k, 12), 3, dropout=0.0)
    conv1, conv2 = nn.Conv1d(1, 16, 12, stride=12), nn.Conv1d(16, 32, 5)
    width = k // 2 - 4
    with torch.no_grad():
        conv1.weight.copy_(head.filter1.weight.t().unsqueeze(1))
        conv1.bias.copy_(head.filter1.bias.normal_())
        conv2.weight.copy_(head.filter2.weight.view(5, 16, 32).permute(2, 1, 0))
        conv2.bias.copy_(head.filter2.bias.normal_())
    ours, theirs = (
        torch.randn(4, k, 12, generator=torch.Generator().manual_seed(1)).requires_grad_() for _ in range(2)
    )
    X = torch.relu(conv2(nn.MaxPool1d(2, 2)(torch.relu(conv1(theirs.reshape(4, 1, -1))))))  # (4, 32, width)
    X = torch.relu(head.hidden(X.transpose(1, 2).reshape(4, width * 32)))  # ours flattens row by row
    expected = head.out(X)
    torch.testing.assert_close(head(ours), expected, atol=1e-5, rtol=1e-5)
    head(ours).pow(2).sum().backward()
    expected.pow(2).sum().backward()
    torch.testing.assert_close(ours.grad, theirs.grad, atol=1e-5, rtol=1e-4)


def test_cnn_head_refuses_k_below_ten():
    with pytest.raises(OptionError, match="k=9 was given, but the CNN head needs k >= 10"):
        CNNHead((9, 132), 2)


def test_the_head_follows_from_the_readouts_shape():
    assert isinstance(head_for((30, 132), 2), CNNHead)
    assert isinstance(head_for((128,), 2), MLPHead)
    assert head_for((128,), 5)(torch.zeros(3, 128)).shape == (3, 5)


def test_dropout_keeps_the_expectation_and_is_off_in_evaluation():
    torch.manual_seed(0)
    dropout, X = Dropout(0.3), torch.ones(20_000)
    out = dropout(X)
    assert abs(float((out == 0).float().mean()) - 0.3) < 0.02
    assert abs(float(out.mean()) - 1.0) < 0.02
    assert torch.equal(dropout.eval()(X), X)
    with pytest.raises(OptionError, match=r"dropout=1\.5"):
        Dropout(1.5)
