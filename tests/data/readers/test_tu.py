"""The TU format: every dataset comes back, in every spelling of the files, and every mistake is named."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spgnn_dgl.data.readers.tu import read_tu
from spgnn_dgl.errors import DatasetError, DatasetNotFoundError
from tests.data.data_samples import (
    Plain,
    assert_same_arrays,
    plain_datasets,
    triangle_and_path,
    tu_files,
    write_folder,
    write_zip,
)


@pytest.fixture
def files() -> dict[str, str]:
    return tu_files(triangle_and_path())


@settings(max_examples=60, deadline=None)
@given(plain=plain_datasets(directed=False), gap=st.sampled_from([", ", ","]), crlf=st.booleans())
def test_every_dataset_comes_back(tmp_path_factory, plain: Plain, gap, crlf):
    texts = {name: text.replace("\n", "\r\n") if crlf else text for name, text in tu_files(plain, gap=gap).items()}
    if not plain.flat_edges():
        return  # an empty file of edges is an error, tested below
    expected = plain.dataset()
    place = tmp_path_factory.mktemp("tu")
    folder = write_folder(place / "TINY", texts)
    archive = write_zip(place / "TINY.zip", {f"TINY/{name}": text for name, text in texts.items()})
    for found in (read_tu(folder), read_tu(archive)):
        assert_same_arrays(found, expected)
        assert found.meta.class_names == expected.meta.class_names
        assert found.meta.node_label_names == expected.meta.node_label_names
        assert found.meta.edge_label_names == expected.meta.edge_label_names
        assert found.meta.mended == expected.meta.mended
        assert found.name == "TINY"


def test_files_may_be_a_folder_deeper_or_not(tmp_path, files):
    expected = triangle_and_path().dataset()
    write_folder(tmp_path / "deeper" / "raw", files)
    assert_same_arrays(read_tu(tmp_path / "deeper"), expected)
    assert_same_arrays(read_tu(write_zip(tmp_path / "flat.zip", files)), expected)


def test_nodes_need_not_be_sorted_by_graph(tmp_path, files):
    # the node numbers 1 … 6 of the sorted set stand on these lines of the mixed one
    line_of = {1: 4, 2: 1, 3: 6, 4: 2, 5: 3, 6: 5}
    mixed = dict(files)
    for part in ("graph_indicator", "node_labels", "node_attributes"):
        rows = files[f"TINY_{part}.txt"].splitlines()
        mixed[f"TINY_{part}.txt"] = "".join(
            f"{rows[node - 1]}\n" for node, _ in sorted(line_of.items(), key=lambda pair: pair[1])
        )
    pairs = [[line_of[int(v)] for v in row.split(",")] for row in files["TINY_A.txt"].splitlines()]
    mixed["TINY_A.txt"] = "".join(f"{u}, {v}\n" for u, v in pairs)
    found, expected = read_tu(write_folder(tmp_path, mixed)), read_tu(write_folder(tmp_path / "sorted", files))
    for i in range(2):
        # inside a graph the nodes keep the order of the lines: compare as labelled sets of edges
        def edges(data, i=i):
            graph = data[i][0]
            names = [(*a, int(b)) for a, b in zip(graph.ndata["attr"].tolist(), graph.ndata["label"])]
            labels = graph.edata["label"].tolist()
            return sorted((names[u], names[v], e) for u, v, e in zip(*(x.tolist() for x in graph.edges()), labels))

        assert edges(found) == edges(expected)


def test_several_columns_of_node_labels_are_one_label(tmp_path, files):
    files["TINY_node_labels.txt"] = "1, 2\n1, 3\n1, 2\n2, 2\n2, 2\n1, 3\n"
    data = read_tu(write_folder(tmp_path, files))
    assert data.meta.node_label_names == ("1,2", "1,3", "2,2")
    assert data.arrays.node_labels.tolist() == [0, 1, 0, 2, 2, 1]


def test_classes_may_be_absent_for_prediction(tmp_path, files):
    del files["TINY_graph_labels.txt"]
    folder = write_folder(tmp_path, files)
    data = read_tu(folder, require_classes=False)
    assert not data.has_labels
    assert data.num_classes == 0
    with pytest.raises(DatasetNotFoundError, match=r"TINY_graph_labels.txt is missing.*spgnn fetch TINY"):
        read_tu(folder)


def test_a_regression_set_is_refused(tmp_path, files):
    files["TINY_graph_attributes.txt"] = "0.5\n1.5\n"
    assert read_tu(write_folder(tmp_path / "both", files)).num_classes == 2
    del files["TINY_graph_labels.txt"]
    folder = write_folder(tmp_path / "only", files)
    with pytest.raises(DatasetError, match=r"TINY_graph_attributes.txt holds numbers to predict.*regression"):
        read_tu(folder)
    assert len(read_tu(folder, require_classes=False)) == 2


def replaced(part: str, text: str):
    return lambda files: files.update({f"TINY_{part}.txt": text})


def line_replaced(part: str, line: int, text: str):
    def change(files):
        rows = files[f"TINY_{part}.txt"].splitlines()
        rows[line - 1] = text
        files[f"TINY_{part}.txt"] = "\n".join(rows) + "\n"

    return change


MISTAKES = {
    "missing edges": (lambda f: f.pop("TINY_A.txt"), r"TINY_A.txt is missing.*spgnn fetch TINY"),
    "missing indicator": (lambda f: f.pop("TINY_graph_indicator.txt"), r"TINY_graph_indicator.txt is missing"),
    "empty edges": (replaced("A", ""), r"TINY_A.txt is empty"),
    "empty indicator": (replaced("graph_indicator", ""), r"TINY_graph_indicator.txt is empty"),
    "empty labels": (replaced("graph_labels", "\n"), r"TINY_graph_labels.txt is empty"),
    "empty node labels": (replaced("node_labels", ""), r"TINY_node_labels.txt is empty"),
    "not a number": (line_replaced("A", 3, "2, three"), r"TINY_A.txt, line 3: 'three' is not two node numbers"),
    "NaN edge": (line_replaced("A", 3, "2, nan"), r"TINY_A.txt, line 3: 'nan' is not"),
    "NaN attribute": (line_replaced("node_attributes", 2, "1.5, NaN"), r"_node_attributes.txt, line 2: 'NaN' is not"),
    "short attributes": (line_replaced("node_attributes", 4, "1.5"), r"_node_attributes.txt, line 4: '1.5' has 1 fie"),
    "NaN label": (line_replaced("graph_labels", 2, "nan"), r"TINY_graph_labels.txt, line 2: 'nan' is not"),
    "fractional label": (line_replaced("graph_labels", 2, "0.7"), r"graph_labels.txt, line 2: '0.7' is not the class"),
    "no such node": (line_replaced("A", 5, "3, 7"), r"TINY_A.txt, line 5: '7' is not two node numbers from 1 to 6"),
    "node zero": (line_replaced("A", 5, "0, 1"), r"TINY_A.txt, line 5: '0' is not two node numbers from 1 to 6"),
    "negative node": (line_replaced("A", 1, "-1, 2"), r"TINY_A.txt, line 1: '-1' is not"),
    "huge node": (line_replaced("A", 1, "4294967297, 2"), r"TINY_A.txt, line 1: '4294967297' is not"),
    "three ends": (line_replaced("A", 2, "1, 2, 3"), r"TINY_A.txt, line 2: '1, 2, 3' has 3 fields, 2 expected"),
    "across graphs": (line_replaced("A", 4, "3, 4"), r"TINY_A.txt, line 4: the edge joins graph 0 to graph 1"),
    "too few classes": (replaced("graph_labels", "1\n"), r"TINY_graph_labels.txt has 1 lines, but there are 2 graphs"),
    "graph without nodes": (
        replaced("graph_labels", "1\n2\n3\n"),
        r"TINY_graph_labels.txt has 3 lines, but there are 2",
    ),
    "too few node labels": (
        replaced("node_labels", "1\n2\n"),
        r"TINY_node_labels.txt has 2 lines, but there are 6 nod",
    ),
    "too few attributes": (
        replaced("node_attributes", "1\n"),
        r"TINY_node_attributes.txt has 1 lines, but there are 6",
    ),
    "too few edge labels": (replaced("edge_labels", "1\n"), r"TINY_edge_labels.txt has 1 lines, but there are 10 edge"),
    "gap": (
        replaced("graph_indicator", "1\n1\n1\n3\n3\n3\n"),
        r"graph_indicator.txt, line 4: graph 3 .* no line names gr",
    ),
    "first graph missing": (
        replaced("graph_indicator", "2\n" * 6),
        r"_graph_indicator.txt, line 1: graph 2 .* graph 1,",
    ),
    "huge graph": (
        line_replaced("graph_indicator", 6, "2000000000"),
        r"line 6: graph 2000000000 is named, but the file",
    ),
    "graph zero": (
        line_replaced("graph_indicator", 1, "0"),
        r"graph_indicator.txt, line 1: '0' is not the number of a",
    ),
    "negative graph": (line_replaced("graph_indicator", 2, "-1"), r"graph_indicator.txt, line 2: '-1' is not"),
    "blank line": (line_replaced("graph_indicator", 2, ""), r"graph_indicator.txt, line 2 is empty"),
}


@pytest.mark.parametrize("packed", [False, True], ids=["folder", "zip"])
@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_one_clear_error(tmp_path, files, mistake, packed):
    change, message = MISTAKES[mistake]
    change(files)
    path = write_zip(tmp_path / "TINY.zip", files) if packed else write_folder(tmp_path / "TINY", files)
    with pytest.raises((DatasetError, DatasetNotFoundError), match=message):
        read_tu(path)


def test_a_place_without_the_format_or_with_two_sets_is_refused(tmp_path, files):
    with pytest.raises(DatasetNotFoundError, match=r"no file NAME_A.txt"):
        read_tu(write_folder(tmp_path / "none", {"readme.txt": "hello"}))
    two = {**files, **{name.replace("TINY", "OTHER"): text for name, text in files.items()}}
    with pytest.raises(DatasetError, match=r"more than one dataset \(OTHER, TINY\)"):
        read_tu(write_folder(tmp_path / "two", two))
    assert read_tu(write_folder(tmp_path / "OTHER", two)).name == "OTHER"  # the namesake of its place is meant


@pytest.mark.real_data
@pytest.mark.parametrize("name", ["MUTAG", "ENZYMES", "PTC_MR"])
def test_pyg_reads_the_same(name, real_archive, tmp_path):
    """PyG's reader as independent oracle."""
    import zipfile

    read_tu_data = pytest.importorskip("torch_geometric.io").read_tu_data
    zipfile.ZipFile(real_archive(name)).extractall(tmp_path)
    theirs, slices, _ = read_tu_data(str(tmp_path / name), name)
    ours = read_tu(real_archive(name))
    assert slices["y"].tolist() == list(range(len(ours) + 1))
    np.testing.assert_array_equal(theirs.y.numpy(), ours.labels)
    np.testing.assert_array_equal(slices["x"].numpy(), ours.arrays.node_offsets)
    np.testing.assert_array_equal(slices["edge_index"].numpy(), ours.arrays.edge_offsets)
    source, target = theirs.edge_index.numpy()
    shift = np.repeat(np.zeros(len(ours), dtype=int), np.diff(ours.arrays.edge_offsets))
    order = np.lexsort((source, target, np.repeat(np.arange(len(ours)), np.diff(ours.arrays.edge_offsets))))
    np.testing.assert_array_equal((source + shift)[order], ours.arrays.neighbours)
    num_labels = ours.num_node_labels
    np.testing.assert_array_equal(theirs.x[:, -num_labels:].argmax(1).numpy(), ours.arrays.node_labels)
    if ours.num_attributes:
        np.testing.assert_array_equal(theirs.x[:, :-num_labels].numpy(), ours.arrays.node_attributes)
