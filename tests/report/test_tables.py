"""A comparison in Markdown, LaTeX and CSV."""

from __future__ import annotations

import csv

import numpy as np
import pytest

from spgnn_dgl.errors import OptionError
from spgnn_dgl.report.comparison import compare_runs
from spgnn_dgl.report.tables import render
from tests.report.finished import finished

BASE = np.random.default_rng(0).normal(0.75, 0.04, 10)


@pytest.fixture
def comparison(tmp_path):
    runs = [
        finished(tmp_path, d, m, BASE - 0.05 * i) for d in ("MUTAG", "X_1") for i, m in enumerate(("spgnn", "gin@k=3"))
    ]
    return compare_runs(runs)


def test_markdown_has_a_row_per_method_and_bold_best(comparison):
    lines = render(comparison, "md").splitlines()
    assert lines[0] == "| method | MUTAG | X_1 |"
    mean, std = 100 * BASE.mean(), 100 * BASE.std(ddof=1)
    assert lines[2] == f"| spgnn | **{mean:.2f} ± {std:.2f}** | **{mean:.2f} ± {std:.2f}** |"
    assert lines[3].startswith("| gin@k=3 | ")
    assert "**" not in lines[3]


def test_latex_is_a_booktabs_table_with_escaped_names(comparison):
    text = render(comparison, "latex")
    assert r"Method & MUTAG & X\_1 \\" in text
    assert text.count(r"\textbf{") == 4
    rows = [line for line in text.splitlines() if line.endswith(r"\\")]
    assert all(row.count(" & ") == 2 for row in rows)
    assert text.index(r"\toprule") < text.index(r"\midrule") < text.index(r"\bottomrule")


def test_csv_has_a_line_per_cell_with_the_test(comparison):
    lines = list(csv.DictReader(render(comparison, "csv").splitlines()))
    assert [(x["dataset"], x["method"], x["bold"]) for x in lines] == [
        ("MUTAG", "spgnn", "1"), ("MUTAG", "gin@k=3", "0"), ("X_1", "spgnn", "1"), ("X_1", "gin@k=3", "0"),
    ]  # fmt: skip
    assert float(lines[1]["points_behind"]) == pytest.approx(5.0)
    assert lines[1]["best"] == "spgnn"


def test_an_unknown_format_is_refused(comparison):
    with pytest.raises(OptionError, match="known: md, latex, csv"):
        render(comparison, "html")
