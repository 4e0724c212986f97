"""The paper's tables as data: counted, summed up and looked up in the way a reader would."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from spgnn_dgl.data.benchmarks import paper_datasets
from spgnn_dgl.methods import METHODS
from spgnn_dgl.paper import (
    PRESETS,
    PRINTED_AVERAGES,
    SETTINGS,
    TABLES,
    preset,
    printed,
    printed_anywhere,
    table_columns,
    table_methods,
    table_remarks,
)


def test_shapes_of_the_tables():
    assert [(len(table_methods(t)), len(table_columns(t))) for t in (1, 2, 3)] == [(5, 8), (10, 8), (4, 6)]
    assert len(TABLES) == 5 * 8 + 10 * 8 + 4 * 6
    assert sum(cell.mean is None for cell in TABLES.values()) == 8 + 13


@pytest.mark.parametrize("method", PRINTED_AVERAGES)
def test_rows_of_the_ablation_give_its_printed_average(method):
    means = [printed(3, method, dataset).mean for dataset in table_columns(3)]
    assert np.mean(means) == pytest.approx(PRINTED_AVERAGES[method], abs=0.006)


def test_spgnn_has_the_same_numbers_in_all_tables():
    for dataset in set(table_columns(1)) & set(table_columns(2)):
        assert printed(1, "spgnn", dataset).mean == printed(2, "spgnn", dataset).mean
    for dataset in table_columns(3):
        assert printed(3, "spgnn", dataset).mean == printed(2, "spgnn", dataset).mean


def test_averages_of_the_text():
    """Sec. 4.4 gives the averages over Table 2: SPGNN 68.13, GIN 67.91."""
    for method, average in (("spgnn", 68.13), ("gin", 67.91)):
        assert np.mean([printed(2, method, d).mean for d in table_columns(2)]) == pytest.approx(average, abs=0.01)


def test_bold_cells_hold_the_best_of_their_column():
    for table in (1, 2, 3):
        for dataset in table_columns(table):
            cells = [c for (t, _, d), c in TABLES.items() if (t, d) == (table, dataset) and c.mean is not None]
            best = max(cells, key=lambda c: c.mean)
            assert best.bold, best
            assert all(best.mean - c.mean < 0.4 for c in cells if c.bold)


def test_names_are_looked_up_by_alias_and_missing_ones_are_none():
    assert printed(1, "spgnn", "D&D") is printed(1, "spgnn", "DD")
    assert printed(1, "spgnn", "COLLAB") is None
    assert printed(2, "spgnn", "MUTAG") is None
    assert printed(2, "spgnn", "MOTIFS") is None
    assert printed_anywhere("spgnn", "COLLAB").table == 2
    assert printed_anywhere("rw", "NCI1") is None
    assert str(printed(1, "rw", "DD")) == "> 3 days"


def test_remarks_stand_where_a_comparison_limps():
    assert "constant predictor" in printed(3, "arch1", "PTC").remark
    assert "constant predictor" in printed(3, "arch2", "PTC").remark
    assert "3500 graphs" in printed(1, "spgnn", "IMDB-MULTI").remark
    assert "with hydrogens" in printed(1, "spgnn", "PTC").remark
    assert "propagation" in printed(1, "pk", "MUTAG").remark
    assert "global variant" in printed(2, "sagpool", "NCI1").remark
    assert "Tables 2 and 3" in printed(2, "dgcnn", "DD").remark


def test_remarks_of_a_table_are_those_of_its_cells():
    for table in (1, 2, 3):
        for remark in table_remarks(table):
            columns = remark.datasets or table_columns(table)
            for method, dataset in itertools.product(remark.methods, columns):
                assert remark.text in printed(table, method, dataset).remark
    named = {method for remark in table_remarks(2) for method in remark.methods}
    assert named == set(table_methods(2)), "every row of Table 2 has its remark"


def test_every_printed_method_is_a_name_a_user_can_type():
    assert {method for _, method, _ in TABLES} <= set(METHODS.names())


def test_settings_cover_the_nine_datasets():
    assert list(SETTINGS) == paper_datasets()
    assert {name for name, s in SETTINGS.items() if s.weight_decay} == {"DD", "REDDIT-MULTI-5K"}


def test_presets_are_options_of_their_methods():
    for (method, dataset), options in PRESETS.items():
        assert set(options) <= set(METHODS.get(method).options())
        assert dataset in SETTINGS
    assert preset("gin", "DD").get("weight_decay") is None
    assert preset("spgnn", "no such set") == {}
