"""A head's first map before sorting gives what it gives after: numbers and gradients."""

from __future__ import annotations

import pytest
import torch

from spgnn_dgl.nn import CNNHead, GraphNet, MLPHead
from spgnn_dgl.nn.inputs import Projection
from spgnn_dgl.nn.readout import SortPool, SumReadout, WLSortPool
from tests.conftest import random_dataset

READOUTS = {
    "WL-SortPool": (lambda dims: WLSortPool(dims, 12), [4, 4, 4]),
    "WL-SortPool, widths differ": (lambda dims: WLSortPool(dims, 12), [4, 3, 5]),
    "SortPool": (lambda dims: SortPool(dims, 12), [4, 4, 1]),
    "sum": (SumReadout, [4, 3, 5]),
}


def batch_and_layers(widths):
    """Graphs smaller and larger than k, among them one without edges and one of a single node."""
    graph = random_dataset(9, 3, max_nodes=25).batch(range(9))
    return graph, [torch.randn(graph.num_nodes(), width, requires_grad=True) for width in widths]


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("name", READOUTS)
def test_a_map_may_come_before_sorting(name, bias):
    torch.manual_seed(0)
    make, widths = READOUTS[name]
    readout, (graph, layers) = make(widths), batch_and_layers(widths)
    linear = Projection(readout.out_shape[-1], 6, bias=bias)
    if bias:
        torch.nn.init.normal_(linear.bias)
    found = readout.projected(graph, layers, linear)
    expected = torch.einsum("...d,de->...e", readout(graph, layers), linear.weight)
    expected = expected + linear.bias if bias else expected
    torch.testing.assert_close(found, expected, atol=1e-5, rtol=1e-5)
    weights, inputs = torch.randn_like(found), [*layers, *linear.parameters(), *readout.parameters()]
    for ours, theirs in zip(*(torch.autograd.grad((x * weights).sum(), inputs) for x in (found, expected))):
        torch.testing.assert_close(ours, theirs, atol=1e-4, rtol=1e-4)


@pytest.mark.parametrize(("name", "head"), [("WL-SortPool", CNNHead), ("SortPool", CNNHead), ("sum", MLPHead)])
def test_scores_are_head_after_readout(name, head):
    torch.manual_seed(0)
    make, widths = READOUTS[name]
    readout, (graph, layers) = make(widths), batch_and_layers(widths)
    net = GraphNet([], readout, head(readout.out_shape, 3)).eval()
    torch.testing.assert_close(net.scores(graph, layers), net.head(net.readout(graph, layers)), atol=1e-5, rtol=1e-5)


def test_a_head_of_ones_own_needs_no_first_map():
    readout, (graph, layers) = WLSortPool([4, 4], 12), batch_and_layers([4, 4])
    net = GraphNet([], readout, torch.nn.Flatten())
    assert torch.equal(net.scores(graph, layers), readout(graph, layers).flatten(1))
