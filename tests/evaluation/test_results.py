"""results.json recomputed from predictions.csv by other means, and without anything that changes from run to run."""

from __future__ import annotations

import csv
import json

import numpy as np
import pytest
from sklearn import metrics

from tests.conftest import random_dataset
from tests.experiments import quick_run


def predictions(run):
    return list(csv.DictReader((run.path / "predictions.csv").read_text().splitlines()))


@pytest.mark.parametrize("classes", [2, 3])
def test_numbers_agree_with_the_predictions(tmp_path, classes):
    data = random_dataset(36, max_nodes=14, num_classes=classes)
    run = quick_run(tmp_path, dataset=data, repeats=2)
    table = {}
    for line in predictions(run):
        table.setdefault((int(line["repeat"]), int(line["fold"])), []).append(line)
    numbers = run.results["numbers"]["optimistic"]
    accuracies, balanced, f1s, areas = [], [], [], []
    for (repeat, fold), lines in sorted(table.items()):
        true, said = [x["true"] for x in lines], [x["predicted"] for x in lines]
        accuracies.append(np.mean([t == s for t, s in zip(true, said)]))
        balanced.append(metrics.balanced_accuracy_score(true, said))
        f1s.append(metrics.f1_score(true, said, average="macro"))
        p = np.array([[float(x[f"p(class {c})"]) for c in range(classes)] for x in lines])
        areas.append(metrics.roc_auc_score(true, p[:, 1] if classes == 2 else p, multi_class="ovr"))
        assert numbers["fold_accuracies"][repeat][fold] == pytest.approx(accuracies[-1])
    for name, values in (
        ("accuracy", accuracies),
        ("balanced_accuracy", balanced),
        ("macro_f1", f1s),
        ("roc_auc", areas),
    ):
        assert numbers[name]["mean"] == pytest.approx(np.mean(values))
    assert numbers["accuracy"]["std_repeats"] == pytest.approx(
        np.std([np.mean(accuracies[:3]), np.mean(accuracies[3:])], ddof=1)
    )
    everything = [line for lines in table.values() for line in lines]
    expected = metrics.confusion_matrix([x["true"] for x in everything], [x["predicted"] for x in everything])
    assert numbers["confusion"] == expected.tolist()
    assert run.results["majority_rate"] == pytest.approx(1 / classes)


def test_every_graph_is_tested_once_per_repeat(tmp_path):
    lines = predictions(quick_run(tmp_path, repeats=2))
    assert [(int(x["repeat"]), int(x["graph"])) for x in lines] == [(r, g) for r in (0, 1) for g in range(24)]


def test_difference_is_in_points_between_the_two_selections(tmp_path):
    run = quick_run(tmp_path, epochs=(1, 2, 3, 4))
    lines = predictions(run)
    by_fold = {}
    for line in lines:
        hit = (line["predicted"] == line["true"], line["predicted_honest"] == line["true"])
        by_fold.setdefault(line["fold"], []).append(hit)
    optimistic, honest = np.mean([np.mean(hits, axis=0) for hits in by_fold.values()], axis=0)
    assert run.results["difference_points"] == pytest.approx(100 * (optimistic - honest))
    assert run.results["numbers"]["honest"]["accuracy"]["mean"] == pytest.approx(honest)


def test_no_time_and_no_place_is_in_the_results(tmp_path):
    text = (quick_run(tmp_path).path / "results.json").read_text()
    assert "seconds" not in text
    assert str(tmp_path) not in text


def test_timings_are_kept_elsewhere(tmp_path):
    run = quick_run(tmp_path)
    timings = json.loads((run.path / "timings.json").read_text())["seconds"]
    assert set(timings) == {f"final-r00-f0{f}" for f in range(3)}
    assert all(seconds > 0 for seconds in timings.values())


def test_fair_has_the_honest_number_alone(tmp_path):
    run = quick_run(tmp_path, protocol="fair", epochs=(2,), repeats=2)
    assert set(run.results["numbers"]) == {"honest"}
    assert run.results["difference_points"] is None
    accuracy = run.results["numbers"]["honest"]["accuracy"]
    assert (accuracy["num_folds"], accuracy["num_repeats"]) == (3, 2)
    table = np.array(run.results["numbers"]["honest"]["fold_accuracies"])  # (R, F)
    assert accuracy["std_folds"] == pytest.approx(np.std(table.mean(axis=0), ddof=1))
    assert accuracy["std_repeats"] == pytest.approx(np.std(table.mean(axis=1), ddof=1))
