"""Formats are recognised by their files, and what was mended is told."""

from __future__ import annotations

import logging

import pytest

from spgnn_dgl.data.readers.formats import CSV, DGCNN, STORE, TU, read_dataset, recognise
from spgnn_dgl.data.saved import save_store
from spgnn_dgl.errors import DatasetError, DatasetNotFoundError
from tests.data.data_samples import Plain, assert_same_arrays, triangle_and_path, tu_files, write_folder, write_zip

TEXT = "2\n1 0\n5 0\n2 1\n5 1 1\n6 1 0\n"
CSV_FILES = {
    "graphs.csv": "graph_id,label\n0,a\n1,b\n",
    "nodes.csv": "graph_id,node_id\n0,0\n1,0\n",
    "edges.csv": "graph_id,src_id,dst_id\n",
}


@pytest.fixture
def places(tmp_path, tiny):
    files = tu_files(triangle_and_path())
    (tmp_path / "MINE.txt").write_text(TEXT)
    return {
        "tu folder": (write_folder(tmp_path / "TINY", files), TU, 2),
        "tu zip": (write_zip(tmp_path / "TINY.zip", {f"TINY/{n}": t for n, t in files.items()}), TU, 2),
        "csv folder": (write_folder(tmp_path / "csv", CSV_FILES), CSV, 2),
        "text file": (tmp_path / "MINE.txt", DGCNN, 2),
        "text folder": (write_folder(tmp_path / "text", {"MINE.txt": TEXT, "readme.md": "x"}), DGCNN, 2),
        "text zip": (write_zip(tmp_path / "text.zip", {"dataset/MINE.txt": TEXT}), DGCNN, 2),
        "store": (save_store(tmp_path / "store", tiny), STORE, 12),
    }


@pytest.mark.parametrize(
    "place", ["tu folder", "tu zip", "csv folder", "text file", "text folder", "text zip", "store"]
)
def test_every_format_is_recognised_and_read(places, place, tmp_path):
    path, expected, num_graphs = places[place]
    assert recognise(path) is expected
    plain, through_cache = read_dataset(path), read_dataset(path, cache_home=tmp_path / "caches")
    assert len(plain) == num_graphs
    assert_same_arrays(through_cache, plain)
    assert through_cache.meta == plain.meta


def test_what_is_in_no_format_is_refused(tmp_path):
    with pytest.raises(DatasetError, match=r"in no known format. Known: .*NAME_A.txt.*graphs.csv"):
        read_dataset(write_folder(tmp_path / "x", {"readme.md": "hello"}))
    with pytest.raises(DatasetError, match=r"in no known format"):
        read_dataset(write_zip(tmp_path / "x.zip", {"readme.md": "hello"}))
    (tmp_path / "photo.jpg").write_bytes(b"\xff\xd8")
    with pytest.raises(DatasetError, match=r"in no known format"):
        read_dataset(tmp_path / "photo.jpg")


@pytest.mark.parametrize("name", ["EMPTY.zip", "EMPTY.txt"])
def test_an_empty_file_is_named(tmp_path, name):
    (tmp_path / name).touch()
    with pytest.raises(DatasetError, match=rf"{name} is empty"):
        read_dataset(tmp_path / name)


def test_a_cut_off_zip_is_one_clear_error(places, tmp_path):
    path, _, _ = places["tu zip"]
    path.write_bytes(path.read_bytes()[:200])
    with pytest.raises(DatasetError, match=r"TINY.zip is not a whole zip archive.*spgnn fetch TINY"):
        read_dataset(path)


def test_a_path_that_does_not_exist_is_not_found(tmp_path):
    with pytest.raises(DatasetNotFoundError, match="does not exist"):
        read_dataset(tmp_path / "GONE.zip")


def test_one_class_is_refused_for_training_and_read_for_prediction(tmp_path):
    files = tu_files(triangle_and_path())
    files["TINY_graph_labels.txt"] = "1\n1\n"
    folder = write_folder(tmp_path / "TINY", files)
    for cache_home in (None, tmp_path / "caches", tmp_path / "caches"):
        with pytest.raises(DatasetError, match=r"TINY .*TINY\): every graph has the class '1'.*require_classes=False"):
            read_dataset(folder, cache_home=cache_home)
        assert len(read_dataset(folder, require_classes=False, cache_home=cache_home)) == 2


def test_absent_classes_are_told_from_a_cache_as_well(tmp_path):
    files = tu_files(triangle_and_path())
    del files["TINY_graph_labels.txt"]
    files["TINY_graph_attributes.txt"] = "0.5\n1.5\n"
    folder = write_folder(tmp_path / "TINY", files)
    assert not read_dataset(folder, require_classes=False, cache_home=tmp_path / "caches").has_labels
    with pytest.raises(DatasetError, match="regression"):
        read_dataset(folder, cache_home=tmp_path / "caches")


def test_what_was_mended_is_told_once_in_one_line(tmp_path, caplog):
    plain = Plain([3, 1], [[(0, 1), (0, 1), (1, 0), (2, 2), (1, 2)], []], [0, 1], None, None, None, False)
    folder = write_folder(tmp_path / "TINY", tu_files(plain))
    with caplog.at_level(logging.WARNING, "spgnn_dgl"):
        read_dataset(folder, cache_home=tmp_path / "caches")
    assert [record.getMessage() for record in caplog.records] == [
        "TINY: mended while reading: 1 self loops, 1 doubled edges, 1 one way edges"
    ]
    caplog.clear()
    again = read_dataset(folder, cache_home=tmp_path / "caches")
    assert not caplog.records
    assert again.meta.mended == {"self_loops": 1, "doubled_edges": 1, "one_way_edges": 1}
