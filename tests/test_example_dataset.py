"""The worked example in `datasets/`: as a drop-in, as a plugin, and handed to a classifier; and can it be learned?"""

from __future__ import annotations

from pathlib import Path

import networkx as nx
import numpy as np
import pytest

import spgnn_dgl as sp
from spgnn_dgl.data.audit.findings import findings
from spgnn_dgl.data.audit.report import audit
from tests.registries import restored

EXAMPLE = Path(__file__).parent.parent / "datasets" / "NETWORKS.py"


@pytest.fixture(autouse=True)
def forget():
    with restored():
        yield


def test_it_is_found_in_the_data_home():
    data = sp.load_dataset("networks", data_home=EXAMPLE.parent)
    assert (data.name, len(data)) == ("NETWORKS", 150)
    assert data.meta.class_names == ("random", "scale free", "small world")
    assert (np.bincount(data.labels) == 50).all()


def test_it_is_a_plugin_and_a_file_that_can_be_named():
    named = sp.load_dataset(EXAMPLE)
    sp.load_plugin(EXAMPLE)
    registered = sp.load_dataset("NETWORKS")
    assert named.fingerprint == registered.fingerprint
    assert named.name == registered.name


def test_its_graphs_are_what_it_says():
    data = sp.load_dataset(EXAMPLE)
    graphs = [graph for graph, _ in data]
    assert all(20 <= graph.num_nodes() <= 40 for graph in graphs)
    degrees = [graph.num_edges() / graph.num_nodes() for graph in graphs]
    assert 3.5 < min(degrees) <= max(degrees) <= 4
    clustering = {name: [] for name in data.meta.class_names}
    for graph, label in data:
        plain = nx.Graph(list(zip(*(ends.tolist() for ends in graph.edges()))))
        clustering[data.meta.class_names[int(label)]].append(nx.average_clustering(plain))
    assert np.mean(clustering["small world"]) > np.mean(clustering["random"]) + 0.1  # neighbours know each other
    largest = {n: [] for n in data.meta.class_names}
    for graph, label in data:
        largest[data.meta.class_names[int(label)]].append(int(graph.in_degrees().max()))
    assert np.mean(largest["scale free"]) > np.mean(largest["random"]) + 2  # hubs


def test_the_audit_has_nothing_against_it():
    report = audit(sp.load_dataset(EXAMPLE))
    assert report.ceiling == 1.0
    assert [finding.name for finding in findings(report) if finding.before_training] == []


@pytest.mark.slow
def test_a_class_of_ones_own_goes_straight_into_a_classifier():
    networks = sp.load_plugin(EXAMPLE).Networks(per_class=40, seed=1)  # a DGLDataset
    classifier = sp.GraphClassifier("spgnn", epochs=30, lr=0.003).fit(networks)
    assert classifier.score(sp.load_plugin(EXAMPLE).Networks(per_class=20, seed=2)) > 0.75
