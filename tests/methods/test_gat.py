"""GAT: four layers of four heads, sums of all layers side by side."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from spgnn_dgl.errors import OptionError
from spgnn_dgl.methods import make_method
from tests.conftest import random_dataset


def test_the_head_reads_the_sums_of_all_layers():
    data = random_dataset(10)
    method = make_method("gat", {"epochs": 1}).fit(data)
    net = method.net.eval()
    assert [(conv.out_dim, conv.heads) for conv in net.convs] == [(32, 4)] * 4
    graph = method.policy.encoder(data).batch(np.arange(len(data)))
    with torch.no_grad():
        layers = net.layers(graph)
        sizes = graph.batch_num_nodes().tolist()
        sums = [torch.stack([part.sum(0) for part in torch.split(Z, sizes)]) for Z in layers]
        torch.testing.assert_close(net(graph), net.head(torch.cat(sums, dim=1)), atol=1e-5, rtol=1e-5)


def test_wrong_options_are_refused():
    with pytest.raises(OptionError, match="was given"):
        make_method("gat", {"layers": 0})
    with pytest.raises(OptionError, match="multiple of the number of heads"):
        make_method("gat", {"channels": 30})
