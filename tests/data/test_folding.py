"""Folded graphs against a plain refinement, and what networks compute on them against the graphs as they are."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from spgnn_dgl.data import as_dataset, folding
from spgnn_dgl.data.features import FeaturePolicy
from spgnn_dgl.data.folding import COUNTS, REVERSE_COUNTS, FoldedArrays, fold, fold_where_it_pays
from spgnn_dgl.data.readers.graphs import from_graphs
from spgnn_dgl.data.store import GraphDataset
from spgnn_dgl.methods import make_method
from spgnn_dgl.nn import CatAggConv, GraphNet, WLSortPool


def plain_classes(graph: nx.Graph, first: dict) -> dict:
    """Colour refinement with tuples, until nothing is split any more."""
    colour = dict(first)
    while True:
        finer = {v: (colour[v], tuple(sorted(repr(colour[u]) for u in graph[v]))) for v in graph}
        names = {name: number for number, name in enumerate(sorted(set(finer.values()), key=repr))}
        finer_numbers = {v: names[finer[v]] for v in graph}
        if len(names) == len(set(colour.values())):
            return finer_numbers
        colour = finer_numbers


def some_graphs(seed: int, count: int = 6) -> list[nx.Graph]:
    """Graphs with many equivalent nodes, and some without."""
    rng = np.random.default_rng(seed)
    made = []
    for _ in range(count):
        kind = rng.integers(5)
        if kind == 0:
            graph = nx.star_graph(int(rng.integers(1, 9)))
        elif kind == 1:
            graph = nx.random_labeled_tree(int(rng.integers(2, 20)), seed=int(rng.integers(1 << 30)))
        elif kind == 2:
            graph = nx.barbell_graph(int(rng.integers(3, 6)), int(rng.integers(0, 3)))
        elif kind == 3:
            graph = nx.gnp_random_graph(int(rng.integers(1, 14)), 0.3, seed=int(rng.integers(1 << 30)))
        else:
            graph = nx.complete_multipartite_graph(*rng.integers(1, 4, 3).tolist())
        nx.set_node_attributes(graph, {v: int(rng.integers(2)) for v in graph} if rng.integers(2) else 0, "label")
        made.append(graph)
    return made


def dataset(seed: int, count: int = 6) -> GraphDataset:
    return as_dataset(some_graphs(seed, count), [i % 2 for i in range(count)])


@given(st.integers(0, 10_000))
@settings(deadline=None, max_examples=40)
def test_classes_and_counts_are_those_of_plain_refinement(seed):
    graphs = some_graphs(seed)
    folded = fold(from_graphs(graphs, node_label="label"))
    assert isinstance(folded.arrays, FoldedArrays)
    for position, graph in enumerate(graphs):
        classes = plain_classes(graph, nx.get_node_attributes(graph, "label"))
        expected = []  # of every class: how many, their degree, and (size of another class, neighbours in it)
        for number in set(classes.values()):
            members = [v for v in graph if classes[v] == number]
            around = [classes[u] for u in graph[members[0]]]
            sizes = sorted((list(classes.values()).count(c), around.count(c)) for c in set(around))
            expected.append((len(members), graph.degree(members[0]), sizes))
        batch, _ = folded[position]
        copies, degrees = batch.ndata["copies"].tolist(), batch.ndata["degree"].tolist()
        source, target = (ends.tolist() for ends in batch.edges())
        found = []
        for node, (copy, degree) in enumerate(zip(copies, degrees)):
            edges = [e for e in range(len(target)) if target[e] == node]
            found.append((copy, degree, sorted((copies[source[e]], int(batch.edata[COUNTS][e])) for e in edges)))
        assert sorted(found) == sorted(expected)


def test_reverse_counts_are_the_transposed_matrix():
    batch = fold(dataset(3, 30)).batch(np.arange(30))
    source, target = batch.edges()
    N = batch.num_nodes()
    A, reverse = np.zeros((N, N)), np.zeros((N, N))
    A[target, source], reverse[target, source] = batch.edata[COUNTS], batch.edata[REVERSE_COUNTS]
    np.testing.assert_array_equal(A.T, reverse)


NETWORKS = {
    "spgnn": {"k": 12},
    "arch1": {"k": 12},
    "arch2": {"k": 12},
    "dgcnn": {"k": 12},
    "gin": {},
    "spgnn, sums": {"readout": "sum"},
    "spgnn, means": {"readout": "mean"},
    "spgnn, maxima": {"readout": "max"},
}


@pytest.mark.parametrize("name", NETWORKS)
@pytest.mark.parametrize("features", ["labels", "degree"])
def test_scores_and_gradients_are_those_of_the_graphs_as_they_are(name, features):
    """With dropout off, but batch norm as in training."""
    data = dataset(7, 40)
    method = make_method(name.partition(",")[0], {**NETWORKS[name], "dropout": 0.0})
    method.policy = FeaturePolicy.fit(data, features, degree_cap=5)
    method.resolved = method.resolve(data.info)
    torch.manual_seed(0)
    net = method.build(data.info, method.policy.spec).double()
    for parameter, value in net.named_parameters():
        if parameter.endswith(
            "epsilon"
        ):  # at GIN's start, 0, centre and neighbours are exchanged freely: a kink of the loss
            torch.nn.init.constant_(value, 0.1)
    assert net.fold_at > 0
    labels = data.batch_labels(np.arange(len(data)))
    results = []
    for graphs in (data, fold(data, features)):
        graph = method.policy.encoder(graphs).batch(np.arange(len(data)))
        for field in (COUNTS, REVERSE_COUNTS):
            if field in graph.edata:
                graph.edata[field] = graph.edata[field].double()
        scores = net(graph)
        Z_G = net.readout(graph, net.layers(graph))
        loss = torch.nn.functional.cross_entropy(scores, labels) + Z_G.square().mean()
        gradients = torch.autograd.grad(loss, [p for p in net.parameters() if p.requires_grad])
        results.append([scores, Z_G, *gradients])
        net.apply(lambda module: getattr(module, "reset_running_stats", int)())
    for plain, folded in zip(*results):
        torch.testing.assert_close(folded, plain, rtol=1e-8, atol=1e-8)


def test_a_training_folds_its_graphs_and_ends_where_it_would_without(monkeypatch):
    data, calls = dataset(11, 60), []
    whole = folding.fold
    monkeypatch.setattr(folding, "fold", lambda graphs, features: calls.append(len(graphs)) or whole(graphs, features))
    options = {"k": 12, "epochs": 3, "features": "degree", "dropout": 0.0}
    folded = make_method("spgnn", options).fit(data, validation=data).predict_proba(data)
    assert calls == [60, 60] * 2  # a sample and all, of the training graphs and of the validation graphs
    monkeypatch.setattr(CatAggConv, "fold_at", 0.0)
    plain = make_method("spgnn", options).fit(data, validation=data).predict_proba(data)
    np.testing.assert_allclose(folded, plain, atol=1e-4)
    assert np.abs(plain - plain[0]).max() > 1e-2  # there is something to compare


def test_what_cannot_or_need_not_be_folded_is_left_as_it_is(monkeypatch):
    asymmetric = nx.Graph([(0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (1, 3)])  # a node of its own kind everywhere
    rigid = as_dataset([asymmetric], [0])
    assert fold_where_it_pays(rigid) is rigid
    directed = from_graphs([nx.star_graph(5).to_directed()], [0], directed=True)
    assert fold_where_it_pays(directed) is directed
    stars = as_dataset([nx.star_graph(5)] * 3, [0, 1, 0])
    once = fold_where_it_pays(stars)
    assert once.node_counts.tolist() == [2, 2, 2]
    assert fold_where_it_pays(once) is once
    for limit in ("MOST_GRAPHS", "MOST_NODES", "MOST_EDGES"):
        with monkeypatch.context() as patch:
            patch.setattr(folding, limit, 2)
            assert fold_where_it_pays(stars) is stars


def test_a_conv_with_another_forward_is_not_given_folded_graphs_unless_it_says_so():
    class Silent(CatAggConv):
        def forward(self, graph, Z):
            return super().forward(graph, Z)

    class Able(Silent):
        folds = True

        def forward(self, graph, Z):
            return super().forward(graph, Z)

    readout = WLSortPool([4], 12)
    for conv, folds in ((CatAggConv, True), (Silent, False), (Able, True)):
        assert (GraphNet([conv(3, 4)], readout, None).fold_at > 0) == folds
    assert GraphNet([CatAggConv(3, 4, pool="mean")], readout, None).fold_at == 0


def test_graphs_are_folded_in_blocks_as_in_one(monkeypatch):
    data = dataset(5, 30)
    whole = fold(data)
    monkeypatch.setattr(folding, "BLOCK", 10)
    parts = fold(data)
    for field in ("node_offsets", "edge_offsets", "labels"):
        np.testing.assert_array_equal(getattr(parts.arrays, field), getattr(whole.arrays, field))
    for graph in range(30):
        ours, theirs = parts[graph][0], whole[graph][0]
        assert sorted(ours.ndata["copies"].tolist()) == sorted(theirs.ndata["copies"].tolist())
        assert sorted(ours.edata[COUNTS].tolist()) == sorted(theirs.edata[COUNTS].tolist())
