from __future__ import annotations

import itertools

import networkx as nx
import numpy as np

from spgnn_dgl.data.readers.graphs import as_dataset
from spgnn_dgl.methods import make_method
from spgnn_dgl.methods.budget import Deadline


def test_is_the_cosine_of_graphlet_counts() -> None:
    graphs = [nx.gnp_random_graph(n, 0.4, seed=n) for n in (5, 7, 9)]
    data = as_dataset(graphs, [0, 1, 0])
    counts = np.zeros((3, 4))
    for i, graph in enumerate(graphs):
        for three in itertools.combinations(graph, 3):
            counts[i, graph.subgraph(three).number_of_edges()] += 1
    unit = counts / np.linalg.norm(counts, axis=1, keepdims=True)
    (kernel,) = make_method("gk").kernels(data, data, (None,), Deadline(None, "test"))
    np.testing.assert_allclose(kernel, unit @ unit.T, rtol=1e-6)


def test_the_share_and_not_the_number_counts() -> None:
    """GraKeL's sampling gives shares; the cosine of counts is the cosine of shares."""
    data = as_dataset([nx.complete_graph(4), nx.complete_graph(9)], [0, 1])
    (kernel,) = make_method("gk").kernels(data, data, (None,), Deadline(None, "test"))
    np.testing.assert_allclose(kernel, 1)


def test_labels_play_no_part() -> None:
    labelled, plain = nx.cycle_graph(5), nx.cycle_graph(5)
    nx.set_node_attributes(labelled, {v: str(v) for v in labelled}, "label")
    train = as_dataset([labelled, nx.relabel_nodes(labelled, {})], [0, 1])
    method = make_method("gk").fit(train)
    assert method.predict_proba(as_dataset([plain], [0])).shape == (1, 2)
    assert method.fitted_options()["features"] == "constant"
