"""Each sentinel trips on what it is for, and stays silent on a sound training."""

from __future__ import annotations

import csv

import networkx as nx
import numpy as np
import pytest
import torch

from spgnn_dgl.data.load import load_dataset
from spgnn_dgl.data.readers.graphs import from_graphs
from spgnn_dgl.errors import TrainingError
from spgnn_dgl.evaluation.sentinels import SENTINELS, measure, warnings
from spgnn_dgl.methods import make_method
from tests.conftest import random_dataset
from tests.experiments import SMALL, quick_run


@pytest.fixture(scope="module")
def motifs():
    return load_dataset("MOTIFS")[:60]


def fitted(data, **options):
    return make_method("spgnn", {**SMALL, "epochs": 2, **options}).fit(data)


def names(*measures):
    return {found["name"] for found in warnings(measures)}


def test_a_sound_training_is_silent():
    sound = {
        "constant": False, "train_accuracy": 0.9, "at_chance": False, "importance_spread": 0.4, "unseen_share": 0.0,
        "importance_gradient": 0.1, "cut_share": 0.1, "tie_share": 0.0,
    }  # fmt: skip
    assert names(sound) == set()


def test_what_a_method_does_not_have_is_no_warning():
    assert names({"train_accuracy": 0.9, "at_chance": False}) == set()


def test_importance_and_ties_are_measured_as_by_a_plain_loop(motifs):
    method = fitted(motifs)
    found = measure(method, motifs, motifs)
    spreads = []
    for selection in method.select(motifs):
        importance = selection.importance.double().numpy()
        spreads.append([np.std(row) / (1 + np.abs(row).mean()) for row in importance])
    assert found["importance_spread"] == pytest.approx(np.mean(spreads, axis=0).min())
    assert found["cut_share"] == pytest.approx(
        sum(max(0, n - 10) for n in motifs.node_counts) / sum(motifs.node_counts)
    )


def test_ties_of_different_nodes_count_and_those_of_equal_nodes_do_not():
    """Rings of 14 nodes, and k = 10: all nodes of a ring are alike, unless two labels take turns."""
    for labels, expected in (([0] * 14, 0.0), ([0, 1] * 7, 1.0)):
        ring = nx.cycle_graph(14)
        nx.set_node_attributes(ring, dict(enumerate(labels)), "label")
        data = from_graphs([ring] * 8, [0, 1] * 4)
        method = fitted(data, activation="tanh")
        with torch.no_grad():  # every node has the same importance
            for parameter in method.net.readout.importance.parameters():
                parameter.zero_()
        assert measure(method, data, data)["tie_share"] == expected


def test_a_dead_importance_network_trips_variance_gradient_and_ties(motifs):
    method = fitted(motifs)
    with torch.no_grad():
        for parameter in method.net.readout.importance.parameters():
            parameter.zero_()
    found = measure(method, motifs, motifs)
    assert found["tie_share"] == 1.0
    assert {"importance-without-variance", "ties-at-the-cut"} <= names(found)
    with torch.no_grad():  # the importance channel is cut off from the head: nothing flows back
        for block in method.net.parameters():
            block.zero_()
    assert "importance-without-gradient" in names(measure(method, motifs, motifs))


def test_gradient_of_a_sound_network_is_seen(motifs):
    found = measure(fitted(motifs), motifs, motifs)
    assert found["importance_gradient"] > 1e-6


def test_measuring_leaves_no_gradient_behind(motifs):
    method = fitted(motifs)
    before = [p.grad is None for p in method.net.parameters()]
    measure(method, motifs, motifs)
    assert [p.grad is None for p in method.net.parameters()] == before


def test_unseen_labels_are_counted_over_nodes():
    seen, strange = random_dataset(20, num_labels=2), random_dataset(20, seed=1, num_labels=6)
    method = fitted(seen)
    share = measure(method, seen, strange)["unseen_share"]
    labels = np.asarray(strange.meta.node_label_names)[strange.arrays.node_labels]
    assert share == pytest.approx(np.mean(~np.isin(labels, seen.meta.node_label_names)))
    assert "unseen-labels" in names({"unseen_share": share})


def test_a_method_that_guesses_is_at_chance_and_constant(tmp_path):
    run = quick_run(tmp_path, options={**SMALL, "lr": 1e-12}, epochs=(1,))
    said: dict[str, set[str]] = {}
    for line in csv.DictReader((run.path / "predictions.csv").read_text().splitlines()):
        said.setdefault(line["fold"], set()).add(line["predicted"])
    constant = sum(len(classes) == 1 for classes in said.values())
    found = {f["name"]: f for f in run.results["sentinels"]}
    assert constant > 0
    assert found["constant-predictor"]["trainings"] == constant
    assert found["train-accuracy-at-chance"]["of"] == 3
    assert f"**constant-predictor** in {constant} of 3 trainings" in run.report.read_text()


def test_a_loss_that_is_not_finite_is_recorded_and_the_rest_goes_on(spy, tmp_path):
    spy.raises = TrainingError("the loss became nan in epoch 1.")
    run = quick_run(tmp_path, method="spy", dataset=random_dataset(24))
    assert run.results["status"] == "failed"
    assert run.results["numbers"] == {}
    (found,) = run.results["sentinels"]
    assert (found["name"], found["trainings"], found["of"]) == ("loss-not-finite", 3, 3)
    assert "the loss became nan" in run.report.read_text()


def test_methods_without_a_history_are_judged_on_training_graphs(tiny):
    method = make_method("wl", {}).fit(tiny)
    found = measure(method, tiny, tiny)
    assert found["train_accuracy"] == pytest.approx(np.mean(method.predict(tiny) == tiny.labels))
    assert set(found) == {"train_accuracy", "at_chance"}


def test_names_are_unique_and_all_are_told_in_the_report(tmp_path):
    assert len({s.name for s in SENTINELS}) == len(SENTINELS) == 8
    text = quick_run(tmp_path).report.read_text()
    assert all(sentinel.name in text for sentinel in SENTINELS)
