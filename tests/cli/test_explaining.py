"""``spgnn draw``, ``patterns``, ``faithfulness`` and ``page``: what they print and write, and how they refuse."""

from __future__ import annotations

import csv
import json

import pytest

from spgnn_dgl.cli import main
from spgnn_dgl.data.saved import save_store
from spgnn_dgl.estimator import GraphClassifier
from tests.explain.test_patterns import molecules
from tests.explained import motif_data, motif_model


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    return motif_model().save(tmp_path_factory.mktemp("model") / "model.safetensors")


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    """Sixty graphs with truth as a dataset that --data can name."""
    place = tmp_path_factory.mktemp("data") / "motifs"
    save_store(place, motif_data())
    return place


@pytest.fixture
def spgnn(capsys):
    def call(*arguments):
        try:
            main([str(argument) for argument in arguments])
        except SystemExit as end:
            code = end.code or 0
        else:
            code = 0
        out, err = capsys.readouterr()
        return code, out, err

    return call


@pytest.mark.parametrize("suffix", ["pdf", "png", "svg"])
def test_draw_writes_the_figure(spgnn, model, store, tmp_path, suffix):
    out = tmp_path / f"figure.{suffix}"
    code, text, err = spgnn("draw", model, "--data", store, "--per-class", 1, "--truth", "--out", out)
    assert (code, err) == (0, "")
    assert text == f"picture: {out}\n"
    assert out.stat().st_size > 3000


def test_draw_named_graphs_and_layers(spgnn, model, store, tmp_path):
    assert (
        spgnn("draw", model, "--data", store, "--graphs", "3,4,50", "--texts", "ids", "--out", tmp_path / "a.svg")[0]
        == 0
    )
    text = (tmp_path / "a.svg").read_text()
    assert "graph 50," in text
    assert "graph 3," in text
    assert spgnn("draw", model, "--data", store, "--view", "layers", "--out", tmp_path / "b.svg")[0] == 0
    assert "layer 3: " in (tmp_path / "b.svg").read_text()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--out", "a.gif"], "must end in .pdf, .png, .svg"),
        (["--view", "layer"], "known: pooled, layers"),
        (["--view", "layers", "--graphs", "1,2"], "draws one graph"),
        (["--graphs", "1,x"], "--graphs"),
        (["--graphs", "900"], "graph 900 was asked for"),
        (["--texts", "symbols"], "have no labels to write"),
        (["--top", "0"], "top=0"),
        (["--truth-file", "nowhere.txt"], "there is no file 'nowhere.txt'"),
    ],
)
def test_draw_says_what_is_wrong(spgnn, model, store, tmp_path, arguments, message, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code, _, err = spgnn("draw", model, "--data", store, *arguments)
    assert code == 2
    assert message in err.replace("\n", " ")
    assert list(tmp_path.iterdir()) == []


def test_patterns_are_listed_drawn_and_written(spgnn, tmp_path):
    data = molecules(24)
    save_store(tmp_path / "data", data)
    file = GraphClassifier("spgnn", k=10, layers=2, channels=4, epochs=2).fit(data).save(tmp_path / "m.safetensors")
    options = ("--data", tmp_path / "data", "--top", 3, "--find", "O(N)", "--find", "X")
    code, text, err = spgnn("patterns", file, *options, "--csv", tmp_path / "p.csv", "--out", tmp_path / "p.pdf")
    assert (code, err) == (0, "")
    assert "the first 3 nodes of each layer" in " ".join(text.split())
    assert "class class 1" in text
    assert "nitro group in class class 1: " in text
    assert "X in class class 0: at no root of its" in text
    with (tmp_path / "p.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert {"class", "rank", "pattern", "q", "graph", "node"} <= set(rows[0])
    assert f"class class 0: {sum(row['class'] == 'class 0' for row in rows)} patterns" in text
    assert (tmp_path / "p.pdf").stat().st_size > 3000


def test_patterns_refuse_a_group_that_is_none_before_they_count(spgnn, model):
    code, _, err = spgnn("patterns", model, "--find", "N(")
    assert code == 2
    assert "'N(' is not a group" in err


def test_faithfulness_prints_and_writes_all_numbers(spgnn, model, store, tmp_path):
    out = tmp_path / "f.json"
    code, text, err = spgnn("faithfulness", model, "--data", store, "--shares", "10,50", "--out", out)
    assert (code, err) == (0, "")
    assert "a model file does not say" in text
    assert "highest nodes alone kept" in text
    assert "against ground truth, 60 graphs" in text
    content = json.loads(out.read_text())
    assert len(content["faithfulness"]["outcomes"]) == 4 * 2 * 2
    assert {a["explainer"] for a in content["agreement"]} == {"pooled", "random", "degree", "saliency"}
    shown = content["agreement"][2]["auc"]
    assert f"{shown['mean']:.3f} [{shown['low']:.3f}, {shown['high']:.3f}]" in text


def test_faithfulness_of_one_class_and_some_explainers(spgnn, model, store):
    code, text, _ = spgnn(
        "faithfulness", model, "--data", store, "--shares", "20", "--explainers", "degree", "--truth-class", "ring"
    )
    assert code == 0
    assert "against ground truth, 20 graphs" in text
    assert "saliency" not in text


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--shares", "150"], "a share of 1.5"),
        (["--explainers", "pooled,degrees"], "Did you mean 'degree'?"),
        (["--truth-class", "rings", "--shares", "50", "--explainers", "degree"], "unknown class 'rings'"),
    ],
)
def test_faithfulness_says_what_is_wrong(spgnn, model, store, arguments, message):
    code, _, err = spgnn("faithfulness", model, "--data", store, *arguments)
    assert code == 2
    assert message in err.replace("\n", " ")


def test_page_is_written(spgnn, model, store, tmp_path):
    out = tmp_path / "page.html"
    code, text, err = spgnn("page", model, "--data", store, "--max-graphs", 9, "--out", out)
    assert (code, err) == (0, "")
    assert text.startswith(f"page: {out} (0.")
    assert '"numGraphs":9' in out.read_text()


def test_nothing_where_a_model_should_be(spgnn, tmp_path):
    code, _, err = spgnn("page", tmp_path / "nothing")
    assert code == 2
    assert "neither a run folder nor a model file" in err
