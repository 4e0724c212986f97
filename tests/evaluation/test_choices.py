"""Candidates are chosen by validation, epochs by averages; ties have one answer."""

from __future__ import annotations

import pytest

from spgnn_dgl.errors import OptionError
from spgnn_dgl.evaluation.choices import best_average, candidate_epochs, choose, epoch_accuracies
from spgnn_dgl.evaluation.units import SELECT
from spgnn_dgl.methods import METHODS
from tests.evaluation.records import record


def test_accuracy_of_each_epoch():
    assert epoch_accuracies(record(0, 0, {1: 0.25, 2: 0.75})) == {1: 0.25, 2: 0.75}


def test_equal_averages_take_the_earliest_epoch_whatever_the_order_of_summation():
    values = [0.1, 0.2, 0.3, 0.7, 0.6]
    curves = [{2: a, 1: b} for a, b in zip(values, reversed(values))]
    assert best_average(curves) == 1


def test_choice_by_accuracy_then_loss_then_order():
    def candidate(number, accuracy, loss):
        return record(0, 0, {1: accuracy}, stage=SELECT, candidate=number, options={"c": number}, losses={"1": loss})

    assert choose([candidate(0, 0.5, 0.1), candidate(1, 0.75, 9.0)])[0, 0] == {"c": 1}
    assert choose([candidate(0, 0.5, 0.2), candidate(1, 0.5, 0.1)])[0, 0] == {"c": 1}
    assert choose([candidate(1, 0.5, 0.1), candidate(0, 0.5, 0.1)])[0, 0] == {"c": 0}


def test_a_candidate_is_judged_at_its_best_epoch():
    slow = record(0, 0, {1: 0.25, 2: 1.0}, stage=SELECT, candidate=0, options={"c": 0})
    fast = record(0, 0, {1: 0.75, 2: 0.75}, stage=SELECT, candidate=1, options={"c": 1})
    assert choose([slow, fast])[0, 0] == {"c": 0}


def test_a_candidate_that_broke_off_is_chosen_only_where_all_did():
    broken = {**record(0, 0, {}, candidate=0, options={"c": 0}), "status": "failed"}
    poor = record(0, 0, {1: 0.0}, candidate=1, options={"c": 1})
    assert choose([broken, poor])[0, 0] == {"c": 1}
    assert choose([broken])[0, 0] == {"c": 0}


@pytest.mark.parametrize(
    ("method", "options", "wanted", "epochs"),
    [
        ("spgnn", {}, None, (50, 100, 150, 200)),
        ("gin", {}, None, (50, 100, 150, 200, 250, 300, 350)),
        ("spgnn", {"epochs": 120}, None, (50, 100, 120)),
        ("spgnn", {"epochs": 100}, None, (50, 100)),
        ("spgnn", {"epochs": 3}, None, (3,)),
        ("spgnn", {}, (20, 10, 20), (10, 20)),
        ("spgnn", {"schedule": "cosine"}, None, (200,)),
        ("wl", {}, None, (0,)),
    ],
)
def test_candidate_epochs(method, options, wanted, epochs):
    assert candidate_epochs(METHODS.get(method), options, wanted) == epochs


@pytest.mark.parametrize(
    ("method", "options", "wanted", "message"),
    [
        ("spgnn", {}, (0, 5), "at least 1"),
        ("wl", {}, (5,), "no epochs"),
        ("spgnn", {"schedule": "cosine"}, (5, 10), "cosine"),
    ],
)
def test_epochs_that_cannot_be(method, options, wanted, message):
    with pytest.raises(OptionError, match=message):
        candidate_epochs(METHODS.get(method), options, wanted)
