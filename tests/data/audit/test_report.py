"""The audit against plain loops, on datasets with planted flaws, and on the paper's nine sets."""

from __future__ import annotations

import dataclasses
import json
import time

import networkx as nx
import numpy as np
import pytest

from spgnn_dgl.data.audit.findings import findings
from spgnn_dgl.data.audit.report import audit, rare_values, twins_across
from spgnn_dgl.data.audit.twins import twin_groups
from spgnn_dgl.data.folds import Fold, Folds, stratified_folds
from spgnn_dgl.data.load import load_dataset
from spgnn_dgl.data.readers.graphs import from_graphs
from spgnn_dgl.errors import DatasetError, OptionError
from tests.conftest import random_dataset

CEILINGS = {
    "MUTAG": 100.0,
    "PTC": 99.42,
    "NCI1": 99.83,
    "PROTEINS": 99.73,
    "DD": 100.0,
    "IMDB-BINARY": 88.60,
    "IMDB-MULTI": 63.27,
    "COLLAB": 97.98,
    "REDDIT-MULTI-5K": 100.0,
}
"""Four rounds of message passing, per cent; those of the two IMDB sets were counted elsewhere too."""


def names_of(report) -> set[str]:
    return {finding.name for finding in findings(report)}


def labelled(graph: nx.Graph, label: str = "a") -> nx.Graph:
    graph = graph.copy()
    nx.set_node_attributes(graph, label, "label")
    return graph


def test_every_flaw_is_found():
    ring, rings = nx.cycle_graph(6), nx.disjoint_union(nx.cycle_graph(3), nx.cycle_graph(3))
    lonely = nx.path_graph(3)
    lonely.add_node(3)
    graphs = [labelled(g) for g in (ring, rings, lonely) for _ in range(10)] + [labelled(nx.star_graph(7), "b")]
    data = from_graphs(graphs, ["x"] * 10 + ["y"] * 20 + ["x"])
    folds = stratified_folds(data.labels, 5)
    report = audit(data, layers=2, folds=folds)

    assert report.classes == {"x": 11, "y": 20}
    assert report.majority == 20 / 31
    assert report.isolated_nodes == 10
    assert (report.nodes.smallest, report.nodes.median, report.nodes.largest) == (4, 6, 8)
    assert (report.degrees.smallest, report.degrees.largest) == (0, 7)
    assert report.rare.in_one_graph == ("b",)
    assert report.rare.on_one_node == ()
    # rings of the same nodes: one class to message passing, ten of each in truth
    assert [counts.distinct for counts in report.by_depth] == [4 - 1, 3, 3]
    assert report.refined.distinct == 3
    assert report.refined.contradicting == 20
    assert report.ceiling == 21 / 31
    assert (report.exact.distinct, report.exact.contradicting, report.exact.ceiling) == (4, 0, 1.0)
    assert report.across.tested == 31
    assert report.across.with_twin == report.across.recalled == 30
    assert names_of(report) == {"ceiling", "twins-across-folds", "order", "not-isomorphic", "isolated", "rare-values"}
    text = next(f.text for f in findings(report) if f.name == "ceiling")
    assert "2 rounds" in text
    assert "67.7 %" in text
    assert json.loads(json.dumps(report.to_json()))["ceiling"] == 21 / 31


def test_nothing_is_said_of_sound_data():
    rng = np.random.default_rng(3)
    graphs = [labelled(nx.barabasi_albert_graph(30, 3, seed=seed)) for seed in range(40)]
    data = from_graphs(graphs, rng.permutation(np.arange(40) % 2))
    report = audit(data, folds=stratified_folds(data.labels, 5))
    assert report.refined.with_twin == 0
    assert findings(report) == []


def test_the_embedded_sets_are_fit_for_training():
    for name in ("MOTIFS", "DIGITS"):
        report = audit(load_dataset(name), folds=stratified_folds(load_dataset(name).labels))
        assert [f.text for f in findings(report) if f.before_training] == []


def test_one_class_for_almost_all():
    data = random_dataset(50)
    skewed = data.subset(np.concatenate([np.flatnonzero(data.labels == 0), np.flatnonzero(data.labels == 1)[:5]]))
    report = audit(skewed)
    assert report.majority == 25 / 30
    assert "majority" in names_of(report)
    assert "majority" not in names_of(audit(data))


def test_more_rounds_than_asked_for_see_more():
    marks = [7, 6]
    graphs = []
    for mark in marks:
        graph = nx.path_graph(15)
        nx.set_node_attributes(graph, {v: int(v == mark) for v in graph}, "label")
        graphs += [graph] * 3
    data = from_graphs(graphs, [0, 0, 0, 1, 1, 1])
    report = audit(data, layers=3)
    assert (report.ceiling, report.refined.ceiling) == (0.5, 1.0)
    assert "(with any number of rounds: 100.0 %)" in findings(report)[0].text
    assert audit(data, layers=4).ceiling == 1.0


def test_what_was_mended_and_what_could_not_be_read_is_told():
    graph = nx.MultiGraph([(0, 1), (0, 1), (1, 1), (1, 2)])
    data = from_graphs([graph, nx.path_graph(4)], [0, 1])
    assert "1 self loops" in next(f.text for f in findings(audit(data)) if f.name == "mended")
    data.meta = dataclasses.replace(data.meta, unreadable=("line 3: 'C1' is not SMILES",))
    first = findings(audit(data))[0]
    assert (first.name, first.before_training) == ("unreadable", False)  # it was told when the data was loaded
    assert "line 3: 'C1'" in first.text


def test_classes_may_be_unknown():
    data = from_graphs([nx.path_graph(3)] * 4 + [nx.star_graph(3)])
    report = audit(data, folds=Folds(5, (Fold(np.arange(4), np.array([4])),)))
    assert (report.classes, report.majority, report.order, report.ceiling, report.across) == (
        {},
        None,
        None,
        None,
        None,
    )
    assert report.exact.with_twin == 4
    json.dumps(report.to_json())


def test_nodes_without_edges_in_a_directed_set():
    graph = nx.DiGraph([(0, 1)])
    graph.add_node(2)
    assert audit(from_graphs([graph, graph], [0, 1], directed=True)).isolated_nodes == 2


def test_rare_values_are_those_of_a_plain_loop(tiny):
    where: dict[str, set[int]] = {}
    nodes: dict[str, int] = {}
    for g, (graph, _) in enumerate(tiny):
        for code in graph.ndata["label"].tolist():
            name = tiny.meta.node_label_names[code]
            where.setdefault(name, set()).add(g)
            nodes[name] = nodes.get(name, 0) + 1
    for view in (tiny, tiny.subset([0, 1, 2])):
        rare = rare_values(view)
        assert rare.distinct <= len(nodes)
    rare = rare_values(tiny)
    assert rare.distinct == len(nodes)
    assert set(rare.in_one_graph) == {n for n, graphs in where.items() if len(graphs) == 1}
    assert set(rare.on_one_node) == {n for n, count in nodes.items() if count == 1}
    assert rare_values(from_graphs([nx.star_graph(3), nx.path_graph(2)], [0, 1])).in_one_graph == ("3",)


@pytest.mark.parametrize("validation", [False, True])
def test_twins_across_folds_are_those_of_a_plain_loop(validation):
    data = random_dataset(120, max_nodes=3, num_labels=2)
    twins, labels = twin_groups(data), data.labels
    folds = stratified_folds(labels, 4)
    if validation:
        parts = tuple(Fold(fold.train[10:], fold.test, fold.train[:10]) for fold in folds)
        folds = Folds(len(data), parts)
    with_twin = recalled = 0
    for fold in stratified_folds(labels, 4):
        for graph in fold.test:
            found = [labels[other] for other in fold.train if twins[other] == twins[graph]]
            with_twin += bool(found)
            recalled += bool(found) and max(sorted(set(found)), key=found.count) == labels[graph]
    across = twins_across(twins, labels, folds)
    assert (across.with_twin, across.recalled, across.tested) == (with_twin, recalled, 120)
    assert 0 < recalled < with_twin
    grouped = stratified_folds(labels, 4, groups=twins)
    assert twins_across(twins, labels, grouped).with_twin == 0


def test_mistakes_are_answered(tiny):
    with pytest.raises(OptionError, match="layers=-1"):
        audit(tiny, layers=-1)
    with pytest.raises(DatasetError, match="nothing to audit"):
        audit(tiny.subset([]))
    with pytest.raises(OptionError, match="no attributes"):
        audit(tiny, features="attributes")


@pytest.mark.real_data
def test_ceilings_of_the_papers_sets_in_seconds(real_dataset):
    datasets = {name: real_dataset(name) for name in CEILINGS}
    folds = {name: stratified_folds(data.labels) for name, data in datasets.items()}
    began = time.process_time()
    reports = {name: audit(data, folds=folds[name]) for name, data in datasets.items()}
    assert time.process_time() - began < 60  # 4 s on an idle machine; the promise is two minutes
    assert {name: round(100 * report.ceiling, 2) for name, report in reports.items()} == CEILINGS
    for report in reports.values():
        assert report.undecided == 0
        assert report.refined.ceiling == report.ceiling  # four rounds tell apart what any number does
        assert report.exact == report.refined  # and all that is different
