"""The layer view: importance, selection and rank of each layer."""

from __future__ import annotations

import numpy as np
import pytest

from spgnn_dgl.explain.selection import Pooled
from spgnn_dgl.visual.layers import draw_layers, leaders, shared_ranks
from tests.explained import dataset, motif_subject, path, written_subject


def changing():
    """A path of six different nodes: the first layer prefers one end, the second the other."""
    data = dataset([path(6), path(40)], node_labels="ABCDEF" + "A" * 40)

    def importance(graph):
        n = np.arange(graph.num_nodes(), dtype=float)
        return np.stack([n, n[::-1]])

    return written_subject(data, importance, k=3)


def panels(figure):
    return [axes for axes in figure.axes if axes.texts]


def test_every_layer_has_its_leader_ranks_and_rings():
    figure = draw_layers(changing(), 0)
    titles = [t.get_text() for t in figure.texts]
    assert "layer 1: node 5 leads" in titles
    assert "layer 2: node 0 leads" in titles
    for axes, order in zip(panels(figure), ([5, 4, 3], [0, 1, 2])):
        numbers = [t for t in axes.texts if not t.get_text().startswith("node")]
        assert sorted(t.get_text() for t in numbers) == ["1", "2", "3"]
        plain, ringed = (c for c in axes.collections if hasattr(c, "get_sizes") and len(c.get_sizes()))
        assert (len(ringed.get_offsets()), len(plain.get_offsets())) == (3, 3)
        assert ringed.get_linewidth()[0] > plain.get_linewidth()[0]
        assert {t.get_text() for t in axes.texts} >= {"node 0", "node 5"}
        places = {t.get_text(): t.get_position() for t in numbers}
        everyone = np.concatenate([plain.get_offsets(), ringed.get_offsets()])
        ends = everyone[:, 0].argsort()
        first = ends[0] if places["1"][0] < places["3"][0] else ends[-1]
        np.testing.assert_allclose(everyone[first], places["1"])
        assert len(order) == 3


def test_colour_is_importance():
    figure = draw_layers(changing(), 0)
    for axes in panels(figure):
        _, ringed = (c for c in axes.collections if hasattr(c, "get_sizes") and len(c.get_sizes()))
        brightness = ringed.get_facecolor()[:, :3] @ [0.299, 0.587, 0.114]
        by_rank = {t.get_text(): t.get_position() for t in axes.texts}
        bright = [brightness[np.abs(ringed.get_offsets() - by_rank[r]).sum(axis=1).argmin()] for r in "123"]
        assert bright == sorted(bright, reverse=True)


def test_texts_stay_inside_for_three_and_four_layers():
    for layers in (3, 4):
        data = dataset([path(9), path(3)], node_labels="ABCDEFGHI" + "ABC")
        values = np.random.default_rng(0).random((layers, 9))
        subject = written_subject(data, lambda g, v=values: v[:, : g.num_nodes()], k=4)
        figure = draw_layers(subject, 0)
        figure.canvas.draw()
        assert len(panels(figure)) == layers
        for text in figure.texts:
            box = text.get_window_extent()
            assert box.x0 >= 0
            assert box.x1 <= figure.bbox.x1


def test_equal_values_share_a_rank_as_by_plain_counting():
    values = np.random.default_rng(0).integers(0, 5, 30)
    assert shared_ranks(values).tolist() == [1 + sum(other > v for other in values) for v in values]


@pytest.mark.parametrize(
    ("tied", "text"), [(1, "node 0 leads"), (3, "nodes 0, 1, 2 lead"), (6, "6 nodes lead together")]
)
def test_leaders_in_words(tied, text):
    importance = np.array([[1.0] * tied + [0.0] * 3])
    assert leaders(Pooled(importance.astype(int), importance, importance), 0) == text


def test_large_graphs_show_a_part():
    rng = np.random.default_rng(0)
    edges = [(v, int(rng.integers(v))) for v in range(1, 500)]
    subject = written_subject(dataset([(500, edges), path(2)]), lambda g: np.zeros((2, g.num_nodes())), k=10)
    figure = draw_layers(subject, 0)
    assert "90 of 500 nodes" in figure.texts[0].get_text()


def test_a_title_replaces_the_heading():
    assert draw_layers(motif_subject(), 45, title="mine").texts[0].get_text() == "mine"
