"""GIN: its presets, what depends on the domain, its whole network against PyG."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import nn

from spgnn_dgl.data.store import GraphDataset
from spgnn_dgl.errors import OptionError
from spgnn_dgl.methods import make_method
from spgnn_dgl.modelfile import load_model, save_model
from spgnn_dgl.nn.inputs import NodeInput
from tests.conftest import random_dataset


def dataset(domain=None) -> GraphDataset:
    data = random_dataset(16)
    return GraphDataset(data.arrays, replace(data.meta, domain=domain))


@pytest.mark.parametrize(
    ("preset", "domain", "expected"),
    [
        ("paper", None, {"hidden": 32, "epsilon": "trained", "readout": "sum"}),
        ("paper", "social", {"hidden": 64, "epsilon": "trained", "readout": "sum"}),
        ("original", "bioinformatics", {"hidden": 32, "epsilon": "zero", "readout": "sum"}),
        ("original", "social", {"hidden": 64, "epsilon": "zero", "readout": "mean"}),
    ],
)
def test_presets(preset, domain, expected):
    method = make_method("gin", {"preset": preset})
    assert method.resolve(dataset(domain).info) == expected
    assert method.training.batch_size == (50 if preset == "paper" else 32)
    assert (method.training.epochs, method.training.lr, method.training.schedule) == (350, 0.01, "step")


def test_what_is_given_beats_the_preset():
    options = {"preset": "original", "hidden": 7, "epsilon": "trained", "readout": "sum", "batch_size": 9}
    method = make_method("gin", options)
    assert method.resolve(dataset("social").info) == {"hidden": 7, "epsilon": "trained", "readout": "sum"}
    assert method.training.batch_size == 9


def test_epsilon_is_trained_or_stays_zero():
    for epsilon, moves in (("trained", True), ("zero", False)):
        net = make_method("gin", {"epochs": 2, "epsilon": epsilon}).fit(dataset()).net
        assert all((float(conv.epsilon.detach()) != 0) == moves for conv in net.convs)


def test_a_saved_model_knows_its_domain(tmp_path):
    data = dataset("social")
    method = make_method("gin", {"epochs": 1}).fit(data)
    save_model(tmp_path / "gin.safetensors", method, "gin", {"epochs": 1}, {})
    loaded, _ = load_model(tmp_path / "gin.safetensors")
    assert loaded.fitted_options()["hidden"] == 64
    np.testing.assert_array_equal(loaded.predict_proba(data), method.predict_proba(data))


def test_the_network_is_the_original_one():
    """Every layer with PyG's GINConv and the MLP of the authors' code, on one-hot input, each layer voting."""
    pyg = pytest.importorskip("torch_geometric.nn", reason="torch_geometric is not installed (extra 'bench')")
    data = dataset()
    method = make_method("gin", {"epochs": 3}).fit(data)
    net = method.net.eval()
    graph = method.policy.encoder(data).batch(np.arange(len(data)))
    edges = torch.stack(graph.edges()).long()
    batch = torch.repeat_interleave(torch.arange(len(data)), graph.batch_num_nodes())
    Z = NodeInput.of(graph, net.spec).matrix()
    with torch.no_grad():
        readout = net.readout
        scores = pyg.global_add_pool(Z, batch) @ readout.input.weight + readout.input_bias
        for conv, vote in zip(net.convs, readout.votes):
            first, second = nn.Linear(*conv.first.weight.shape), nn.Linear(*conv.second.weight.shape)
            first.weight.data, first.bias.data = conv.first.weight.data.t(), conv.bias.data
            second.weight.data, second.bias.data = conv.second.weight.data.t(), conv.second.bias.data
            layer = pyg.GINConv(nn.Sequential(first, conv.norm1, nn.ReLU(), second), eps=float(conv.epsilon))
            Z = torch.relu(conv.norm2(layer(Z, edges)))
            scores = scores + pyg.global_add_pool(Z, batch) @ vote.weight + vote.bias
        torch.testing.assert_close(net(graph), scores, atol=1e-4, rtol=1e-4)
    assert len(net.convs) == 4


@pytest.mark.parametrize(
    "options",
    [{"preset": "ours"}, {"epsilon": 0.5}, {"readout": "max"}, {"hidden": 0}, {"hidden": "big"}, {"layers": 0}],
)
def test_wrong_options_are_refused(options):
    with pytest.raises(OptionError, match="was given"):
        make_method("gin", options)
