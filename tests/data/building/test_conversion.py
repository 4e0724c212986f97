"""Conversion: every format becomes the store that a load and a save would make, and a break changes nothing in it."""

from __future__ import annotations

import pytest
from hypothesis import given, settings

from spgnn_dgl.data.building import streaming
from spgnn_dgl.data.building.conversion import convert_dataset
from spgnn_dgl.data.load import load_dataset
from spgnn_dgl.data.readers import dgcnn_text, smiles, sources, tu_parts
from spgnn_dgl.data.saved import save_store
from spgnn_dgl.errors import DatasetError, DatasetNotFoundError
from tests.data.building.test_builder import assert_same_folder, unfinished
from tests.data.data_samples import plain_datasets, triangle_and_path, tu_files, write_folder, write_zip

TEXT = "4\n1 0\n5 0\n2 1\n5 1 1\n6 1 0\n3 0\n4 2 1 2\n5 1 0\n5 1 0\n1 2\n11 0\n"
SMILES = "smiles,label\nCCO,yes\nC(C)(C)(C)(C)C,no\nc1ccccc1,no\nnonsense,yes\nO,yes\nCC=O,maybe\nx,yes\n"
CSV = {
    "graphs.csv": "graph_id,label\na,x\nb,y\n",
    "nodes.csv": "graph_id,node_id,label\na,0,C\na,1,N\nb,0,C\n",
    "edges.csv": "graph_id,src_id,dst_id\na,0,1\n",
}
DROP_IN = """
import networkx

def load():
    return ((networkx.path_graph(2 + i % 3), i % 2) for i in range(9))
"""


@pytest.fixture(autouse=True)
def small_parts(monkeypatch, tmp_path):
    """Blocks of a few lines, so that small files come in several parts; caches and work elsewhere."""
    monkeypatch.setattr(sources, "BLOCK_BYTES", 12)
    monkeypatch.setattr(tu_parts, "NODES", 4)
    monkeypatch.setattr(smiles, "BLOCK", 2)
    monkeypatch.setattr(streaming, "BLOCK", 2)
    monkeypatch.setattr(streaming, "RANGE", 2)
    monkeypatch.setenv("SPGNN_CACHE", str(tmp_path / "caches"))
    monkeypatch.chdir(tmp_path)


def write_sources(folder):
    write_zip(folder / "TINY.zip", tu_files(triangle_and_path()))
    write_folder(folder / "TINY", tu_files(triangle_and_path()))
    write_folder(folder, {"text.txt": TEXT, "molecules.csv": SMILES, "own.py": DROP_IN})
    write_folder(folder / "tables", CSV)
    save_store(folder / "saved", load_dataset("MOTIFS"))
    return folder


SOURCES = ("TINY.zip", "TINY", "text.txt", "molecules.csv#label", "own.py", "tables", "saved")


@pytest.mark.parametrize("name", SOURCES)
def test_the_store_is_that_of_a_load(tmp_path, name):
    folder = write_sources(tmp_path / "sources")
    if name.startswith("molecules"):
        pytest.importorskip("rdkit")
    converted = convert_dataset(folder / name, tmp_path / "x")
    save_store(tmp_path / "y", load_dataset(folder / name))
    assert_same_folder(tmp_path / "x", tmp_path / "y")
    assert load_dataset(tmp_path / "x").fingerprint == converted.fingerprint


def test_names_of_registered_sets_are_known(tmp_path):
    converted = convert_dataset("MOTIFS", tmp_path / "x")
    assert converted.fingerprint == load_dataset("MOTIFS").fingerprint
    assert converted.meta == load_dataset("MOTIFS").meta


@settings(max_examples=60, deadline=None)
@given(plain_datasets(directed=False, min_classes=2))
def test_drawn_tu_sets(tmp_path_factory, plain):
    folder = tmp_path_factory.mktemp("tu")
    source = write_folder(folder / "TINY", tu_files(plain))
    if not any(plain.edges):
        with pytest.raises(DatasetError, match="is empty"):
            convert_dataset(source, folder / "x")
        return
    convert_dataset(source, folder / "x")
    save_store(folder / "y", load_dataset(source))
    assert_same_folder(folder / "x", folder / "y")


def test_a_tu_set_in_another_order_is_read_whole(tmp_path, caplog):
    files = tu_files(triangle_and_path())
    edges = files["TINY_A.txt"].splitlines(keepends=True)
    labels = files["TINY_edge_labels.txt"].splitlines(keepends=True)
    for number, change in enumerate(
        (
            {"TINY_A.txt": "".join(edges[::-1]), "TINY_edge_labels.txt": "".join(labels[::-1])},
            {"TINY_graph_indicator.txt": "1\n2\n1\n2\n1\n2\n", "TINY_A.txt": "1, 3\n", "TINY_edge_labels.txt": "1\n"},
            {"TINY_node_labels.txt": "10, 1\n9, 2\n9, 2\n1, 1\n9, 2\n10, 0\n"},
        )
    ):
        source = write_folder(tmp_path / str(number) / "TINY", {**files, **change})
        caplog.clear()
        convert_dataset(source, tmp_path / "x")
        assert "is read as a whole" in caplog.text
        save_store(tmp_path / "y", load_dataset(source))
        assert_same_folder(tmp_path / "x", tmp_path / "y")


@pytest.mark.parametrize(
    ("file", "text", "message"),
    [
        ("TINY_A.txt", "1, 2\n1, 9\n", r"A.txt, line 2: '9' is not two node numbers"),
        ("TINY_A.txt", "1, 2\n1, 5\n", r"edge_labels.txt has 10 lines, but there are 2 edges"),
        ("TINY_node_labels.txt", "1\n2\nx\n4\n5\n6\n", "line 3: 'x' is not a label"),
        ("TINY_node_labels.txt", "1\n2\n", "has 2 lines, but there are 6 nodes"),
        ("TINY_graph_labels.txt", "1\n2\n3\n", "has 3 lines, but there are 2 graphs"),
        ("TINY_graph_indicator.txt", "1\n1\n1\n3\n3\n3\n", "no line names graph 2"),
    ],
)
def test_mistakes_in_a_tu_set_are_told_as_a_load_tells_them(tmp_path, file, text, message):
    source = write_folder(tmp_path / "TINY", {**tu_files(triangle_and_path()), file: text})
    with pytest.raises(DatasetError, match=message):
        convert_dataset(source, tmp_path / "x")
    assert not (tmp_path / "x").exists()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("2\n1 0\n5 0\n", "line 1: announces 2 graphs, but the file holds 1"),
        ("1\n1 0\n5 0\n1 0\n5 0\n", "line 4: more lines follow"),
        ("2\n1 0\n5 0\n2 1\n5 1 1\n", "line 4: a graph of 2 nodes begins, but the file ends 1 lines early"),
        ("2\n1 0\n5 0\n2 1\n5 1 1\n5 1 7\n", "line 6: names the neighbour 7"),
    ],
)
def test_mistakes_in_a_text_are_told_by_their_line(tmp_path, text, message):
    source = write_folder(tmp_path, {"text.txt": text}) / "text.txt"
    with pytest.raises(DatasetError, match=message):
        convert_dataset(source, tmp_path / "x")


def test_classes_are_needed_unless_they_are_not(tmp_path):
    files = tu_files(triangle_and_path())
    del files["TINY_graph_labels.txt"]
    source = write_folder(tmp_path / "TINY", files)
    with pytest.raises(DatasetNotFoundError, match="graph_labels"):
        convert_dataset(source, tmp_path / "x")
    assert convert_dataset(source, tmp_path / "x", require_classes=False).labels.tolist() == [-1, -1]


def test_a_table_of_nothing_but_nonsense_is_refused(tmp_path):
    pytest.importorskip("rdkit")
    source = write_folder(tmp_path, {"m.csv": "smiles,label\nx,0\ny,1\nz,0\n"}) / "m.csv"
    with pytest.raises(DatasetError, match="3 of 3 rows cannot be read"):
        convert_dataset(source, tmp_path / "x")


def test_a_mistake_of_a_plugin_is_told_with_its_line(tmp_path):
    text = DROP_IN.replace("i % 2)", "1 // (5 - i))")
    source = write_folder(tmp_path, {"own.py": text}) / "own.py"
    with pytest.raises(DatasetError, match=r"own.py, line 5: ZeroDivisionError"):
        convert_dataset(source, tmp_path / "x")
    assert unfinished(tmp_path / "x").exists()  # mended, it goes on
    write_folder(tmp_path, {"own.py": DROP_IN.replace("i % 2)", "1 // (50 - i))")})
    assert len(convert_dataset(source, tmp_path / "x", require_classes=False)) == 9


READERS = {  # what reads a part, and the part at which it is interrupted
    "text.txt": (dgcnn_text, "_dataset", 3),
    "TINY": (tu_parts, "_part", 2),
    "molecules.csv#label": (smiles, "_read", 4),
}


@pytest.mark.parametrize("name", READERS)
def test_an_interrupted_conversion_goes_on(tmp_path, monkeypatch, name):
    if name.startswith("molecules"):
        pytest.importorskip("rdkit")
    folder = write_sources(tmp_path / "sources")
    module, function, when = READERS[name]
    original, calls = getattr(module, function), 0

    def interrupted(*arguments):
        nonlocal calls
        calls += 1
        if calls == when:
            raise KeyboardInterrupt
        return original(*arguments)

    monkeypatch.setattr(module, function, interrupted)
    with pytest.raises(KeyboardInterrupt):
        convert_dataset(folder / name, tmp_path / "x")
    assert unfinished(tmp_path / "x").exists()
    convert_dataset(folder / name, tmp_path / "x")
    save_store(tmp_path / "y", load_dataset(folder / name))
    assert_same_folder(tmp_path / "x", tmp_path / "y")


def test_a_source_that_changed_meanwhile_is_begun_anew(tmp_path, caplog):
    source = write_folder(tmp_path, {"text.txt": TEXT.replace("11 0", "11 9")}) / "text.txt"
    with pytest.raises(DatasetError, match="line 12"):
        convert_dataset(source, tmp_path / "x")
    assert unfinished(tmp_path / "x").exists()
    source.write_text(TEXT)
    convert_dataset(source, tmp_path / "x")
    assert "is begun anew" in caplog.text
    save_store(tmp_path / "y", load_dataset(source))
    assert_same_folder(tmp_path / "x", tmp_path / "y")


@pytest.mark.real_data
def test_a_real_archive(real_archive, tmp_path):
    source = real_archive("MUTAG")
    convert_dataset(source, tmp_path / "x")
    save_store(tmp_path / "y", load_dataset(source))
    assert_same_folder(tmp_path / "x", tmp_path / "y")
