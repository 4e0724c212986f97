"""SAGPool: both architectures, and that the hierarchical one gets smaller level by level."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from spgnn_dgl.errors import OptionError
from spgnn_dgl.methods import make_method
from spgnn_dgl.nn import GraphNet
from spgnn_dgl.nn.inputs import NodeInput
from spgnn_dgl.nn.poolnet import PoolNet
from tests.conftest import random_dataset


def test_both_variants_are_trained():
    data = random_dataset(12)
    nets = {v: make_method("sagpool", {"epochs": 1, "variant": v}).fit(data).net for v in ("hierarchical", "global")}
    assert isinstance(nets["hierarchical"], PoolNet)
    assert len(nets["hierarchical"].levels) == 3
    assert isinstance(nets["global"], GraphNet)
    assert nets["global"].readout.out_shape == (2 * 3 * 128,)


def test_levels_keep_the_share_that_was_asked_for():
    data = random_dataset(12, max_nodes=40)
    method = make_method("sagpool", {"epochs": 1, "ratio": 0.3, "ties": "cut"}).fit(data)
    graph = method.policy.encoder(data).batch(np.arange(len(data)))
    sizes = graph.batch_num_nodes().numpy()
    Z = NodeInput.of(graph, method.net.spec)
    with torch.no_grad():
        for level in method.net.levels:
            graph, Z = level(graph, Z)
            sizes = np.ceil(0.3 * sizes - 1e-9).astype(int)
            assert graph.batch_num_nodes().tolist() == sizes.tolist()


@pytest.mark.parametrize(
    "options", [{"variant": "local"}, {"ratio": 0}, {"ratio": 1.2}, {"ties": "split"}, {"layers": 0}, {"channels": 1}]
)
def test_wrong_options_are_refused(options):
    with pytest.raises(OptionError, match="was given"):
        make_method("sagpool", options)


def test_a_slip_of_the_pen_is_answered():
    with pytest.raises(OptionError, match="Did you mean 'hierarchical'"):
        make_method("sagpool", {"variant": "hierarchic"})
