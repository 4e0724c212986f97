"""The DGCNN and GIN text format: every dataset comes back, every mistake is named with its line."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings

from spgnn_dgl.data.readers.dgcnn_text import read_dgcnn_text
from spgnn_dgl.data.readers.tu import read_tu
from spgnn_dgl.errors import DatasetError, DatasetNotFoundError
from tests.data.data_samples import Plain, assert_same_arrays, plain_datasets, write_zip

EXAMPLE = """2
3 0
7 2 1 2
7 1 0
8 1 0
1 5
7 0
"""


def as_text(plain: Plain) -> str:
    """The format, written with plain loops: node v lists u for every edge (u, v)."""
    lines = [str(len(plain.counts))]
    for g, count in enumerate(plain.counts):
        lines.append(f"{count} {plain.classes[g]}")
        for v in range(count):
            sources = [u for u, w in plain.edges[g] if w == v]
            tag = plain.node_labels[g][v] if plain.node_labels else 0
            attributes = plain.attributes[g][v] if plain.attributes else []
            lines.append(" ".join(map(str, [tag, len(sources), *sources, *attributes])))
    return "\n".join(lines) + "\n"


@settings(max_examples=100, deadline=None)
@given(plain_datasets(directed=False, edge_labels=False))
def test_every_dataset_comes_back(tmp_path_factory, plain: Plain):
    if plain.node_labels and len({v for row in plain.node_labels for v in row}) == 1:
        plain.node_labels = None  # one tag for all is how the format says "no labels"
    path = tmp_path_factory.mktemp("text") / "TINY.txt"
    path.write_text(as_text(plain))
    found, expected = read_dgcnn_text(path), plain.dataset()
    assert_same_arrays(found, expected)
    assert found.meta.class_names == expected.meta.class_names
    assert found.meta.node_label_names == expected.meta.node_label_names
    assert found.meta.mended == expected.meta.mended
    assert found.name == "TINY"


def test_a_file_a_zip_and_a_folder_are_the_same(tmp_path):
    (tmp_path / "MINE.txt").write_text(EXAMPLE)
    (tmp_path / "readme.txt").write_text("Made by hand\n")
    packed = write_zip(tmp_path / "elsewhere" / "MINE.zip", {"dataset/MINE/MINE.txt": EXAMPLE})
    for path in (tmp_path / "MINE.txt", tmp_path, packed):
        data = read_dgcnn_text(path)
        assert data.node_counts.tolist() == [3, 1]
        assert data.meta.class_names == ("0", "5")
        assert data.meta.node_label_names == ("7", "8")
        assert data[0][0].in_degrees().tolist() == [2, 1, 1]


@pytest.mark.parametrize(
    ("line", "text", "message"),
    [
        (1, "2 3", r"line 1: has 2 numbers; the first line should be the number of graphs"),
        (1, "0", r"line 1: announces 0 graphs"),
        (1, "1.5", r"line 1: the number of graphs 1.5 is not a whole number"),
        (1, "3", r"line 1: announces 3 graphs, but the file holds 2"),
        (1, "1", r"line 6: more lines follow after the 1 graphs"),
        (2, "three 0", r"line 2: 'three' is not a finite number"),
        (2, "0 0", r"line 2: a graph of 0 nodes; a graph needs at least one node"),
        (2, "-3 0", r"line 2: a graph of -3 nodes"),
        (2, "3", r"line 2: has 1 numbers where a graph should begin"),
        (2, "3 0.5", r"line 2: the class 0.5 is not a whole number"),
        (3, "7 2 1 nan", r"line 3: 'nan' is not a finite number"),
        (3, "7 2 1 3", r"line 3: names the neighbour 3, but the nodes of this graph are 0 … 2"),
        (3, "7 2 1 -1", r"line 3: names the neighbour -1"),
        (3, "7 2 1 99999999999", r"line 3: names the neighbour"),
        (3, "7 2 1 1.5", r"line 3: names the neighbour 1.5"),
        (3, "7", r"line 3: a node needs at least two numbers"),
        (4, "7 3 0 1", r"line 4: announces 3 neighbours and 0 attributes, but 2 numbers follow"),
        (4, "7 1 0 0.5", r"line 4: announces 1 neighbours and 0 attributes, but 2 numbers follow"),
        (4, "7 -1", r"line 4: announces -1 neighbours"),
        (4, "7 0.5", r"line 4: the degree 0.5 is not a whole number"),
        (4, "", r"line 4: a node needs at least two numbers"),
        (6, "5 5", r"line 6: a graph of 5 nodes begins, but the file ends 4 lines early"),
    ],
)
def test_a_mistake_is_found_on_its_line(tmp_path, line, text, message):
    lines = EXAMPLE.splitlines()
    lines[line - 1] = text
    path = tmp_path / "BAD.txt"
    path.write_text("\n".join(lines) + "\n")
    with pytest.raises(DatasetError, match=rf"BAD.txt, {message}"):
        read_dgcnn_text(path)


def test_an_empty_or_missing_file_is_named(tmp_path):
    (tmp_path / "EMPTY.txt").write_text("\n")
    with pytest.raises(DatasetError, match=r"EMPTY.txt is empty"):
        read_dgcnn_text(tmp_path / "EMPTY.txt")
    with pytest.raises(DatasetNotFoundError, match=r"GONE.txt"):
        read_dgcnn_text(tmp_path / "GONE.txt")


@pytest.mark.real_data
@pytest.mark.parametrize(("text_name", "name"), [("PTC", "PTC"), ("IMDBMULTI", "IMDB-MULTI")])
def test_both_formats_of_a_benchmark_hold_the_same_graphs(real_archive, text_name, name):
    archive = real_archive(name)
    path = archive.parent.parent / "dgcnn" / f"{text_name}.txt"
    if not path.exists():
        pytest.skip(f"{path.name} is not beside the data home")
    text, tu = read_dgcnn_text(path), read_tu(archive)
    for attribute in ("node_counts", "edge_counts"):
        np.testing.assert_array_equal(np.sort(getattr(text, attribute)), np.sort(getattr(tu, attribute)))
    np.testing.assert_array_equal(np.sort(np.bincount(text.labels)), np.sort(np.bincount(tu.labels)))
    assert text.num_node_labels == tu.num_node_labels
