"""Ways to score the nodes of a graph: what the model pools, and what that must be compared with.

An explainer is a function ``(method, data, seed) -> scores``: an array (n,) per graph, larger is more important. A new
one is registered with ``@EXPLAINERS.register("name")``.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch

from spgnn_dgl.data.store import GraphDataset
from spgnn_dgl.data.substructures.wl import node_values
from spgnn_dgl.errors import OptionError
from spgnn_dgl.explain.selection import pooled
from spgnn_dgl.methods.base import GNNMethod, Method
from spgnn_dgl.nn.graphnet import GraphNet
from spgnn_dgl.nn.inputs import NodeInput
from spgnn_dgl.registry import Registry
from spgnn_dgl.training import batches

Explainer = Callable[[Method, GraphDataset, int], list[np.ndarray]]

EXPLAINERS: Registry[Explainer] = Registry("explainer")


@EXPLAINERS.register("pooled")
def pooled_score(method: Method, data: GraphDataset, seed: int = 0) -> list[np.ndarray]:
    """The rank of the paper's figure: layers that selected the node, then summed importance."""
    return [p.score.astype(np.float64) for p in pooled(method, data)]


@EXPLAINERS.register("random")
def random_score(method: Method, data: GraphDataset, seed: int = 0) -> list[np.ndarray]:
    """Chance."""
    rng = np.random.default_rng(seed)
    return [rng.permutation(size).astype(np.float64) for size in data.node_counts]


@EXPLAINERS.register("degree")
def degree_score(method: Method, data: GraphDataset, seed: int = 0) -> list[np.ndarray]:
    """The number of neighbours, whatever the model is."""
    return _per_graph(node_values(data, data.arrays.in_degrees).astype(np.float64), data)


@EXPLAINERS.register("saliency")
def saliency_score(method: Method, data: GraphDataset, seed: int = 0) -> list[np.ndarray]:
    r"""Input gradient: :math:`\lVert \partial s / \partial x_v \rVert`, with s the score of the predicted class.

    The input of a node is its one-hot label followed by its attributes.
    """
    if not (isinstance(method, GNNMethod) and isinstance(method.net, GraphNet)):
        raise OptionError(
            f"{type(method).__name__} has no input gradient that could be taken; leave the explainer 'saliency' out."
        )
    net, encoder = method.net, method.policy.encoder(data)
    net.eval()
    device = next(net.parameters()).device
    lengths = []
    for indices in batches(len(data), 50):
        graph = encoder.batch(indices).to(device)
        X = NodeInput.of(graph, method.policy.spec).matrix().requires_grad_()  # (N, dim)
        scores = net.scores(graph, net.layers_of(graph, X))  # (B, C)
        (gradient,) = torch.autograd.grad(scores.amax(dim=1).sum(), X)
        lengths.append(gradient.norm(dim=1).cpu().numpy().astype(np.float64))
    return _per_graph(np.concatenate(lengths), data)


def _per_graph(values: np.ndarray, data: GraphDataset) -> list[np.ndarray]:
    return np.split(values, np.cumsum(data.node_counts)[:-1])
