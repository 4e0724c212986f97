"""Graph U-Nets' encoder: levels, what is read of them, options from JSON."""

from __future__ import annotations

import json

import numpy as np
import pytest
import torch

from spgnn_dgl.errors import OptionError
from spgnn_dgl.methods import make_method
from spgnn_dgl.nn.inputs import NodeInput
from tests.conftest import random_dataset


def test_levels_and_their_readouts():
    data = random_dataset(12, max_nodes=30)
    method = make_method("gpool", {"epochs": 1}).fit(data)
    net = method.net.eval()
    assert [None if level.pool is None else level.pool.ratio for level in net.levels] == [None, 0.9, 0.8, 0.7]
    graph = method.policy.encoder(data).batch(np.arange(len(data)))
    at, Z, readouts = graph, NodeInput.of(graph, net.spec), []
    with torch.no_grad():
        for level in net.levels:
            at, Z = level(at, Z)
            parts = torch.split(Z, at.batch_num_nodes().tolist())
            readouts.append(torch.stack([torch.cat([p.amax(0), p.sum(0), p.mean(0)]) for p in parts]))
        torch.testing.assert_close(net(graph), net.head(torch.cat(readouts, dim=1)), atol=1e-5, rtol=1e-5)
    assert at.num_nodes() < graph.num_nodes()


def test_ratios_survive_json():
    options = json.loads(json.dumps({"ratios": (0.5, 0.5), "epochs": 1}))
    assert len(make_method("gpool", options).fit(random_dataset(10)).net.levels) == 3


@pytest.mark.parametrize(
    "options",
    [
        {"ratios": 0.5},
        {"ratios": "0.9"},
        {"ratios": ["a"]},
        {"ratios": [0.5, 2]},
        {"ties": "x"},
        {"channels": 0},
        {"power": 0},
    ],
)
def test_wrong_options_are_refused(options):
    with pytest.raises(OptionError, match="was given"):
        make_method("gpool", options)
