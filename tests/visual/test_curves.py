"""Learning curves and confusion matrix show the numbers they are given."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from spgnn_dgl.visual.curves import confusion_matrix, learning_curves


def histories(count=4, epochs=6):
    rng = np.random.default_rng(0)
    return [
        [{"epoch": e + 1, "loss": rng.random(), "accuracy": rng.random()} for e in range(epochs - i % 2)]
        for i in range(count)
    ]


def test_lines_are_means_and_bands_one_deviation():
    runs = histories()
    figure = learning_curves(runs, {})
    accuracy, loss = figure.axes
    for axes, key in ((accuracy, "accuracy"), (loss, "loss")):
        (line,) = [x for x in axes.lines if x.get_label() == "training"]
        for epoch, shown in zip(*line.get_data()):
            values = [run[epoch - 1][key] for run in runs if len(run) >= epoch]
            assert shown == pytest.approx(np.mean(values))
        (band,) = axes.collections
        first = band.get_paths()[0].vertices
        at_one = sorted({y for x, y in first if x == 1})
        values = [run[0][key] for run in runs]
        assert at_one == pytest.approx([np.mean(values) - np.std(values), np.mean(values) + np.std(values)])


def test_tested_folds_are_points_with_their_spread():
    figure = learning_curves(histories(), {2: [0.5, 0.7], 4: [0.6, 0.8]}, majority=0.5, chosen=[4])
    (container,) = figure.axes[0].containers
    points = container.lines[0].get_data()
    assert list(points[0]) == [2, 4]
    assert list(points[1]) == pytest.approx([0.6, 0.7])


def test_validation_is_drawn_where_there_is_any():
    runs = [[{**line, "validation_loss": 1.0, "validation_accuracy": 0.5} for line in run] for run in histories()]
    labels = [line.get_label() for line in learning_curves(runs, {}).axes[0].lines]
    assert "validation" in labels


def test_confusion_matrix_has_every_count_and_colours_by_row():
    counts = [[3, 1, 0], [0, 0, 0], [2, 2, 4]]
    figure = confusion_matrix(counts, ["a", "b", "long name"])
    axes = figure.axes[0]
    texts = [text.get_text().split("\n")[0] for text in axes.texts]
    assert texts == [str(n) for row in counts for n in row]
    shares = axes.images[0].get_array()
    np.testing.assert_allclose(shares, [[0.75, 0.25, 0], [0, 0, 0], [0.25, 0.25, 0.5]])


def test_no_global_state_of_pyplot():
    if "matplotlib.pyplot" in sys.modules:
        import matplotlib.pyplot as plt

        before = plt.get_fignums()
        learning_curves(histories(), {})
        assert plt.get_fignums() == before
    else:
        learning_curves(histories(), {})
        assert "matplotlib.pyplot" not in sys.modules
