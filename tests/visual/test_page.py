"""The page as a file: whole, self-contained, and the numbers in it are the model's."""

from __future__ import annotations

import json
import logging
import re

import numpy as np
import pytest

from spgnn_dgl.errors import OptionError
from spgnn_dgl.visual import page
from spgnn_dgl.visual.page import PageOptions, sample, write_page
from tests.explained import complete, dataset, motif_subject, path, star, written_subject
from tests.visual.test_packing import unpack


def content_of(path):
    text = path.read_text(encoding="utf-8")
    content = json.loads(re.search(r'<script type="application/json" id="content">(.*?)</script>', text, re.S)[1])
    packed = re.search(r'<script type="text/plain" id="numbers">(.*?)</script>', text, re.S)[1]
    return content, unpack(packed, content["arrays"])


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    return write_page(motif_subject(), tmp_path_factory.mktemp("page") / "page.html")


def test_nothing_is_fetched(written):
    text = written.read_text(encoding="utf-8")
    addresses = set(re.findall(r"https?://[^\s\"'<]+", text))
    assert addresses == {"http://www.w3.org/2000/svg"}  # a name, not an address that is asked
    assert not re.search(r"<(link|img|iframe|script)[^>]+(src|href)=", text)
    assert "default-src 'none'" in text


def test_numbers_are_those_of_the_model(written):
    subject = motif_subject()
    content, numbers = content_of(written)
    order = np.argsort(subject.graphs)
    assert numbers["graph"].tolist() == sorted(subject.graphs.tolist())
    assert (numbers["label"] - 1).tolist() == subject.labels[order].tolist()
    np.testing.assert_allclose(
        numbers["probability"].reshape(-1, 3) / content["grid"], subject.probabilities()[order], atol=1e-5
    )
    starts = numbers["nodeStart"]
    for place, number in enumerate(order):
        pooled = subject.pooled()[number]
        rows = slice(starts[place], starts[place + 1])
        np.testing.assert_allclose(numbers["importance"].reshape(-1, 3)[rows].T, pooled.importance, rtol=1e-5)
        ranks = numbers["rank"].reshape(-1, 4)[rows].T
        for top in (1, 4, 10):
            np.testing.assert_array_equal(ranks[0] < top, pooled.top(top))
        bits = [(numbers["selected"][rows] >> layer) & 1 for layer in range(3)]
        np.testing.assert_array_equal(np.array(bits, dtype=bool), pooled.selected)
        truth = subject.explained[int(number)][0].ndata["truth"].numpy()
        np.testing.assert_array_equal(numbers["truth"][rows].astype(bool), truth)
    assert (content["numLayers"], content["k"], content["heldOut"]) == (3, 10, True)


def test_positions_keep_their_shape(written):
    from spgnn_dgl.visual.layout import layout
    from spgnn_dgl.visual.structure import structure_of

    content, numbers = content_of(written)
    structure = structure_of(motif_subject().data, int(numbers["graph"][0]))
    expected = layout(structure.num_nodes, structure.edges)
    found = numbers["position"].reshape(-1, 2)[: structure.num_nodes] / content["grid"] * numbers["span"][0]
    np.testing.assert_allclose(found, expected - expected.min(axis=0), atol=1e-3)
    np.testing.assert_array_equal(numbers["edges"].reshape(-1, 2)[: len(structure.edges)], structure.edges)


def test_patterns_and_curves_are_there(written):
    content, _ = content_of(written)
    assert content["curves"] == [
        {
            "epoch": [1.0, 2.0],
            "loss": [pytest.approx(line["loss"], rel=1e-3) for line in motif_subject().parts[0].history],
            "accuracy": [pytest.approx(line["accuracy"], rel=1e-3) for line in motif_subject().parts[0].history],
            "validation_loss": [None, None],
            "validation_accuracy": [None, None],
        }
    ]
    rows = content["patterns"]["rows"]
    assert rows
    assert {row["label"] for row in rows} <= {0, 1, 2}
    assert all(row["example"][0] in motif_subject().graphs for row in rows)


def test_names_cannot_break_the_page(tmp_path):
    data = dataset([path(3), path(4)], [0, 1])
    name = "</script><b>%NUMBERS%&"
    subject = written_subject(data, lambda g: np.zeros((1, g.num_nodes())), k=2)
    odd = type(subject)(name, data, subject.parts, (name, "b"), None)
    content, numbers = content_of(write_page(odd, tmp_path / "page.html"))
    assert content["title"] == content["classNames"][0] == name
    assert numbers["size"].tolist() == [3, 4]
    assert "<b>" not in (tmp_path / "page.html").read_text().replace("<\\/script><b>", "")


def test_large_graphs_are_shown_in_part(tmp_path):
    data = dataset([star(900), complete(5)], [0, 1])
    subject = written_subject(data, lambda g: np.zeros((2, g.num_nodes())), k=5)
    _, numbers = content_of(write_page(subject, tmp_path / "page.html"))
    assert numbers["size"].tolist() == [901, 5]
    assert np.diff(numbers["nodeStart"]).tolist() == [page.LARGE, 5]
    assert len(set(numbers["node"][: page.LARGE].tolist())) == page.LARGE


def test_graphs_without_a_class_have_no_pattern_table(tmp_path):
    data = dataset([path(3), path(4)], [0, 1])
    subject = written_subject(data, lambda g: np.zeros((1, g.num_nodes())), k=2)
    data.arrays.labels[0] = -1
    content, numbers = content_of(write_page(subject, tmp_path / "page.html"))
    assert content["patterns"]["rows"] == []
    assert numbers["label"].tolist() == [0, 2]


def test_of_many_graphs_each_class_keeps_its_share():
    data = dataset([path(3)] * 90, [0] * 60 + [1] * 30)
    subject = written_subject(data, lambda g: np.zeros((1, g.num_nodes())), k=2)
    few = sample(subject, 30, seed=0)
    assert np.bincount(few.labels).tolist() == [20, 10]
    assert sample(subject, 90, seed=0) is subject
    assert sample(subject, 30, seed=1).graphs.tolist() != few.graphs.tolist()


def test_a_page_that_would_be_too_large_shows_fewer_graphs(tmp_path, monkeypatch, caplog):
    data = dataset([path(3)] * 120, [0, 1] * 60)
    subject = written_subject(data, lambda g: np.zeros((1, g.num_nodes())), k=2)
    whole = write_page(subject, tmp_path / "whole.html").stat().st_size
    monkeypatch.setattr(page, "MAX_BYTES", whole - 2500)
    with caplog.at_level(logging.WARNING, logger="spgnn_dgl"):
        smaller = write_page(subject, tmp_path / "page.html")
    assert smaller.stat().st_size <= whole - 2500
    content, _ = content_of(smaller)
    assert content["numGraphs"] < content["totalGraphs"] == 120
    assert "of 120 graphs" in caplog.text


def test_wrong_names_and_numbers_are_refused(tmp_path):
    with pytest.raises(OptionError, match=r"must end in \.html"):
        write_page(motif_subject(), tmp_path / "page.pdf")
    with pytest.raises(OptionError, match="at least one graph"):
        write_page(motif_subject(), tmp_path / "page.html", PageOptions(max_graphs=0))
