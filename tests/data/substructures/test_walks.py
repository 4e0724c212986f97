from __future__ import annotations

import itertools

import networkx as nx
import numpy as np
import pytest

from spgnn_dgl.data.readers.graphs import as_dataset
from spgnn_dgl.data.store import GraphDataset
from spgnn_dgl.data.substructures import walks
from spgnn_dgl.data.substructures.walks import spectral_radii, walk_sums
from tests.conftest import random_dataset


def unchecked() -> None: ...


def product_sum(data: GraphDataset, i: int, j: int, decay: float, labelled: bool) -> float:
    """1ᵀ (I - λ A×)⁻¹ 1 with the direct product written out node by node."""
    (one, _), (other, _) = data[i], data[j]
    nodes = [
        (u, v)
        for u, v in itertools.product(range(one.num_nodes()), range(other.num_nodes()))
        if not labelled or one.ndata["label"][u] == other.ndata["label"][v]
    ]
    edges = [set(zip(*(ends.tolist() for ends in graph.edges()))) for graph in (one, other)]
    product = np.array([[(a, c) in edges[0] and (b, d) in edges[1] for c, d in nodes] for a, b in nodes], dtype=float)
    return float(np.linalg.solve(np.eye(len(nodes)) - decay * product, np.ones(len(nodes))).sum()) if nodes else 0.0


@pytest.mark.parametrize("labelled", [True, False])
@pytest.mark.parametrize("block", [1, 2**16])  # one graph at a time, and all at once
def test_sums_are_those_of_the_product_written_out(labelled: bool, block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(walks, "BLOCK", block)
    data = random_dataset(7, 2, max_nodes=6, num_labels=2)
    limit = 1 / max(max(np.abs(nx.adjacency_spectrum(nx.Graph(graph.to_networkx())))) for graph, _ in data) ** 2
    decays = (0.99 * limit, 0.01, 1e-5)
    expected = [[[product_sum(data, i, j, d, labelled) for j in range(7)] for i in range(7)] for d in decays]
    labels = "labels" if labelled else "constant"
    np.testing.assert_allclose(walk_sums(data, data, decays, labels=labels, check=unchecked), expected, rtol=1e-9)
    block_of_all = walk_sums(data[:3], data[3:], decays, labels=labels, check=unchecked)
    np.testing.assert_allclose(block_of_all, np.array(expected)[:, :3, 3:], rtol=1e-9)


def test_walks_are_counted_by_powers() -> None:
    """On regular graphs, where the iteration ends after one step: all walks of n steps, by hand."""
    data = as_dataset([nx.cycle_graph(4), nx.complete_graph(4)], [0, 1])
    expected = sum(0.1**n * 4 * 2**n * 4 * 3**n for n in range(200))
    assert walk_sums(data, data, (0.1,), labels="constant", check=unchecked)[0, 0, 1] == pytest.approx(expected)


def test_names_of_labels_are_compared_and_not_their_codes() -> None:
    def named(*names: str) -> GraphDataset:
        graph = nx.path_graph(len(names))
        nx.set_node_attributes(graph, dict(enumerate(names)), "label")
        return as_dataset([graph], [0])

    one, other = named("C", "N"), named("N", "O")
    assert walk_sums(one, other, (0.1,), labels="labels", check=unchecked).item() == pytest.approx(1)
    assert walk_sums(one, named("O", "S"), (0.1,), labels="labels", check=unchecked).item() == 0


def test_edges_count_without_direction() -> None:
    arrow = as_dataset([nx.DiGraph([(0, 1), (1, 2)])], [0])
    path = as_dataset([nx.path_graph(3)], [0])
    expected = product_sum(path, 0, 0, 0.1, False)
    assert walk_sums(arrow, path, (0.1,), labels="constant", check=unchecked).item() == pytest.approx(expected)


def test_a_sum_that_does_not_exist_is_not_a_number() -> None:
    data = as_dataset([nx.complete_graph(9), nx.empty_graph(1), nx.path_graph(3)], [0, 1, 0])
    sums = walk_sums(data, data, (0.1,), labels="constant", check=unchecked)[0]
    assert np.isnan(sums).tolist() == [[True, False, True], [False, False, False], [True, False, False]]
    assert sums[1].tolist() == pytest.approx([9, 1, 3])


def test_radii_are_those_of_networkx() -> None:
    graphs = [nx.gnp_random_graph(n, p, seed=n) for n, p in ((1, 0), (5, 0.5), (250, 0.05))]
    expected = [max(np.abs(nx.adjacency_spectrum(graph))) for graph in graphs]
    np.testing.assert_allclose(spectral_radii(as_dataset(graphs, [0, 1, 0]), unchecked), expected, atol=1e-6)
