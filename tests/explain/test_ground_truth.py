"""Agreement with ground truth, against enumeration and scikit-learn; edge truth against the order of the file."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from spgnn_dgl.data.load import load_dataset
from spgnn_dgl.errors import DatasetError, DatasetNotFoundError
from spgnn_dgl.explain.ground_truth import agreement, precision, roc_auc, with_edge_truth
from tests.conftest import random_dataset
from tests.explained import dataset, motif_data, motif_subject, path, written_subject


@pytest.mark.parametrize("seed", range(5))
def test_precision_is_the_mean_over_all_ways_to_break_ties(seed):
    rng = np.random.default_rng(seed)
    score, truth = rng.integers(0, 3, 6).astype(float), rng.random(6) < 0.4
    for k in (1, 2, 3, 6, 9):
        hits = []
        for order in permutations(range(6)):
            ranked = sorted(order, key=lambda v: -score[v])  # stable: ties in the order of the permutation
            hits.append(truth[ranked[:k]].mean())
        assert precision(score, truth, k) == pytest.approx(np.mean(hits))


@pytest.mark.parametrize("seed", range(5))
def test_auc_is_that_of_scikit_learn(seed):
    rng = np.random.default_rng(seed)
    score, truth = rng.integers(0, 4, 20).astype(float), np.arange(20) < 7
    assert roc_auc(score, truth) == pytest.approx(roc_auc_score(truth, score))


def test_a_model_that_pools_the_truth_agrees_with_it():
    letters = ["XXXCCCCCCCCC"[shift:] + "XXXCCCCCCCCC"[:shift] for shift in range(8)]
    truth = [letter == "X" for letter in "".join(letters)]
    data = dataset([path(12)] * 8, node_labels="".join(letters), truth=truth)

    def importance(graph):
        return graph.ndata["truth"].float().numpy()[None]

    (found,) = agreement(written_subject(data, importance, k=6), explainers=("pooled",), precision_at=(2, 12))
    # path colours of depth 1: an X at the end is no other X, and no C is an X
    assert found.precision[2].mean == found.precision_at_size.mean == found.auc.mean == 1.0
    assert found.precision[12].mean == pytest.approx(0.25)
    assert found.auc.n == len(data)


def test_graphs_that_are_all_true_or_not_at_all_are_left_out():
    data = dataset([path(3), path(3), path(3)], [0, 1, 0], truth=[1, 0, 0, 0, 0, 0, 1, 1, 1])
    subject = written_subject(data, lambda g: np.zeros((1, g.num_nodes())), k=2)
    assert agreement(subject, explainers=("degree",))[0].auc.n == 1
    with pytest.raises(DatasetError, match="none of the graphs"):
        agreement(subject.of([1]), explainers=("degree",))


def test_truth_is_needed():
    subject = written_subject(random_dataset(4), lambda g: np.zeros((1, g.num_nodes())), k=2)
    with pytest.raises(DatasetError, match="MOTIFS does"):
        agreement(subject)


def test_all_explainers_on_a_real_model():
    found = agreement(motif_subject())
    assert [a.explainer for a in found] == ["pooled", "random", "degree", "saliency"]
    degree = found[2]
    data = motif_subject().explained
    expected = [roc_auc_score(g.ndata["truth"].numpy(), g.in_degrees().numpy()) for g, _ in data]
    assert degree.auc.mean == pytest.approx(np.mean(expected))


@pytest.fixture
def tu_folder(tmp_path):
    """Two graphs whose nodes are listed alternately, with a doubled edge and a loop."""
    folder = tmp_path / "MINI"
    folder.mkdir()
    (folder / "MINI_graph_indicator.txt").write_text("1\n2\n1\n2\n1\n")
    (folder / "MINI_graph_labels.txt").write_text("0\n1\n")
    (folder / "MINI_A.txt").write_text("1, 3\n3, 1\n3, 5\n5, 3\n2, 4\n4, 2\n2, 4\n4, 4\n")
    return folder


def test_edge_truth_follows_the_order_of_the_file(tu_folder, tmp_path):
    data = load_dataset(tu_folder)
    file = tmp_path / "truth.txt"
    file.write_text("0\n0\n1\n0\n0\n0\n1\n0\n")  # file nodes 3-5 of graph 1, and 2-4 of graph 2
    truth = with_edge_truth(data, file)
    assert [g.ndata["truth"].tolist() for g, _ in truth] == [[False, True, True], [True, True]]
    assert data.arrays.truth is None


def test_edge_truth_of_the_wrong_length_or_place_is_refused(tu_folder, tmp_path):
    data = load_dataset(tu_folder)
    file = tmp_path / "truth.txt"
    file.write_text("0\n1\n")
    with pytest.raises(DatasetError, match="has 2 lines, but MINI lists 8 edges"):
        with_edge_truth(data, file)
    with pytest.raises(DatasetNotFoundError, match="one 0 or 1 per edge"):
        with_edge_truth(data, tmp_path / "nowhere.txt")
    file.write_text("0\n7\n")
    with pytest.raises(DatasetError, match="line 2"):
        with_edge_truth(data, file)
    file.write_text("0\n" * 8)
    with pytest.raises(DatasetError, match="edge order is not known"):
        with_edge_truth(motif_data(), file)
