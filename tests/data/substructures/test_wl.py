"""Colour refinement against a plain loop with dictionaries."""

from __future__ import annotations

import itertools

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spgnn_dgl.data.readers.graphs import as_dataset
from spgnn_dgl.data.store import GraphDataset
from spgnn_dgl.data.substructures.wl import label_kind, node_names, number_keys, wl_colours, wl_keys
from spgnn_dgl.errors import DatasetError, OptionError
from tests.conftest import random_dataset


def plain_colours(data: GraphDataset, iterations: int, labels: str) -> list[list[int]]:
    """Colours by the book: a dictionary from (own colour, sorted colours of the neighbours) to the next number."""
    graphs = [data[i][0] for i in range(len(data))]
    around = []
    for graph in graphs:
        lists: list[list[int]] = [[] for _ in range(graph.num_nodes())]
        for source, target in zip(*(ends.tolist() for ends in graph.edges())):
            lists[target].append(source)
        around.append(lists)
    if labels == "labels":
        colours = [graph.ndata["label"].tolist() for graph in graphs]
    elif labels == "degree":
        colours = [[len(n) for n in lists] for lists in around]
    else:
        colours = [[0] * len(lists) for lists in around]
    rounds = [list(itertools.chain.from_iterable(colours))]
    for _ in range(iterations):
        seen: dict[tuple[int, tuple[int, ...]], int] = {}
        colours = [
            [seen.setdefault((own[v], tuple(sorted(own[u] for u in lists[v]))), len(seen)) for v in range(len(lists))]
            for own, lists in zip(colours, around)
        ]
        rounds.append(list(itertools.chain.from_iterable(colours)))
    return rounds


def same_partition(one: list[int], other: list[int]) -> bool:
    pairs = set(zip(one, other))
    return len(pairs) == len(set(one)) == len(set(other))


@given(st.integers(0, 10_000), st.sampled_from(["labels", "degree", "constant"]), st.booleans())
@settings(max_examples=60, deadline=None)
def test_colours_are_those_of_a_plain_loop(seed: int, labels: str, directed: bool) -> None:
    data = random_dataset(10, seed, max_nodes=12, num_labels=2, directed=directed)
    ours = wl_colours(data, 4, labels=labels)
    assert len(ours) == 5
    for mine, plain in zip(ours, plain_colours(data, 4, labels)):
        assert same_partition(mine.tolist(), plain)


@pytest.mark.real_data
def test_colours_of_a_benchmark_are_those_of_a_plain_loop(real_dataset) -> None:
    data = real_dataset("MUTAG")
    for mine, plain in zip(wl_colours(data, 5), plain_colours(data, 5, "labels")):
        assert same_partition(mine.tolist(), plain)


def test_keys_of_a_view_are_rows_of_the_keys_of_all(tiny: GraphDataset) -> None:
    whole = wl_keys(tiny, 2)[2]
    view = tiny[[7, 2, 2]]
    parts = [whole[tiny.arrays.node_offsets[g] : tiny.arrays.node_offsets[g + 1]] for g in (7, 2, 2)]
    np.testing.assert_array_equal(wl_keys(view, 2)[2], np.concatenate(parts))


def test_keys_depend_on_label_values_and_not_on_codes() -> None:
    one, other = nx.path_graph(3), nx.path_graph(3)
    for node, label in enumerate("abc"):
        one.nodes[node]["label"] = label
        other.nodes[node]["label"] = label
    extra = nx.empty_graph(1)
    extra.nodes[0]["label"] = "A"  # comes first in the order of labels, and moves all codes by one
    first, second = as_dataset([one, one], [0, 1]), as_dataset([extra, other], [0, 1])
    np.testing.assert_array_equal(wl_keys(first, 3)[3][:3], wl_keys(second, 3)[3][1:])


def test_a_permuted_graph_has_the_same_colours() -> None:
    data = random_dataset(1, 3, max_nodes=9)
    graph = nx.from_edgelist(zip(*(ends.tolist() for ends in data[0][0].edges())))
    graph.add_nodes_from(range(data[0][0].num_nodes()))
    order = np.random.default_rng(0).permutation(len(graph))
    renamed = nx.Graph()
    renamed.add_nodes_from(range(len(graph)))
    renamed.add_edges_from((order[u], order[v]) for u, v in graph.edges)
    plain = nx.Graph()
    plain.add_nodes_from(range(len(graph)))
    plain.add_edges_from(graph.edges)
    keys = wl_keys(as_dataset([plain, renamed], [0, 1]), 3, labels="constant")[3]
    np.testing.assert_array_equal(keys[: len(graph)], keys[len(graph) :][order])


def test_the_famous_pair_that_refinement_cannot_tell_apart() -> None:
    data = as_dataset([nx.cycle_graph(6), nx.disjoint_union(nx.cycle_graph(3), nx.cycle_graph(3))], [0, 1])
    assert len(set(wl_colours(data, 5, labels="constant")[5].tolist())) == 1


def test_number_keys_orders_by_both_halves() -> None:
    keys = np.array([[5, 2], [5, 1], [0, 9], [5, 2]], dtype=np.uint64)
    numbers, examples = number_keys(keys)
    assert numbers.tolist() == [2, 1, 0, 2]
    np.testing.assert_array_equal(keys[examples][numbers], keys)


def test_what_nodes_are_called(tiny: GraphDataset) -> None:
    assert label_kind(tiny) == "labels"
    unlabelled = as_dataset([nx.star_graph(3), nx.path_graph(2)], [0, 1])
    assert label_kind(unlabelled) == "degree"
    codes, names = node_names(unlabelled)
    assert [names[c] for c in codes] == ["3", "1", "1", "1", "1", "1"]
    with pytest.raises(DatasetError, match="have none"):
        label_kind(unlabelled, "labels")
    with pytest.raises(OptionError, match="Did you mean 'degree'"):
        label_kind(tiny, "degre")
    with pytest.raises(OptionError, match="-1 rounds"):
        wl_keys(tiny, -1)
