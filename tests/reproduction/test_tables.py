"""Tables are made of their records, and the page's tables of the records beside it."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from spgnn_dgl.reproduction.records import Record, read_records
from spgnn_dgl.reproduction.tables import spgnn_row, tables_text

RESULTS = Path(__file__).parents[2] / "docs" / "results"
README = Path(__file__).parents[2] / "README.md"


NO_BREAK = "\N{NO-BREAK SPACE}"


def spaced(records: list[Record]) -> str:
    return tables_text(records).replace(NO_BREAK, " ")


def record(row: str, dataset: str, scores: list[list[float]], **changed) -> Record:
    fields = {
        "row": row, "dataset": dataset, "method": row, "protocol": "paper", "seed": 0, "status": "complete",
        "options": {}, "repeats": len(scores), "folds": [f"f{i}" for i in range(len(scores))], "sizes": [90.0, 10.0],
        "majority_rate": 0.5, "accuracies": {"optimistic": scores, "honest": scores}, "epochs": {}, "chosen": {},
        "sentinels": {}, "seconds": 1.0, "versions": {},
    }  # fmt: skip
    return Record(**{**fields, **changed})


def test_a_cell_is_mean_and_deviation_over_folds():
    scores = [[0.8, 0.9, 0.7], [0.6, 0.9, 0.9]]
    text = spaced([record("wl", "PTC", scores)])
    table = 100 * np.array(scores)
    spread = np.sqrt(np.mean(table.var(axis=1, ddof=1)))
    assert f"| `wl` |  | **{table.mean():.2f} ± {spread:.2f}** |" in text


def test_bold_are_the_best_and_its_equals():
    best = [[0.8, 0.9, 0.7, 0.8]]
    near = [[0.801, 0.897, 0.7, 0.8]]
    below = [[0.7, 0.8, 0.6, 0.7]]
    text = spaced([record("wl", "PTC", best), record("gk", "PTC", near), record("pk", "PTC", below)])
    assert "| `wl` |  | **80.00 ± 8.16** |" in text
    assert "| `gk` |  | **79.95 ± " in text
    assert "| `pk` |  | 70.00 ± 8.16 |" in text
    assert "PTC (best: wl): pk." in text


def test_printed_numbers_stand_below_ours():
    lines = spaced([record("wl", "PTC", [[0.5, 0.6]])]).splitlines()
    position = next(i for i, line in enumerate(lines) if line.startswith("| `wl` |"))
    assert lines[position + 1].startswith("| *printed* | *84.11 ± 1.91* | *57.97 ± 2.49* |")


def test_remarks_stand_below_the_table_they_are_about():
    first, second, third = spaced([record("wl", "PTC", [[0.5, 0.6]])]).split("### Table ")[1:]
    assert "* `pk`: Called shortest path" in first
    assert "* `sagpool` on NCI1: The number of SAGPool's global variant" in second
    assert "* `arch1`, `arch2` on PTC: 19/34 = 55.88" in third
    assert "constant predictor" not in first + second
    assert "* IMDB-MULTI: The paper prints 3500 graphs; the file has 1500." in third.partition("### ")[2]


def test_a_run_that_its_budget_ended_says_so():
    text = spaced([record("rw", "PTC", [[]], status="timeout", accuracies={}, folds=[])])
    assert "| `rw` |  | > 30m |" in text


def test_the_front_page_shows_both_selections():
    one = record("spgnn", "MUTAG", [[0.8, 0.9]], accuracies={"optimistic": [[0.8, 0.9]], "honest": [[0.8, 0.8]]})
    assert "| MUTAG | 84.39 ± 0.19 | 85.00 ± 7.07 | 80.00 ± 0.00 | 50.00 |" in spgnn_row([one]).replace(NO_BREAK, " ")


def test_the_tables_of_the_page_are_those_of_its_records():
    assert (RESULTS / "tables.md").read_text(encoding="utf-8") == tables_text(read_records(RESULTS))


def test_the_table_of_the_readme_is_that_of_the_records():
    assert spgnn_row(read_records(RESULTS)) in README.read_text(encoding="utf-8")
