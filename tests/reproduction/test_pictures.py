"""The page's pictures are of the records beside it."""

from __future__ import annotations

import json
import re
from pathlib import Path

import matplotlib
import numpy as np
import pytest
from scipy.stats import rankdata

from spgnn_dgl.reproduction.pictures import ACCURACIES, RANKS, accuracies, draw_pictures, ranks
from spgnn_dgl.reproduction.records import read_records

RESULTS = Path(__file__).parents[2] / "docs" / "results"


def content(dataset, row):
    return json.loads((RESULTS / "paper" / dataset / f"{row}.json").read_text())


def test_the_pictures_of_the_page_are_those_of_its_records(tmp_path):
    drawn = draw_pictures(read_records(RESULTS), tmp_path)
    assert [path.name for path in drawn] == [ACCURACIES, RANKS]
    for path in drawn:
        shipped = (RESULTS / path.name).read_text(encoding="utf-8")
        if f"Matplotlib v{matplotlib.__version__}," not in shipped:
            pytest.skip("drawn by another version of matplotlib")
        assert shipped == path.read_text(encoding="utf-8")


def test_spgnn_stands_at_the_mean_of_its_folds():
    axes = accuracies(read_records(RESULTS)).axes[0]
    (line,) = [line for line in axes.lines if line.get_label() == "spgnn ± over folds"]
    for dataset, shown in zip((label.get_text() for label in axes.get_yticklabels()), line.get_xdata(), strict=True):
        assert shown == pytest.approx(100 * np.mean(content(dataset, "spgnn")["accuracies"]["optimistic"]))


def test_ranks_are_over_the_datasets_that_every_method_has():
    texts = [text.get_text() for text in ranks(read_records(RESULTS)).axes[0].texts]
    (caption,) = [text for text in texts if text.startswith("critical difference")]
    shown = dict(re.fullmatch(r"(.*) \((.*)\)", text).groups() for text in texts if text.endswith(")"))
    assert {"spgnn", "gin", "wl", "graph2vec", "majority"} < set(shown)
    assert "arch1" not in shown
    everywhere = [
        folder.name
        for folder in (RESULTS / "paper").iterdir()
        if all((folder / f"{method}.json").exists() for method in shown)
    ]
    assert f"{len(everywhere)} datasets" in caption
    means = [[np.mean(content(dataset, m)["accuracies"]["honest"]) for m in shown] for dataset in everywhere]
    expected = np.mean([rankdata(-np.round(row, 8)) for row in means], axis=0)
    assert [float(rank) for rank in shown.values()] == pytest.approx(expected.tolist(), abs=0.006)


def test_without_records_of_spgnn_there_is_no_picture(tmp_path):
    others = [record for record in read_records(RESULTS) if record.row == "wl"]
    assert draw_pictures(others, tmp_path) == []
    assert list(tmp_path.iterdir()) == []
