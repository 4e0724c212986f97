"""GIN's readout against a loop over graphs, with the input as a one-hot matrix."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from spgnn_dgl.data.features import FeaturePolicy
from spgnn_dgl.errors import OptionError
from spgnn_dgl.nn.inputs import NodeInput
from spgnn_dgl.nn.readout import JumpingReadout
from tests.conftest import random_dataset


def readout_graph_layers(pool="sum", kind="labels", dropout=0.5):
    torch.manual_seed(0)
    data = random_dataset(9, attributes=2)
    policy = FeaturePolicy.fit(data, kind)
    graph = policy.encoder(data).batch(np.arange(len(data)))
    readout = JumpingReadout(policy.spec, [4, 3], 2, pool=pool, dropout=dropout)
    for bias in (readout.input_bias, *(vote.bias for vote in readout.votes)):
        torch.nn.init.normal_(bias)
    return readout, graph, [torch.randn(graph.num_nodes(), d) for d in (4, 3)]


@pytest.mark.parametrize("kind", ["labels", "labels+attributes", "attributes"])
@pytest.mark.parametrize("pool", ["sum", "mean"])
def test_every_layer_votes_by_itself(pool, kind):
    readout, graph, layers = readout_graph_layers(pool, kind)
    got = readout.eval()(graph, layers)
    everything = [NodeInput.of(graph, readout.spec).matrix(), *layers]
    weights = [(readout.input.weight, readout.input_bias), *((v.weight, v.bias) for v in readout.votes)]
    start = 0
    for row, n in zip(got, graph.batch_num_nodes().tolist()):
        expected = torch.zeros(2)
        for Z, (W, b) in zip(everything, weights):
            nodes = Z[start : start + n]
            expected = expected + (nodes.sum(0) if pool == "sum" else nodes.mean(0)) @ W + b
        torch.testing.assert_close(row, expected, atol=1e-5, rtol=1e-5)
        start += n


def test_dropout_is_on_the_scores_of_each_layer():
    readout, graph, layers = readout_graph_layers(dropout=0.999)
    assert float((readout.train()(graph, layers) == 0).float().mean()) > 0.9
    assert (readout.eval()(graph, layers) != 0).all()


def test_an_unknown_pool_is_refused():
    with pytest.raises(OptionError, match="known: sum, mean"):
        JumpingReadout(readout_graph_layers()[0].spec, [4], 2, pool="max")
