"""Sentinels: what silently spoils an experiment, measured in every training and told by name.

Each has a name, a measured value, and a limit above (or below) which it is a warning in the report and in
``results.json``. The limits are not science; they say from where on a reader should know.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F

from spgnn_dgl.data.store import GraphDataset
from spgnn_dgl.methods.base import GNNMethod, Method
from spgnn_dgl.training import batches, seeded

SAMPLE = 200  # training graphs looked at for importance, ties and gradient
FLAT = 1e-6  # an importance that varies less is no ranking; a gradient norm below does not learn
SAME = 1e-4  # representations that differ less are the same but for rounding


@dataclass(frozen=True)
class Sentinel:
    """One thing to watch.

    Parameters
    ----------
    name
        As it stands in ``results.json``.
    trips
        Whether the measures of one training are a warning.
    says
        The warning, given the measures of the trainings that tripped and the number of all.
    """

    name: str
    trips: Callable[[dict[str, Any]], bool]
    says: str
    key: str  # of the measure it is about


def _above(key: str, limit: float) -> Callable[[dict[str, Any]], bool]:
    return lambda measures: measures.get(key) is not None and measures[key] > limit


def _below(key: str, limit: float) -> Callable[[dict[str, Any]], bool]:
    return lambda measures: measures.get(key) is not None and measures[key] < limit


CUT_LIMIT, TIES_LIMIT, UNSEEN_LIMIT = 0.25, 0.05, 0.01

SENTINELS = (
    Sentinel(
        "constant-predictor",
        lambda m: bool(m.get("constant")),
        "every tested graph got the same class: the accuracy is that of guessing it",
        "constant",
    ),
    Sentinel(
        "train-accuracy-at-chance",
        lambda m: bool(m.get("at_chance")),
        "the accuracy on the training graphs is not above the share of their largest class: nothing was learned",
        "train_accuracy",
    ),
    Sentinel(
        "loss-not-finite",
        lambda m: bool(m.get("failed")),
        "the training broke off because the loss was not finite; the fold has no prediction",
        "failed",
    ),
    Sentinel(
        "importance-without-variance",
        _below("importance_spread", FLAT),
        "in a layer all nodes have the same importance: the order of its nodes is the tie-breaking rule alone",
        "importance_spread",
    ),
    Sentinel(
        "importance-without-gradient",
        _below("importance_gradient", FLAT),
        "the importance of a layer receives no gradient: it cannot be learned",
        "importance_gradient",
    ),
    Sentinel(
        "nodes-cut-by-k",
        _above("cut_share", CUT_LIMIT),
        f"more than {CUT_LIMIT:.0%} of the training nodes are beyond the k that are kept",
        "cut_share",
    ),
    Sentinel(
        "ties-at-the-cut",
        _above("tie_share", TIES_LIMIT),
        f"in more than {TIES_LIMIT:.0%} of the graphs larger than k, different nodes have the same importance at the "
        "cut: the tie-breaking rule decides there, and not what was learned",
        "tie_share",
    ),
    Sentinel(
        "unseen-labels",
        _above("unseen_share", UNSEEN_LIMIT),
        f"more than {UNSEEN_LIMIT:.0%} of the tested nodes have a label or degree that training never saw",
        "unseen_share",
    ),
)


def measure(method: Method, train: GraphDataset, tested: GraphDataset) -> dict[str, Any]:
    """Measures of one fitted method, as JSON values; what a method does not have is left out."""
    measures: dict[str, Any] = {}
    counts = np.bincount(train.labels, minlength=train.num_classes)
    majority = counts.max() / len(train)
    sample = train.subset(np.linspace(0, len(train) - 1, min(SAMPLE, len(train))).astype(np.int64))
    history = getattr(method, "history", None)
    accuracy = history[-1].accuracy if history else float(np.mean(method.predict(sample) == sample.labels))
    seen = len(train) if history else len(sample)
    measures["train_accuracy"] = float(accuracy)
    # one standard error: a predictor that guesses is above it by luck one time in six
    measures["at_chance"] = bool(accuracy <= majority + np.sqrt(majority * (1 - majority) / seen))
    if not isinstance(method, GNNMethod):
        return measures
    measures["unseen_share"] = _unseen(method, tested)
    k = method.fitted_options().get("k")
    if isinstance(k, int):
        sizes = train.node_counts
        measures["cut_share"] = float(np.maximum(sizes - k, 0).sum() / max(1, sizes.sum()))
    readout = getattr(method.net, "readout", None)
    if hasattr(readout, "select") and isinstance(k, int):
        measures |= _selection(method, sample, k)
    modules = getattr(readout, "importance", None)
    if isinstance(modules, torch.nn.ModuleList):
        measures["importance_gradient"] = _gradient(method, modules, sample)
    return measures


def _unseen(method: GNNMethod, tested: GraphDataset) -> float:
    """Share of the tested nodes, all graphs together, that are encoded as "other"."""
    counts = tested.node_counts
    return float(method.policy.encoder(tested).unseen_shares() @ counts / max(1, counts.sum()))


@torch.no_grad()
def _selection(method: GNNMethod, sample: GraphDataset, k: int) -> dict[str, Any]:
    """How much importance varies inside a graph, and in how many graphs it leaves the cut at k undecided.

    The spread is relative to the size of the values (equal rows may differ in their last bits), averaged over graphs,
    and that of the layer where it is smallest. A tie counts where a kept and a dropped node have the same importance
    but *different* representations; nodes with equal ones are interchangeable, and which of them is kept is all the
    same.
    """
    net: Any = method.net  # with layers and a readout that selects
    encoder = method.policy.encoder(sample)
    net.eval()
    spreads, ties, larger = [], 0, 0
    for indices in batches(len(sample), method.training.batch_size):
        graph = encoder.batch(indices).to(next(net.parameters()).device)
        layers = net.layers(graph)
        selection = net.readout.select(graph, layers)
        if len(selection.nodes) != len(layers):  # one order for all layers
            layers = [torch.cat(list(layers), dim=1)]
        importance, first = selection.importance.double(), 0
        for number, size in enumerate(graph.batch_num_nodes().tolist()):
            inside = slice(first, first + size)
            if size > 1:
                values = importance[:, inside]  # (L, n)
                spreads.append(values.std(dim=1, correction=0) / (1 + values.abs().mean(dim=1)))
            if size > k:
                larger += 1
                ties += any(_undecided(Z[inside], v[inside], kept[number] - first)
                            for Z, v, kept in zip(layers, importance, selection.nodes))  # fmt: skip
            first += size
    measures: dict[str, Any] = {}
    if spreads:
        measures["importance_spread"] = float(torch.stack(spreads).mean(dim=0).min())
    if larger:
        measures["tie_share"] = ties / larger
    return measures


def _undecided(Z: torch.Tensor, importance: torch.Tensor, kept: torch.Tensor) -> bool:
    """Whether the nodes with the importance of the last kept one are not all kept, and not all alike."""
    last = kept[-1]
    tied = importance == importance[last]
    all_kept = int(tied.sum()) == int(tied[kept].sum())
    return not all_kept and bool(((Z[tied] - Z[last]).abs() > SAME * (1 + Z[last].abs())).any())


def _gradient(method: GNNMethod, modules: torch.nn.ModuleList, sample: GraphDataset) -> float:
    """Smallest gradient norm of the importance MLPs over layers, on one batch, without dropout."""
    net, encoder = method.net, method.policy.encoder(sample)
    indices = np.arange(min(len(sample), method.training.batch_size))
    device = next(net.parameters()).device
    net.eval()
    with seeded(0), torch.enable_grad():
        loss = F.cross_entropy(net(encoder.batch(indices).to(device)), sample.batch_labels(indices).to(device))
        norms = []
        for module in modules:
            gradients = torch.autograd.grad(loss, list(module.parameters()), retain_graph=True, allow_unused=True)
            norms.append(
                float(torch.stack([g.norm() if g is not None else loss.new_zeros(()) for g in gradients]).norm())
            )
    return min(norms)


def warnings(measured: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """The sentinels that tripped in at least one training.

    Parameters
    ----------
    measured
        The measures of every final training, those of a broken one being ``{"failed": True}``.

    Returns
    -------
    list of dict
        `name`, `trainings` (how many tripped), `of` (how many there are), `worst` (the measured value), `message`.
    """
    found = []
    for sentinel in SENTINELS:
        tripped = [m for m in measured if sentinel.trips(m)]
        if tripped:
            values = [float(m[sentinel.key]) for m in tripped]
            lowest = sentinel.key.startswith("importance") or sentinel.key == "train_accuracy"
            found.append(
                {
                    "name": sentinel.name,
                    "trainings": len(tripped),
                    "of": len(measured),
                    "worst": min(values) if lowest else max(values),
                    "message": sentinel.says,
                }
            )
    return found
