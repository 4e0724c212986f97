"""``spgnn datasets``: the list, one set beside the paper's numbers, the histogram."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from spgnn_dgl.cli.datasets import facts, features_of, list_all, show_one
from spgnn_dgl.cli.histogram import bar, bin_edges, histogram_lines
from spgnn_dgl.data.builtin import motifs
from tests.conftest import random_dataset

PAIR = {  # a triangle with a self-loop and a path
    "PAIR_A.txt": "1, 1\n1, 2\n2, 1\n2, 3\n3, 2\n1, 3\n3, 1\n4, 5\n5, 4\n5, 6\n6, 5\n",
    "PAIR_graph_indicator.txt": "1\n1\n1\n2\n2\n2\n",
    "PAIR_graph_labels.txt": "7\n9\n",
}


@pytest.fixture
def home(tmp_path, monkeypatch) -> Path:
    monkeypatch.setenv("SPGNN_DATASETS", str(tmp_path))
    (tmp_path / "PAIR").mkdir()
    for name, text in PAIR.items():
        (tmp_path / "PAIR" / name).write_text(text)
    return tmp_path


def shown(action) -> str:
    out = Console(file=io.StringIO(), width=200)
    action(out)
    return out.file.getvalue()


def row(table: str, name: str) -> list[str]:
    return next(line.split() for line in table.splitlines() if line.startswith(name + " "))


def test_the_list_holds_embedded_own_and_absent_sets(home):
    table = shown(list_all)
    assert row(table, "MOTIFS")[1:4] == ["registered", "300", "3"]
    assert row(table, "PAIR") == ["PAIR", str(home / "PAIR"), "2", "2", "3.00", "2.50", "degree"]
    assert row(table, "NCI1")[1:6] == ["spgnn", "fetch", "NCI1", "4110", "2"]


def test_a_broken_set_does_not_hide_the_others(home):
    (home / "BROKEN.zip").write_bytes(b"PK not a zip")
    table = shown(list_all)
    assert "BROKEN.zip is not a whole zip archive" in " ".join(table.split())
    assert row(table, "PAIR")[2] == "2"


def test_one_set_with_what_was_mended(home):
    from spgnn_dgl.data.load import load_dataset

    data = load_dataset("PAIR")
    text = shown(lambda out: show_one(data, out))
    assert "in the paper" not in text
    assert "graphs per class: 7: 1, 9: 1" in text
    assert "mended: 1 self loops" in text
    assert "3 │█" in text


def test_unknown_classes_are_told():
    data = random_dataset(4)
    data.arrays.labels[1] = -1
    assert facts(data)["graphs per class"] == "class 0: 2, class 1: 1, unknown: 1"


def test_features_in_words():
    assert features_of(motifs(num_graphs=3)) == "degree"
    assert features_of(random_dataset(attributes=2)) == "labels (4) + attributes (2)"


@pytest.mark.real_data
def test_the_papers_numbers_stand_beside_ours(real_dataset):
    text = shown(lambda out: show_one(real_dataset("IMDB-MULTI"), out))
    lines = {line.split("  ")[0]: line.split() for line in text.splitlines()}
    assert lines["graphs"][-2:] == ["1500", "3500"]
    assert lines["avg edges"][-2:] == ["65.94", "131.87"]
    assert "Remark: The paper prints 3500 graphs; the file has 1500." in text


# ---- the histogram --------------------------------------------------------------------------------------------------

sizes = st.lists(st.integers(1, 6000), min_size=1, max_size=60).map(np.array)


@given(sizes)
def test_bins_hold_every_value_once(values):
    edges = bin_edges(values)
    assert edges[0] == values.min()
    assert edges[-1] == values.max() + 1
    assert (np.diff(edges) > 0).all()
    assert len(edges) <= 13


@given(sizes)
def test_the_counts_are_those_of_a_plain_loop(values):
    for line in histogram_lines(values):
        text, rest = line.split("│")
        first, _, last = text.strip().partition("–")
        expected = sum(int(first) <= v <= int(last or first) for v in values)
        assert int(rest.split()[-1]) == expected
        assert ("█" in rest or any(c in rest for c in "▏▎▍▌▋▊▉")) == (expected > 0)


def test_long_tails_get_growing_bins():
    widths = np.diff(bin_edges(np.array([1] * 50 + [5000])))
    assert (np.diff(widths) >= 0).all()
    assert widths[-1] > 100 * widths[0]


@pytest.mark.parametrize(
    ("share", "drawn"), [(0, ""), (1, "████"), (0.5, "██"), (0.625, "██▌"), (0.001, "▏"), (0.28, "█▏")]
)
def test_bars(share, drawn):
    assert bar(share, 4) == drawn
