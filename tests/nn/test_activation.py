"""σ by name, against NumPy in double precision."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from spgnn_dgl.nn.activation import ACTIVATIONS, activation

PLAIN = {
    "relu": lambda x: np.maximum(x, 0),
    "tanh": lambda x: (np.exp(2 * x) - 1) / (np.exp(2 * x) + 1),
    "elu": lambda x: np.where(x > 0, x, np.exp(x) - 1),
    "leaky_relu": lambda x: np.where(x > 0, x, 0.01 * x),
    "identity": lambda x: x,
}


def test_every_activation_is_tested():
    assert set(ACTIVATIONS.names()) == set(PLAIN)


@pytest.mark.parametrize("in_place", [False, True])
@pytest.mark.parametrize("name", PLAIN)
def test_values_and_gradients(name, in_place):
    x = np.concatenate([np.linspace(-9, 9, 1001), [-1e-4, 1e-4]])
    expected, step = PLAIN[name](x), 1e-6
    slope = (PLAIN[name](x + step) - PLAIN[name](x - step)) / (2 * step)
    inputs = torch.tensor(x, dtype=torch.float32, requires_grad=True)
    given = inputs * 1.0  # a leaf cannot be overwritten
    found = activation(name, in_place=in_place)(given)
    np.testing.assert_allclose(found.detach().numpy(), expected, atol=1e-6)
    (gradient,) = torch.autograd.grad(found.sum(), inputs)
    away = np.abs(x) > 2 * step  # from the kink
    np.testing.assert_allclose(gradient.numpy()[away], slope[away], atol=1e-5)
    if not in_place:
        np.testing.assert_array_equal(given.detach().numpy(), x.astype(np.float32))


@pytest.mark.parametrize("sigma", ["tanh", "relu"])
def test_one_in_place_overwrites_what_it_is_given(sigma):
    given = torch.tensor([-2.0, 2.0])
    assert activation(sigma, in_place=True)(given).data_ptr() == given.data_ptr()


@pytest.mark.parametrize("in_place", [False, True])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
def test_tanh_of_a_view_whose_rows_lie_apart(in_place, dtype):
    whole = torch.randn(5, 8, dtype=dtype)
    before = whole.clone()
    found = activation("tanh", in_place=in_place)(whole[:, 2:5])
    assert found.dtype == dtype
    expected = PLAIN["tanh"](before.double().numpy()[:, 2:5])
    np.testing.assert_allclose(found.double().numpy(), expected, atol=1e-2 if dtype == torch.bfloat16 else 1e-6)
    assert torch.equal(whole[:, 5:], before[:, 5:])
