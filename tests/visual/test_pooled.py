"""The paper's figure shows the right nodes of the right graphs."""

from __future__ import annotations

import time

import numpy as np
import pytest
from matplotlib.colors import to_rgb

from spgnn_dgl.data.store import GraphDataset
from spgnn_dgl.errors import OptionError
from spgnn_dgl.visual.pooled import PooledStyle, draw_pooled
from spgnn_dgl.visual.style import YELLOW, save_figure
from tests.explained import complete, dataset, motif_subject, path, written_subject


def marked_in(axes):
    """Number of yellow nodes in a panel, and of all nodes."""
    nodes = [c for c in axes.collections if hasattr(c, "get_sizes") and len(c.get_facecolor())]
    counts = {tuple(c.get_facecolor()[0][:3]): len(c.get_offsets()) for c in nodes}
    return counts.get(to_rgb(YELLOW), 0), sum(counts.values())


def texts_of(figure):
    return [t.get_text() for t in figure.texts] + [
        t.get_text() for legend in figure.legends for t in legend.get_texts()
    ]


def test_a_row_per_class_and_a_panel_per_graph():
    subject = motif_subject()
    figure = draw_pooled(subject, [[45, 48], [46, 49, 52]], PooledStyle(top=6, title="MOTIFS"))
    assert len(figure.axes) == 5
    texts = texts_of(figure)
    assert {"class hubs-apart", "class hubs-joined", "MOTIFS"} <= set(texts)
    assert any(text.startswith("top 6 by layers") for text in texts)
    pooled = dict(zip(subject.graphs.tolist(), subject.pooled()))
    for axes, graph in zip(figure.axes, [45, 48, 46, 49, 52]):
        assert marked_in(axes) == (pooled[graph].top(6).sum(), pooled[graph].num_nodes)
    probabilities = dict(zip(subject.graphs.tolist(), subject.probabilities()))
    best = subject.class_names[probabilities[45].argmax()]
    assert any(t.startswith("graph 45, ") and f"predicted {best} ({probabilities[45].max():.2f})" in t for t in texts)


def test_all_nodes_of_a_complete_graph_larger_than_the_cut_look_alike():
    subject = written_subject(dataset([complete(17), path(12)]), lambda g: np.zeros((3, g.num_nodes())), k=10)
    figure = draw_pooled(subject, [[0]])
    assert marked_in(figure.axes[0]) == (17, 17)


def test_truth_and_symbols_are_drawn_on_request():
    subject = motif_subject()
    figure = draw_pooled(subject, [[45]], PooledStyle(top=6, truth=True, texts="ids"))
    rings = [c for c in figure.axes[0].collections if hasattr(c, "get_sizes") and not len(c.get_facecolor())]
    assert sum(len(ring.get_offsets()) for ring in rings) == 6
    assert "ground truth" in texts_of(figure)
    numbers = {t.get_text() for t in figure.axes[0].texts}
    assert numbers == {str(v) for v in range(int(subject.data.node_counts[45]))}


def test_what_cannot_be_drawn_is_refused():
    subject = written_subject(dataset([path(3), path(4)]), lambda g: np.zeros((1, g.num_nodes())), k=2)
    with pytest.raises(OptionError, match="none can be outlined"):
        draw_pooled(subject, [[0]], PooledStyle(truth=True))
    with pytest.raises(OptionError, match="no graph to draw"):
        draw_pooled(subject, [[], []])
    with pytest.raises(OptionError, match="graph 9 was asked for"):
        draw_pooled(subject, [[9]])


def test_graphs_without_a_class_are_drawn_too():
    data = dataset([path(3), path(4)])
    data.arrays.labels[:] = -1
    subject = written_subject(data, lambda g: np.zeros((1, g.num_nodes())), k=2)
    texts = texts_of(draw_pooled(subject, [[0, 1]]))
    assert "class not known" in texts
    assert not any("✓" in text or "✗" in text for text in texts)


def test_no_text_leaves_the_figure_or_meets_another():
    figure = draw_pooled(motif_subject(), [[45, 48, 51], [46, 49, 52], [47, 50, 53]], PooledStyle(title="a title"))
    figure.canvas.draw()
    boxes = [t.get_window_extent() for t in figure.texts] + [figure.legends[0].get_window_extent()]
    for i, box in enumerate(boxes):
        assert box.x0 >= 0
        assert box.y0 >= 0
        assert box.x1 <= figure.bbox.x1
        assert box.y1 <= figure.bbox.y1
        assert not any(box.overlaps(other) for other in boxes[:i])


def test_a_graph_of_5000_nodes_is_drawn_in_seconds_as_its_pooled_neighbourhood(tmp_path):
    rng = np.random.default_rng(0)
    edges = [(v, int(rng.integers(v))) for v in range(1, 5000)] + rng.integers(0, 5000, (5000, 2)).tolist()
    data = dataset([(5000, edges), path(3)])

    def importance(graph):
        return np.random.default_rng(1).random((3, graph.num_nodes()))

    subject = written_subject(data, importance, k=30)
    start = time.process_time()
    figure = draw_pooled(subject, [[0]])
    save_figure(figure, tmp_path / "large.pdf")
    assert time.process_time() - start < 10
    marked, drawn = marked_in(figure.axes[0])
    assert (marked, drawn) == (10, 250)
    assert any("250 of 5000 nodes" in text for text in texts_of(figure))


def test_layouts_are_seeded():
    def places(seed):
        figure = draw_pooled(motif_subject(), [[45]], PooledStyle(seed=seed))
        return np.concatenate([c.get_offsets() for c in figure.axes[0].collections if hasattr(c, "get_sizes")])

    np.testing.assert_array_equal(places(1), places(1))


def test_large_k_marks_by_importance():
    """Where every layer keeps every node, the summed importance decides."""
    data = dataset([path(8), path(5)], node_labels="ABCDEFGH" + "ABCDE")
    subject = written_subject(data, lambda g: np.arange(g.num_nodes(), dtype=float)[None], k=30)
    assert isinstance(subject.data, GraphDataset)
    assert np.flatnonzero(subject.pooled()[0].top(3)).tolist() == [5, 6, 7]
