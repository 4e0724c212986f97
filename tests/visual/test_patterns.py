"""Patterns as little trees with an example."""

from __future__ import annotations

import pytest

from spgnn_dgl.errors import OptionError
from spgnn_dgl.explain.patterns import find_patterns
from spgnn_dgl.visual.patterns import distinct, draw_patterns, scientific
from tests.explain.test_patterns import ends_first, molecules
from tests.explained import motif_subject, written_subject


@pytest.fixture(scope="module")
def table():
    return find_patterns(written_subject(molecules(), ends_first, k=3), fewest_graphs=3)


def test_a_row_per_class_with_trees_examples_and_counts(table):
    figure = draw_patterns(table, per_class=2)
    texts = [t.get_text() for t in figure.texts]
    assert {"class class 0", "class class 1"} <= set(texts)
    captions = [t for t in texts if t.startswith("layer")]
    first = distinct(table.of_class(1), 2)[0]
    assert any(f"{first.enrichment:.1f}× enriched" in c and "in 100% of the class, 0% elsewhere" in c for c in captions)
    assert len(figure.axes) == 2 * len(captions)
    figure.canvas.draw()
    boxes = [t.get_window_extent() for t in figure.texts]
    assert not any(a.overlaps(b) for i, a in enumerate(boxes) for b in boxes[:i])


def test_the_same_nodes_seen_by_two_layers_are_shown_once(table):
    listed = table.of_class(1)
    keys = [(p.pooled, p.nodes, p.graphs) for p in listed]
    assert len(set(keys)) < len(keys)
    shown = distinct(listed, 50)
    assert len(shown) == len(set(keys))
    assert shown[0] is listed[0]


def test_nothing_to_draw_is_an_error():
    with pytest.raises(OptionError, match="no pattern to draw"):
        draw_patterns(find_patterns(motif_subject(), fewest_graphs=500))


@pytest.mark.parametrize(("value", "text"), [(0.0312, "0.031"), (3.2e-9, "3e-09"), (0.0, "< 1e-300"), (1.0, "1")])
def test_numbers_are_short(value, text):
    assert scientific(value) == text
