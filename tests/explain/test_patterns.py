"""Patterns: counted again in plain loops, tested again with SciPy, found where they were planted."""

from __future__ import annotations

import numpy as np
import pytest

from spgnn_dgl.errors import DatasetError, OptionError
from spgnn_dgl.explain.patterns import GROUPS, find_patterns
from spgnn_dgl.explain.trees import unfold
from tests.explained import dataset, motif_subject, path, written_subject


def molecules(count=16):
    """Class 1 has a nitro group on a chain of four C; class 0 has a C(C, C) there."""
    graphs, letters, labels = [], "", []
    for number in range(count):
        chain = 4 + number % 2
        edges = [(v, v + 1) for v in range(chain - 1)]
        edges += [(chain - 1, chain), (chain, chain + 1), (chain, chain + 2)]
        graphs.append((chain + 3, edges))
        labels.append(number % 4 // 2)
        letters += "C" * chain + ("NOO" if labels[-1] else "CCC")
    return dataset(graphs, labels, node_labels=letters, symbols=True)


def ends_first(graph):
    """The importance of a node grows with its number: the group at the end is pooled first."""
    return np.tile(np.arange(graph.num_nodes(), dtype=float), (2, 1))


def test_counts_are_those_of_plain_loops():
    subject = motif_subject()
    table = find_patterns(subject, top=4, fewest_graphs=2)
    method, data, labels = subject.parts[0].method, subject.explained, subject.labels
    seen = {}  # (layer, tree, class) -> pooled nodes, nodes, graphs
    pooled_nodes, all_nodes = np.zeros((3, 3)), np.zeros(3)
    for number, selection in enumerate(method.select(data)):
        graph = data[number][0]
        source, target = (ends.numpy() for ends in graph.edges())
        around = [source[target == v].tolist() for v in range(graph.num_nodes())]
        names = [str(len(a)) if str(len(a)) in method.policy.vocabulary else "other" for a in around]
        label = labels[number]
        all_nodes[label] += graph.num_nodes()
        for layer in range(3):
            first = selection.nodes[layer][:4].tolist()
            pooled_nodes[layer, label] += len(first)
            for node in range(graph.num_nodes()):
                key = layer + 1, str(unfold(around, names, node, layer + 1)), label
                entry = seen.setdefault(key, [0, 0, set()])
                entry[0] += node in first
                entry[1] += 1
                if node in first:
                    entry[2].add(number)
    expected = {key: entry for key, entry in seen.items() if len(entry[2]) >= 2}
    found = {(p.layer, str(table.tree(p)), p.label): p for p in table.patterns}
    assert set(found) == set(expected)
    sizes = np.bincount(labels, minlength=3)
    for key, (pooled, nodes, graphs) in expected.items():
        layer, tree, label = key
        p = found[key]
        assert (p.pooled, p.nodes, p.graphs) == (pooled, nodes, len(graphs))
        assert p.enrichment == pytest.approx((pooled / pooled_nodes[layer - 1, label]) / (nodes / all_nodes[label]))
        assert p.graph_share == pytest.approx(len(graphs) / sizes[label])
        elsewhere = sum(len(seen.get((layer, tree, c), [0, 0, ()])[2]) for c in range(3) if c != label)
        assert p.share_elsewhere == pytest.approx(elsewhere / (len(labels) - sizes[label]))
        graph, node = p.example
        assert labels[graph] == label
        assert node in method.select(data[graph : graph + 1])[0].nodes[layer - 1][:4]


def test_q_values_are_benjamini_and_hochbergs():
    table = find_patterns(motif_subject(), top=4, fewest_graphs=2)
    p = np.array([np.exp(x.log_p) for x in table.patterns])
    q = np.array([x.q for x in table.patterns])
    order = np.argsort(p)
    by_hand = np.minimum.accumulate((p[order] * len(p) / np.arange(1, len(p) + 1))[::-1])[::-1]
    np.testing.assert_allclose(q[order], np.minimum(by_hand, 1), rtol=1e-9)


def test_the_planted_group_is_first_in_its_class():
    table = find_patterns(written_subject(molecules(), ends_first, k=3), fewest_graphs=3)
    assert table.top == 3  # k keeps less than half
    (rank, best), *_ = table.ranks(1, GROUPS["nitro group"])
    ahead = [str(table.tree(p)) for p in table.of_class(1)[: rank - 1]]
    assert ahead in ([], ["O(N)"])  # an O with an N: one step away, the rest of the group is not seen
    assert "O" in str(table.tree(best))
    assert (best.graph_share, best.share_elsewhere) == (1.0, 0.0)
    assert best.q < 0.01
    assert table.ranks(0, GROUPS["nitro group"]) == []
    assert table.ranks(1, ["X"]) == []


def test_where_k_keeps_most_nodes_the_first_five_ranks_count():
    table = find_patterns(written_subject(molecules(), ends_first, k=30), fewest_graphs=3)
    assert table.top == 5
    assert table.pooled_share == pytest.approx(5 / 7.5, abs=0.05)


def test_patterns_of_dense_graphs_are_cut_where_they_would_be_endless():
    size = 40
    clique = (size, [(a, b) for a in range(size) for b in range(a)])
    data = dataset([clique] * 4 + [path(5)] * 4, [0] * 4 + [1] * 4)
    table = find_patterns(written_subject(data, lambda g: np.zeros((4, g.num_nodes())), k=2), fewest_graphs=2)
    deepest = max(table.of_class(0), key=lambda p: p.depth)
    assert deepest.depth == 4
    assert 1 <= table.tree(deepest).depth < 4


def test_folds_whose_models_know_other_labels_share_their_patterns():
    data = molecules(8)
    parts = [written_subject(data, ends_first, k=3).of(graphs).parts[0] for graphs in ([0, 1, 2, 3], [4, 5, 6, 7])]
    smaller = data.subset([0, 1])  # class 0: no N and O
    parts[1].method.policy = type(parts[1].method.policy).fit(smaller, "labels")
    subject = written_subject(data, ends_first, k=3)
    mixed = type(subject)(subject.title, data, tuple(parts), subject.class_names, True)
    table = find_patterns(mixed, fewest_graphs=4)
    assert any(p.graphs == 4 and p.label == 0 for p in table.patterns)  # C only: the same in both folds
    texts = {str(table.tree(p)) for p in find_patterns(mixed, fewest_graphs=2).of_class(1)}
    assert any("other" in text for text in texts)
    assert any("N" in text for text in texts)


def test_impossible_questions_are_refused():
    with pytest.raises(OptionError, match="top=0"):
        find_patterns(motif_subject(), top=0)
    subject = written_subject(dataset([path(3), path(4)]), ends_first, k=2)
    subject.data.arrays.labels[0] = -1
    with pytest.raises(DatasetError, match="graph 0 has no class"):
        find_patterns(subject)


def test_nothing_is_listed_where_nothing_is_frequent():
    assert find_patterns(motif_subject(), fewest_graphs=1000).patterns == ()
