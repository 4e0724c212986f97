"""SPGNN as one would write it with DGL's or PyG's own parts: what our training step is measured against.

Same layers, widths and k as ours. Each peer sorts with what its library offers (``dgl.topk_nodes``,
``SortAggregation``), batches with its library's loader and classifies with ``Conv1d`` as the paper words it.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from spgnn_dgl._dgl import dgl
from spgnn_dgl.data.features import CODE, FeaturePolicy
from spgnn_dgl.data.store import GraphDataset

LAYERS, CHANNELS, HIDDEN = 4, 32, 16
SIGMA = torch.tanh  # of the convolutions, as `spgnn` has it


class ConvHead(nn.Module):
    """The paper's CNN with ``nn.Conv1d`` and ``nn.MaxPool1d``."""

    def __init__(self, k: int, dim: int, num_classes: int):
        super().__init__()
        self.conv1 = nn.Conv1d(1, 16, dim, stride=dim)
        self.pool = nn.MaxPool1d(2, 2)
        self.conv2 = nn.Conv1d(16, 32, 5)
        self.mlp = nn.Sequential(
            nn.Linear((k // 2 - 4) * 32, 100), nn.ReLU(), nn.Dropout(0.5), nn.Linear(100, num_classes)
        )

    def forward(self, Z_G: Tensor) -> Tensor:  # (B, k, D)
        X = self.pool(torch.relu(self.conv1(Z_G.reshape(len(Z_G), 1, -1))))
        return self.mlp(torch.relu(self.conv2(X)).flatten(1))


class _PeerNet(nn.Module):
    """The layers common to both peers: linear maps, importance MLPs and head."""

    def __init__(self, in_dim: int, num_classes: int, k: int):
        super().__init__()
        dims = [in_dim] + [CHANNELS] * LAYERS
        self.k = k
        self.W = nn.ModuleList(nn.Linear(dims[i], CHANNELS) for i in range(LAYERS))
        self.M = nn.ModuleList(nn.Linear(2 * CHANNELS, CHANNELS) for _ in range(LAYERS))
        self.importance = nn.ModuleList(
            nn.Sequential(nn.Linear(CHANNELS, HIDDEN), nn.ReLU(), nn.Linear(HIDDEN, 1)) for _ in range(LAYERS)
        )
        self.head = ConvHead(k, LAYERS * (CHANNELS + 1), num_classes)


class DGLNet(_PeerNet):
    """SPGNN from DGL's own parts: ``update_all`` with fused functions, ``dgl.topk_nodes``."""

    def forward(self, graph: Any, Z: Tensor) -> Tensor:
        pooled = []
        with graph.local_scope():
            for W, M, importance in zip(self.W, self.M, self.importance):
                Y = SIGMA(W(Z))
                graph.ndata["Y"] = Y
                graph.update_all(dgl.function.copy_u("Y", "m"), dgl.function.sum("m", "P"))
                Z = SIGMA(M(torch.cat([Y, graph.ndata["P"]], dim=1)))
                graph.ndata["H"] = torch.cat([Z, importance(Z)], dim=1)
                pooled.append(dgl.topk_nodes(graph, "H", self.k, sortby=-1)[0])
        return self.head(torch.cat(pooled, dim=2))


class PyGNet(_PeerNet):
    """SPGNN from PyG's own parts: ``SimpleConv``, ``SortAggregation``."""

    def __init__(self, in_dim: int, num_classes: int, k: int):
        super().__init__(in_dim, num_classes, k)
        from torch_geometric.nn import SimpleConv, SortAggregation

        self.propagate = SimpleConv(aggr="sum")
        self.sort = SortAggregation(k)

    def forward(self, batch: Any) -> Tensor:
        Z, pooled = batch.x, []
        for W, M, importance in zip(self.W, self.M, self.importance):
            Y = SIGMA(W(Z))
            Z = SIGMA(M(torch.cat([Y, self.propagate(Y, batch.edge_index)], dim=1)))
            pooled.append(self.sort(torch.cat([Z, importance(Z)], dim=1), batch.batch).view(-1, self.k, CHANNELS + 1))
        return self.head(torch.cat(pooled, dim=2))


def _one_hot(data: GraphDataset, policy: FeaturePolicy, index: int) -> tuple[Any, Tensor]:
    graph = policy.encoder(data).batch(np.array([index]))
    return graph, F.one_hot(graph.ndata[CODE], policy.spec.num_codes).float()


def _step(net: nn.Module, scores: Callable[[Any], Tensor], batches: Iterator[tuple[Any, Tensor]]) -> Callable[[], None]:
    """One optimiser step on the next batch, batching included."""
    optimiser = torch.optim.Adam(net.parameters(), lr=1e-3)

    def step() -> None:
        batch, labels = next(batches)
        optimiser.zero_grad()
        F.cross_entropy(scores(batch), labels).backward()
        optimiser.step()

    return step


def dgl_step(data: GraphDataset, k: int, batch_size: int) -> Callable[[], None]:
    """A training step of the DGL peer, fed by ``GraphDataLoader``."""
    policy = FeaturePolicy.fit(data)
    graphs = []
    for i in range(len(data)):
        graph, features = _one_hot(data, policy, i)
        plain = dgl.graph(graph.edges(), num_nodes=graph.num_nodes())
        plain.ndata["x"] = features
        graphs.append((plain, int(data.labels[i])))
    net = DGLNet(policy.spec.dim, data.num_classes, k)
    loader = dgl.dataloading.GraphDataLoader(graphs, batch_size=batch_size, shuffle=True, drop_last=True)
    endless = itertools.chain.from_iterable(itertools.repeat(loader))
    return _step(net, lambda graph: net(graph, graph.ndata["x"]), endless)


def pyg_step(data: GraphDataset, k: int, batch_size: int) -> Callable[[], None]:
    """A training step of the PyG peer, fed by its ``DataLoader``."""
    from torch_geometric.data import Data
    from torch_geometric.loader import DataLoader

    policy = FeaturePolicy.fit(data)
    graphs = []
    for i in range(len(data)):
        graph, features = _one_hot(data, policy, i)
        edges = torch.stack(graph.edges()).long()
        graphs.append(Data(x=features, edge_index=edges, y=torch.tensor([int(data.labels[i])])))
    net = PyGNet(policy.spec.dim, data.num_classes, k)
    loader = DataLoader(graphs, batch_size=batch_size, shuffle=True, drop_last=True)
    endless = itertools.chain.from_iterable(itertools.repeat(loader))
    return _step(net, net, ((batch, batch.y) for batch in endless))
