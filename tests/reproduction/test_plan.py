"""The plan is what the tables need."""

from __future__ import annotations

from collections import Counter

import pytest

from spgnn_dgl.data.benchmarks import paper_datasets
from spgnn_dgl.errors import OptionError
from spgnn_dgl.methods import METHODS
from spgnn_dgl.paper import table_columns, table_methods
from spgnn_dgl.reproduction.plan import PLAN, Task, matching
from spgnn_dgl.reproduction.settling import GRIDS


def test_every_cell_of_the_printed_tables_is_planned_once():
    counts = Counter((task.row, task.dataset, task.protocol) for task in PLAN)
    assert set(counts.values()) == {1}
    for table in (1, 2, 3):
        for method in table_methods(table):
            for dataset in table_columns(table):
                assert (method, dataset, "paper") in counts


def test_every_method_runs_on_the_small_sets():
    rows = {(task.method, task.dataset) for task in PLAN}
    for name, _ in METHODS:
        for dataset in ("MUTAG", "PTC", "PROTEINS", "IMDB-BINARY", "IMDB-MULTI"):
            assert (name, dataset) in rows


def test_spgnn_is_repeated_where_it_is_cheap():
    repeats = {task.dataset: task.repeats for task in PLAN if task.row == "spgnn" and task.protocol == "paper"}
    assert set(repeats) == set(paper_datasets())
    assert {d for d, r in repeats.items() if r >= 3} == {"MUTAG", "PTC", "PROTEINS", "IMDB-BINARY", "IMDB-MULTI"}


def test_only_narrows_the_plan():
    assert matching([], PLAN) == list(PLAN)
    found = matching(["spgnn,dgcnn", "fair"], PLAN)
    assert {(t.row, t.protocol) for t in found} == {("spgnn", "fair"), ("dgcnn", "fair")}
    with pytest.raises(OptionError, match=r"'spgn' names no part of the plan\. Did you mean 'spgnn'"):
        matching(["spgn"], PLAN)


def test_only_narrows_the_grids(tmp_path):
    found = matching(["learning rate,k", "PROTEINS"], GRIDS)
    assert {(grid.name, grid.dataset) for grid in found} == {("learning rate", "PROTEINS"), ("k", "PROTEINS")}
    assert {grid.config(tmp_path).method for grid in matching(["dgcnn"], GRIDS)} == {"dgcnn"}


def test_a_variant_is_a_method_with_options(tmp_path):
    config = Task("sagpool-global", "MUTAG").config(tmp_path)
    assert (config.method, config.options) == ("sagpool", {"variant": "global"})


def test_stored_folds_serve_the_fair_protocol_alone(tmp_path):
    folds = tmp_path / "folds"
    assert Task("gin", "NCI1").config(tmp_path, folds=folds).folds_file is None
    assert Task("gin", "NCI1", protocol="fair").config(tmp_path, folds=folds).folds_file == folds / "NCI1.json"
