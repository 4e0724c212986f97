"""Which graphs each training may see, which epoch is reported, which candidate is chosen."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path
from unittest import mock

import numpy as np
import pytest

from spgnn_dgl.data.folds import Fold, Folds, stratified_folds
from spgnn_dgl.errors import UnknownNameError
from spgnn_dgl.evaluation.choices import choose
from spgnn_dgl.evaluation.planning import prepare
from spgnn_dgl.evaluation.protocols import HONEST, OPTIMISTIC, PROTOCOLS, Plan
from spgnn_dgl.evaluation.units import SELECT, derived_seed, run_unit
from spgnn_dgl.experiment import search
from spgnn_dgl.runs import RunDir
from spgnn_dgl.training import train_network
from tests.conftest import random_dataset
from tests.evaluation.records import record, without_times
from tests.experiments import quick_config, quick_run

# ---- the choice of the epoch -----------------------------------------------------------------------------------------


def test_paper_selection_takes_the_best_average_and_honest_the_best_of_the_other_folds():
    finals = [
        record(0, 0, {50: 1.0, 100: 0.25}),
        record(0, 1, {50: 0.5, 100: 0.75}),
        record(0, 2, {50: 0.5, 100: 0.75}),
    ]
    views = PROTOCOLS.get("paper").views(finals)
    assert set(views[OPTIMISTIC].values()) == {50}  # 2/3 against 0.583
    assert views[HONEST] == {(0, 0): 100, (0, 1): 50, (0, 2): 50}


def test_honest_epoch_of_a_fold_does_not_depend_on_that_fold():
    rng = np.random.default_rng(0)
    others = [record(0, f, {e: rng.integers(0, 5) / 4 for e in (1, 2, 3)}) for f in range(1, 5)]
    chosen = set()
    for own in (0.0, 0.25, 0.5, 0.75, 1.0):
        for epoch in (1, 2, 3):
            first = record(0, 0, {e: own if e == epoch else 0.5 for e in (1, 2, 3)})
            chosen.add(PROTOCOLS.get("paper").views([first, *others])[HONEST][0, 0])
    assert len(chosen) == 1


def test_each_repeat_chooses_for_itself():
    finals = [record(r, f, {1: float(r == 0), 2: float(r == 1)}) for r in (0, 1) for f in (0, 1)]
    assert PROTOCOLS.get("paper").views(finals)[OPTIMISTIC] == {(0, 0): 1, (0, 1): 1, (1, 0): 2, (1, 1): 2}


def test_a_single_fold_has_no_others_and_takes_the_last_epoch():
    views = PROTOCOLS.get("paper").views([record(0, 0, {1: 1.0, 2: 0.5})])
    assert (views[OPTIMISTIC][0, 0], views[HONEST][0, 0]) == (1, 2)


# ---- who sees what ---------------------------------------------------------------------------------------------------


def plan_of(data, protocol, *, repeats=1, folds=3, search=None, stored=None, options=None):
    splits = PROTOCOLS.get(protocol).splits(data, folds, repeats, 0, stored)
    return Plan("spy", options or {}, (1, 2, 3), 0, splits, search or {})


@pytest.mark.parametrize("protocol", ["paper", "fair"])
def test_candidates_never_see_the_tested_fold(spy, protocol):
    data = random_dataset(30)
    plan = plan_of(data, protocol, repeats=2, search={"certainty": (0.8, 0.9)})
    units = PROTOCOLS.get(protocol).select_units(plan, data)
    tests = {(r, f): set(fold.test.tolist()) for r, folds in enumerate(plan.splits) for f, fold in enumerate(folds)}
    assert {u.options["certainty"] for u in units} == {0.8, 0.9}
    assert len(units) == 2 * 3 * (2 if protocol == "paper" else 1)
    for unit in units:
        seen = set(unit.train.tolist()) | set(unit.validation.tolist())
        assert not seen & tests[unit.repeat, unit.fold]
        assert not set(unit.train.tolist()) & set(unit.validation.tolist())
        assert len(seen) == 20
        assert unit.test is None
        assert set(np.unique(data.labels[unit.validation])) == {0, 1}


def test_paper_trains_on_all_other_folds_and_watches_the_tested_one(spy, tmp_path):
    data = random_dataset(24)
    quick_run(tmp_path, dataset=data, method="spy")
    assert len(spy.seen) == 3
    for note in spy.seen:
        assert note["train"] | note["watch"] == set(range(24))
        assert not note["train"] & note["watch"]
        assert note["validation"] is None
        assert note["watch_at"] == (1, 2, 3)
    assert set().union(*(note["watch"] for note in spy.seen)) == set(range(24))


def test_fair_touches_the_tested_fold_once_and_holds_validation_out(spy, tmp_path):
    data = random_dataset(40)
    quick_run(tmp_path, dataset=data, method="spy", protocol="fair", folds=4, options={"size": "auto"})
    assert len(spy.seen) == 4 * 2 + 4 * 2  # two sizes per fold, and two more trainings with the better one
    tested = []
    for note in spy.seen:
        seen = note["train"] | note["validation"]
        assert note["watch"] is None
        assert (len(note["train"]), len(note["validation"]), len(seen)) == (27, 3, 30)
        tested += [part for part in note["predicted"] if part != note["validation"]]
        assert all(part == set(range(40)) - seen for part in note["predicted"] if part != note["validation"])
    times = Counter(map(frozenset, tested))
    assert len(times) == 4
    assert set(times.values()) == {3}
    assert len({note["seed"] for note in spy.seen}) == 4 * 3


def test_a_candidate_that_is_not_chosen_never_sees_the_tested_fold(spy, tmp_path):
    data = random_dataset(40)
    search = {"certainty": (0.1, 0.9)}  # the second one is right
    quick_run(tmp_path, dataset=data, method="spy", protocol="fair", folds=4, search=search)
    for note in spy.seen:
        if note["options"]["certainty"] == 0.1:
            assert note["predicted"] == [note["validation"]]


def test_the_first_final_training_of_fair_is_the_chosen_candidate_s(tmp_path):
    """Its record is that of a training from the beginning, to the last bit, whatever was recalled for it."""
    data = random_dataset(24, max_nodes=14)
    settings = {"dataset": data, "protocol": "fair", "epochs": (3,), "search": {"lr": (0.01, 0.001)}}
    with mock.patch("spgnn_dgl.methods.base.train_network", wraps=train_network) as trained:
        folder = RunDir(quick_run(tmp_path, **settings).path)
    assert trained.call_count == 3 * 2 + 3 * 2  # folds: candidates, and the second and third repeat
    prepared = prepare(quick_config(tmp_path, **settings))
    chosen = choose([record for record in folder.units() if record["stage"] == SELECT])
    for unit in prepared.protocol.final_units(prepared.plan, prepared.data, chosen):
        assert (unit.same_as is not None) == (unit.repeat == 0)
        anew = run_unit(replace(unit, same_as=None), data, tmp_path / "anew", checkpoints=False, heartbeat=False)
        assert without_times(folder.unit(unit.name)) == without_times(anew)
    assert not list(folder.path.rglob("select-*.safetensors"))  # kept until the run was complete


@pytest.mark.parametrize("loss", [Path.unlink, lambda path: path.write_bytes(b"half")])
def test_a_candidate_whose_model_is_lost_is_trained_again(tmp_path, loss):
    data = random_dataset(24, max_nodes=14)
    settings = {"dataset": data, "protocol": "fair", "repeats": 1, "epochs": (2,), "search": {"lr": (0.01, 0.001)}}
    models = list(search(quick_config(tmp_path, **settings)).rglob("select-*.safetensors"))
    assert len(models) == 3 * 2
    for path in models:
        loss(path)
    with mock.patch("spgnn_dgl.methods.base.train_network", wraps=train_network) as trained:
        assert quick_run(tmp_path, **settings).results["status"] == "complete"
    assert trained.call_count == 3


def test_options_left_open_by_the_method_are_searched_and_set_ones_are_not(spy):
    data = random_dataset(30)
    fold = np.arange(20)
    assert plan_of(data, "paper").candidates(data, fold) == [{}]
    assert plan_of(data, "paper", options={"size": "auto"}).candidates(data, fold) == [{"size": 1}, {"size": 2}]
    assert plan_of(data, "paper", options={"size": 2}).candidates(data, fold) == [{"size": 2}]
    both = plan_of(data, "paper", options={"size": "auto"}, search={"certainty": (0.1, 0.2)})
    assert len(both.candidates(data, fold)) == 4


def test_k_of_midsize_graphs_is_searched_by_spgnn_itself():
    data = random_dataset(30, max_nodes=80)
    assert 30 <= data.node_counts.mean() <= 200
    folds = stratified_folds(data.labels, 3)
    plan = Plan("spgnn", {}, (1,), 0, (folds,))
    assert plan.candidates(data, folds[0].train) == [{"k": 30}, {"k": 50}]


def test_stored_validation_parts_are_used():
    data = random_dataset(12)
    stored = Folds(12, (Fold(np.arange(0, 6), np.arange(9, 12), np.arange(6, 9)),))
    plan = Plan("spgnn", {}, (1,), 0, (stored,), {"lr": (0.1, 0.01)})
    for protocol in ("paper", "fair"):
        for unit in PROTOCOLS.get(protocol).select_units(plan, data):
            assert unit.validation.tolist() == [6, 7, 8]
            assert unit.train.tolist() == list(range(6))
    (paper,) = PROTOCOLS.get("paper").final_units(plan, data, {})
    (fair,) = PROTOCOLS.get("fair").final_units(plan, data, {})
    assert paper.train.tolist() == list(range(9))
    assert fair.train.tolist() == list(range(6))


def test_repeats_have_folds_of_their_own_under_paper_and_shared_ones_under_fair():
    data = random_dataset(30)
    paper = PROTOCOLS.get("paper").splits(data, 3, 2, 0, None)
    fair = PROTOCOLS.get("fair").splits(data, 3, 2, 0, None)
    assert not paper[0].same_as(paper[1])
    assert fair[0] is fair[1]
    assert [f.test.tolist() for f in fair[0]] == [f.test.tolist() for f in paper[0]]  # so both can be paired


def test_folds_follow_the_seed():
    data = random_dataset(30)
    first, again, other = (PROTOCOLS.get("paper").splits(data, 3, 1, seed, None)[0] for seed in (0, 0, 1))
    assert first.same_as(again)
    assert not first.same_as(other)


def test_every_place_has_a_seed_of_its_own():
    places = [(seed, repeat, fold) for seed in range(3) for repeat in range(4) for fold in range(10)]
    assert len({derived_seed(*place) for place in places}) == len(places)


def test_unknown_protocol_is_answered_with_the_known_ones(tmp_path):
    with pytest.raises(UnknownNameError, match="Did you mean 'paper'"):
        quick_run(tmp_path, protocol="papr")


def test_epochs_of_one_training_are_those_of_shorter_trainings(tmp_path):
    """One training to the largest epoch answers for all: stopping earlier gives the same predictions."""
    long, short = (quick_run(tmp_path / str(e), epochs=e) for e in ((1, 2), (1,)))
    for one, other in zip(RunDir(long.path).units(), RunDir(short.path).units(), strict=True):
        assert one["probabilities"]["1"] == other["probabilities"]["1"]
