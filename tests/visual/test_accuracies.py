"""Every mark of the strips stands at the accuracy it is of."""

from __future__ import annotations

import pytest

from spgnn_dgl.visual.accuracies import BELOW, Strip, accuracy_strips

STRIPS = [
    Strip("first", 80.0, 5.0, 79.0, {"wl": 85.2, "gk": 62.0}, 50.0),
    Strip("second", 51.0, 2.0, None, {}, 20.0),
]


def marks(figure, label):
    (line,) = [line for line in figure.axes[0].lines if line.get_label() == label]
    return list(zip(line.get_xdata(), line.get_ydata()))


def test_marks_stand_where_the_numbers_are():
    figure = accuracy_strips(STRIPS, "spgnn")
    assert marks(figure, "spgnn ± over folds") == [(80.0, 0), (51.0, 1)]
    assert marks(figure, "spgnn, printed") == [(79.0, 0)]
    assert marks(figure, "always the largest class") == [(50.0, 0), (20.0, 1)]
    assert marks(figure, "other methods") == [(85.2, BELOW), (62.0, BELOW)]
    (bars,) = figure.axes[0].collections
    assert [bar[:, 0].tolist() for bar in bars.get_segments()] == [[75.0, 85.0], [49.0, 53.0]]
    low, high = figure.axes[0].get_xlim()
    assert low < 20
    assert high > 85.2


def test_datasets_and_the_best_of_the_others_are_named():
    axes = accuracy_strips(STRIPS, "spgnn").axes[0]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["first", "second"]
    assert [text.get_text() for text in axes.texts] == ["wl 85.2", "largest class 20.0", "best of the others"]


@pytest.mark.parametrize("strip", STRIPS)
def test_a_strip_may_be_alone_and_have_no_others(strip):
    figure = accuracy_strips([strip], "gin")
    assert [mark[0] for mark in marks(figure, "gin ± over folds")] == [strip.own]
    shown = [len(line.get_xdata()) for line in figure.axes[0].lines if not line.get_label().startswith("_")]
    assert sum(shown) == 2 + len(strip.others) + (strip.printed is not None)
