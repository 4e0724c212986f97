"""Molecules from tables of SMILES, against RDKit's own matrices."""

from __future__ import annotations

import sys

import numpy as np
import pytest

import spgnn_dgl as sp
from spgnn_dgl.data.load import known_datasets, load_dataset
from spgnn_dgl.data.readers.smiles import from_smiles
from spgnn_dgl.errors import DatasetError, DatasetNotFoundError, MissingExtraError

Chem = pytest.importorskip("rdkit.Chem", reason="the extra 'chem' is not installed")

MOLECULES = {
    "benzene": "c1ccccc1",
    "ethanol": "CCO",
    "aspirin": "CC(=O)Oc1ccccc1C(=O)O",
    "chloroform": "ClC(Cl)Cl",
    "acetonitrile": "CC#N",
    "salt": "[Na+].[Cl-]",
}


@pytest.fixture
def table(tmp_path, monkeypatch):
    """Writes a table and gives its path; caches stay in the test's folder."""
    monkeypatch.setenv("SPGNN_CACHE", str(tmp_path / "caches"))

    def write(text: str, name: str = "molecules.csv"):
        (tmp_path / name).write_text(text, encoding="utf-8")
        return tmp_path / name

    return write


def rows(column: str = "smiles", label: str = "label") -> str:
    return f"name,{column},{label}\n" + "".join(f"{n},{s},{int('c' in s)}\n" for n, s in MOLECULES.items())


@pytest.mark.parametrize("hydrogens", [False, True])
def test_atoms_and_bonds_are_those_of_rdkit(table, hydrogens):
    data = from_smiles(table(rows()), hydrogens=hydrogens)
    assert data.meta.node_symbols == data.meta.node_label_names
    for (graph, label), text in zip(data, MOLECULES.values()):
        molecule = Chem.MolFromSmiles(text)
        molecule = Chem.AddHs(molecule) if hydrogens else molecule
        assert [data.meta.node_symbols[c] for c in graph.ndata["label"].tolist()] == [
            atom.GetSymbol() for atom in molecule.GetAtoms()
        ]
        orders = {"single": 1.0, "double": 2.0, "triple": 3.0, "aromatic": 1.5}
        matrix = np.zeros((graph.num_nodes(), graph.num_nodes()))
        kinds = graph.edata["label"].tolist() if graph.num_edges() else []
        for u, v, kind in zip(*(ends.tolist() for ends in graph.edges()), kinds):
            matrix[u, v] = orders[data.meta.edge_label_names[kind]]
        np.testing.assert_array_equal(matrix, Chem.GetAdjacencyMatrix(molecule, useBO=True))
        assert data.meta.class_names[int(label)] == str(int("c" in text))
    assert data.name == "molecules"


BROKEN = "smiles,label\nCCO,a\nC1CC,b\nCC,b\nC(C)(C)(C)(C)C,a\n,b\nc1cccc1,a\n"


def test_rows_that_cannot_be_read_are_listed_with_line_and_reason(table, caplog):
    data = from_smiles(table(BROKEN))
    assert len(data) == 2
    assert data.meta.class_names == ("a", "b")
    lines = data.meta.unreadable
    assert [line.partition(":")[0] for line in lines] == ["line 3", "line 5", "line 6", "line 7"]
    assert lines[0] == "line 3: 'C1CC': not SMILES"
    assert "Explicit valence for atom # 0 C" in lines[1]
    assert "no atom" in lines[2]
    assert "kekulize" in lines[3]
    assert all(line in caplog.text for line in lines)


def test_they_are_told_again_when_the_table_comes_from_the_cache(table, caplog):
    path = table(BROKEN)
    for _ in range(2):
        caplog.clear()
        data = load_dataset(path)
        assert caplog.text.count("line 3: 'C1CC'") == 1
        assert len(data.meta.unreadable) == 4
    assert data.arrays.labels.base is not None, "the second one is mapped from the cache"


def test_many_of_them_are_not_listed_one_by_one(table, caplog):
    data = from_smiles(table("smiles,label\nC,a\nCC,b\n" + "C1,a\n" * 30))
    assert len(data.meta.unreadable) == 30
    assert "and 10 more" in caplog.text
    assert caplog.text.count("'C1'") == 20


def test_strict_refuses_them(table):
    with pytest.raises(DatasetError, match=r"4 of 6 rows cannot be read:\n  line 3: 'C1CC'"):
        from_smiles(table(BROKEN), strict=True)
    with pytest.raises(DatasetError, match="1 of 1 rows"):
        from_smiles(table("smiles,label\nC1,a\n"))


def test_rdkit_itself_stays_silent(table, capfd):
    from_smiles(table(BROKEN))
    shown = capfd.readouterr()
    assert "rdkit" not in (shown.out + shown.err).lower()
    assert "Parse Error" not in shown.out + shown.err


@pytest.mark.parametrize(
    ("header", "asked", "expected"),
    [
        ("smiles,label", {}, ("smiles", "label")),
        ("SMILES,p_np", {}, ("SMILES", "p_np")),
        ("label,canonical_smiles", {}, ("canonical_smiles", "label")),
        ("smiles,other,Class", {}, ("smiles", "Class")),
        ("smiles,other,mine", {"label_column": "mine"}, ("smiles", "mine")),
        ("smiles,smiles_2,label", {}, ("smiles", "label")),
        ("a_smiles,b_smiles,label", {"smiles_column": "b_smiles"}, ("b_smiles", "label")),
    ],
)
def test_columns_are_found_or_asked_for(table, header, asked, expected):
    names = header.split(",")
    values = {expected[0]: ("CCO", "C#N"), expected[1]: ("yes", "no")}
    text = "\n".join([header, *(",".join(values.get(name, ("x", "x"))[row] for name in names) for row in range(2))])
    data = from_smiles(table(text), **asked)
    assert data.node_counts.tolist() == [3, 2]
    assert data.meta.class_names == ("no", "yes")


@pytest.mark.parametrize("delimiter", [";", "\t"])
def test_other_delimiters(table, delimiter):
    text = rows().replace(",", delimiter)
    assert len(from_smiles(table(text, "molecules.tsv"))) == 6


@pytest.mark.parametrize(
    ("text", "asked", "message"),
    [
        ("a,b\nC,1\n", {}, "no column of SMILES; its columns are a, b"),
        ("x_smiles,y_smiles,label\nC,C,1\n", {}, "several columns of SMILES: x_smiles, y_smiles"),
        ("smiles,a,b\nC,1,2\n", {}, r"which column holds the classes: a, b\? Name it after the file, as in .*csv#b'"),
        ("smiles\nC\n", {}, "no column of classes"),
        ("smiles,activity\nC,1\n", {"label_column": "activty"}, "no column 'activty'. Did you mean 'activity'"),
        ("smiles,label\nC,0.5\nCC,1\n", {}, r"line 2: the label 0.5 is not a class but a number"),
        ("smiles,label\nC,1\nCC,\n", {}, r"line 3: the label is empty"),
        ("smiles,label\nC,1,2\n", {}, r"line 2: 3 fields where the first line has 2"),
        ("smiles,label\n", {}, "it has no rows"),
    ],
)
def test_mistakes_are_answered(table, text, asked, message):
    with pytest.raises(DatasetError, match=message):
        from_smiles(table(text), **asked)


def test_a_file_that_is_not_there(tmp_path):
    for read in (from_smiles, load_dataset):
        with pytest.raises(DatasetNotFoundError, match="does not exist"):
            read(tmp_path / "nothing.csv")


def test_load_dataset_takes_a_table_by_path_by_name_and_by_column(table, tmp_path, monkeypatch):
    path = table(rows())
    assert len(load_dataset(path)) == len(load_dataset(str(path))) == 6
    monkeypatch.chdir(tmp_path)
    assert len(load_dataset("molecules.csv")) == 6
    monkeypatch.setenv("SPGNN_DATASETS", str(tmp_path))
    assert len(load_dataset("molecules")) == 6
    table("a,b\n1,2\n", "notes.csv")
    assert "molecules" in known_datasets()
    assert "notes" not in known_datasets()
    several = table("smiles,toxic,soluble\nC,1,x\nCC,0,y\nCCC,1,x\n", "several.csv")
    assert load_dataset(f"{several}#toxic").meta.class_names == ("0", "1")
    assert load_dataset(f"{several}#toxic").name == "several#toxic"
    assert load_dataset(f"{several}#soluble").meta.class_names == ("x", "y")  # not the other one's cache
    with pytest.raises(DatasetError, match="which column"):
        load_dataset(several)
    assert not load_dataset(several, require_classes=False).has_labels


def test_classes_are_not_needed_for_prediction(table):
    train = from_smiles(table(rows()))
    classifier = sp.GraphClassifier("spgnn", epochs=1, k=10, channels=4, layers=1).fit(train)
    new = load_dataset(table("smiles\nCCO\nCBr\n", "new.csv"), require_classes=False)
    assert classifier.predict_proba(new).shape == (2, 2)


def test_without_rdkit_the_extra_is_named(table, monkeypatch):
    path = table(rows())
    monkeypatch.setitem(sys.modules, "rdkit", None)
    with pytest.raises(MissingExtraError, match=r"spgnn_dgl\[chem\]"):
        from_smiles(path)
