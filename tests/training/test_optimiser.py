"""Adam on one flat vector: PyTorch's numbers, also when it goes on from a stored state."""

from __future__ import annotations

import json

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from spgnn_dgl.training import FlatAdam
from tests.conftest import random_dataset
from tests.training.networks import small_net, weights_of


def test_flat_adam_is_torchs_adam():
    data = random_dataset(20, 4)
    ours, train = small_net(data, dropout=0.0)
    theirs, _ = small_net(data, dropout=0.0)
    flat = FlatAdam(ours, lr=0.01, weight_decay=0.1)
    adam = torch.optim.Adam(theirs.parameters(), lr=0.01, weight_decay=0.1)
    labels = data.batch_labels(np.arange(20))
    for _ in range(5):
        for net in (ours, theirs):
            net.zero_grad()
            F.cross_entropy(net(train.batch(np.arange(20))), labels).backward()
        torch.nn.utils.clip_grad_norm_(theirs.parameters(), 0.5)
        flat.step(clip=0.5)
        adam.step()
    torch.testing.assert_close(weights_of(ours), weights_of(theirs), atol=1e-6, rtol=1e-4)


@pytest.mark.parametrize("schedule", ["constant", "cosine", "step"])
def test_an_optimiser_that_goes_on_from_its_state_is_the_same(schedule):
    torch.manual_seed(0)
    target = torch.randn(3, 4)

    def learn(net, optimiser, epochs):
        for _ in range(epochs):
            optimiser.zero_grad()
            (net(target) - target).square().sum().backward()
            optimiser.step()
            optimiser.end_epoch()

    def fresh():
        torch.manual_seed(1)
        net = torch.nn.Linear(4, 4)
        return net, FlatAdam(net, 0.01, 0.1, schedule=schedule, epochs=70)

    one, undisturbed = fresh()
    learn(one, undisturbed, 60)
    first, before = fresh()
    learn(first, before, 55)
    moments, values = before.state()
    second, after = fresh()
    second.load_state_dict(first.state_dict())
    after.restore(moments, json.loads(json.dumps(values)))
    learn(second, after, 5)
    assert torch.equal(weights_of(one), weights_of(second))
