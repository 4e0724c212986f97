"""Small networks to train."""

from __future__ import annotations

import torch

from spgnn_dgl.data.features import FeaturePolicy
from spgnn_dgl.methods import make_method
from spgnn_dgl.training import seeded


def small_net(data, seed=0, **options):
    method = make_method("spgnn", {"k": 10, "channels": 8, **options})
    method.resolved = {"k": 10}
    policy = FeaturePolicy.fit(data)
    with seeded(seed):
        return method.build(data.info, policy.spec), policy.encoder(data)


def weights_of(net) -> torch.Tensor:
    return torch.cat([p.detach().reshape(-1) for p in net.parameters()])
