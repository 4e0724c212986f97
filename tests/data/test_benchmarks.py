"""The benchmarks as data: names, sources, and counts that the public files must have."""

from __future__ import annotations

import numpy as np
import pytest

from spgnn_dgl.data.arrays import DatasetMeta
from spgnn_dgl.data.benchmarks import (
    BENCHMARKS,
    count,
    count_differences,
    find_benchmark,
    find_download,
    paper_datasets,
    with_known_facts,
)
from tests.data.data_samples import triangle_and_path


def test_the_nine_sets_of_the_paper_and_three_more():
    assert paper_datasets() == [
        "MUTAG",
        "PTC",
        "NCI1",
        "PROTEINS",
        "DD",
        "IMDB-BINARY",
        "IMDB-MULTI",
        "COLLAB",
        "REDDIT-MULTI-5K",
    ]
    assert set(BENCHMARKS.names()) - set(paper_datasets()) == {"PTC_MR", "ENZYMES", "Mutagenicity"}


@pytest.mark.parametrize(
    ("spellings", "name"),
    [
        (["IMDB-M", "IMDBMULTI", "IMDB-MULTI", "imdb_multi"], "IMDB-MULTI"),
        (["IMDB-B", "IMDBBINARY", "IMDB-BINARY"], "IMDB-BINARY"),
        (["D&D", "DD", "d_d"], "DD"),
        (["RE-M5K", "REDDIT-M5K", "REDDIT-MULTI5K", "REDDIT-MULTI-5K", "REDDITMULTI5K"], "REDDIT-MULTI-5K"),
        (["PTC"], "PTC"),
        (["PTC_MR", "ptc-mr"], "PTC_MR"),
        (["MUTAGENICITY"], "Mutagenicity"),
    ],
)
def test_all_spellings_are_one(spellings, name):
    assert {find_benchmark(spelling).name for spelling in spellings} == {name}
    assert find_benchmark("REDDIT-BINARY") is None


def test_every_benchmark_that_differs_from_print_says_so():
    for name, known in BENCHMARKS:
        assert known.domain in ("bioinformatics", "social")
        if known.in_paper and known.counted != known.printed:
            assert known.remark, name
        if not known.remark and known.in_paper:
            assert known.counted == known.printed


def test_sources_are_public():
    assert find_download("D&D").url == "https://www.chrsmrrs.com/graphkerneldatasets/DD.zip"
    assert find_download("AIDS").url == "https://www.chrsmrrs.com/graphkerneldatasets/AIDS.zip"
    ptc = find_download("PTC")
    assert (ptc.url.split("/")[2], ptc.member) == ("github.com", "dataset/PTC/PTC.txt")


def test_counts_of_a_small_set():
    data = triangle_and_path().dataset()
    found = count(data)
    assert (found.graphs, found.max_nodes, found.avg_nodes, found.avg_edges) == (2, 3, 3.0, 2.5)
    assert (found.node_labels, found.classes) == (2, 2)
    differences = count_differences(data, find_benchmark("MUTAG"))
    assert differences[0] == "graphs: 2, expected 188"


def test_known_facts_are_added_by_name_and_format():
    meta = DatasetMeta("mutag", node_label_names=("0", "2", "9"))
    known = with_known_facts(meta, tu_labels=True)
    assert (known.name, known.domain, known.node_symbols) == ("MUTAG", "bioinformatics", ("C", "O", "9"))
    assert with_known_facts(meta, tu_labels=False).node_symbols == ()
    assert with_known_facts(DatasetMeta("mine"), tu_labels=True) == DatasetMeta("mine")


CLASS_SIZES_AND_ISOLATED = {
    "MUTAG": ([63, 125], 0),
    "PTC": ([192, 152], 0),
    "PTC_MR": ([192, 152], 0),
    "NCI1": ([2053, 2057], 428),
    "PROTEINS": ([663, 450], 5),
    "DD": ([691, 487], 0),
    "IMDB-BINARY": ([500, 500], 0),
    "IMDB-MULTI": ([500, 500, 500], 0),
    "COLLAB": ([2600, 775, 1625], 0),
    "REDDIT-MULTI-5K": ([1000, 1000, 1000, 1000, 999], 45),
    "ENZYMES": ([100] * 6, 106),
    "Mutagenicity": ([2401, 1936], 2401),
}
MENDED = {
    "IMDB-BINARY": {"doubled_edges": 193_062},
    "IMDB-MULTI": {"doubled_edges": 197_806},
    "COLLAB": {"self_loops": 2837},
}


@pytest.mark.real_data
@pytest.mark.parametrize("name", list(CLASS_SIZES_AND_ISOLATED))
def test_the_public_files_hold_what_is_expected(name, real_dataset):
    data = real_dataset(name)
    class_sizes, isolated = CLASS_SIZES_AND_ISOLATED[name]
    assert count_differences(data, find_benchmark(name)) == []
    assert np.bincount(data.labels).tolist() == class_sizes
    assert int((data.arrays.in_degrees == 0).sum()) == isolated
    nothing = {"self_loops": 0, "doubled_edges": 0, "one_way_edges": 0}
    assert data.meta.mended == {**nothing, **MENDED.get(name, {})}
    assert data.num_attributes == {"ENZYMES": 18, "PROTEINS": 1}.get(name, 0)


@pytest.mark.real_data
def test_forty_thousand_molecules_hold_what_is_expected(real_dataset):
    data = real_dataset("HIV_molhiv")
    assert (len(data), data.num_node_labels) == (41_127, 55)
    assert round(data.node_counts.mean(), 2) == 25.51
    assert round(data.edge_counts.mean() / 2, 2) == 27.47
    assert np.bincount(data.labels).tolist() == [39_684, 1443]
    assert int((data.arrays.in_degrees == 0).sum()) == 2313


@pytest.mark.real_data
def test_atoms_have_their_symbols(real_dataset):
    assert real_dataset("MUTAG").meta.node_symbols == ("C", "N", "O", "F", "I", "Cl", "Br")
    assert real_dataset("Mutagenicity").meta.node_symbols[:4] == ("C", "O", "Cl", "H")
