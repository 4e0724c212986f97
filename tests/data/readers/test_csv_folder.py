"""CSV folders: the columns of DGL's CSVDataset, and mistakes named with file and line."""

from __future__ import annotations

import pytest
from hypothesis import given, settings

from spgnn_dgl.data.readers.csv_folder import from_csv_folder
from spgnn_dgl.errors import DatasetError, DatasetNotFoundError
from tests.data.data_samples import Plain, assert_same_arrays, plain_datasets, write_folder

GRAPHS = "graph_id,label\ng1,red\ng2,blue\n"
NODES = 'graph_id,node_id,label,feat\ng1,a,C,"0.5, 1"\ng2,x,N,"1.5, 2"\ng1,b,N,"2.5, 3"\n'
EDGES = "graph_id,src_id,dst_id,label\ng1,a,b,single\n"


@pytest.fixture
def files() -> dict[str, str]:
    return {"graphs.csv": GRAPHS, "nodes.csv": NODES, "edges.csv": EDGES}


def test_ids_are_any_text_and_nodes_stand_in_any_order(tmp_path, files):
    data = from_csv_folder(write_folder(tmp_path / "MINE", files))
    assert data.name == "MINE"
    assert data.meta.class_names == ("blue", "red")
    assert data.labels.tolist() == [1, 0]
    assert data.node_counts.tolist() == [2, 1]
    assert [data.meta.node_label_names[c] for c in data.arrays.node_labels] == ["C", "N", "N"]
    assert data.arrays.node_attributes.tolist() == [[0.5, 1], [2.5, 3], [1.5, 2]]
    assert data.arrays.neighbours.tolist() == [1, 0]
    assert data.meta.edge_label_names == ("single",)
    assert data.meta.mended["one_way_edges"] == 1


@settings(max_examples=40, deadline=None)
@given(plain_datasets(directed=False))
def test_every_dataset_comes_back(tmp_path_factory, plain: Plain):
    nodes, edges = [], []
    for g, count in enumerate(plain.counts):
        for v in range(count):
            extra = [str(plain.node_labels[g][v])] if plain.node_labels else []
            extra += map(str, plain.attributes[g][v]) if plain.attributes else []
            nodes.append(",".join([str(g), str(v), *extra]))
        for e, (u, v) in enumerate(plain.edges[g]):
            edges.append(
                ",".join([str(g), str(u), str(v), *([str(plain.edge_labels[g][e])] if plain.edge_labels else [])])
            )
    width = len(plain.attributes[0][0]) if plain.attributes else 0
    head = ["graph_id", "node_id", *(["label"] if plain.node_labels else []), *(f"feat{i}" for i in range(width))]
    files = {
        "graphs.csv": "\n".join(["graph_id,label", *(f"{g},{c}" for g, c in enumerate(plain.classes))]),
        "nodes.csv": "\n".join([",".join(head), *nodes]),
        "edges.csv": "\n".join([f"graph_id,src_id,dst_id{',label' if plain.edge_labels and edges else ''}", *edges]),
    }
    found = from_csv_folder(write_folder(tmp_path_factory.mktemp("csv"), files))
    expected = plain.dataset()
    assert_same_arrays(found, expected)
    assert found.meta.class_names == expected.meta.class_names
    assert found.meta.node_label_names == expected.meta.node_label_names


def test_classes_may_be_absent_for_prediction(tmp_path, files):
    files["graphs.csv"] = "graph_id,label\ng1,red\ng2,\n"
    half = write_folder(tmp_path / "half", files)
    data = from_csv_folder(half, require_classes=False)
    assert data.labels.tolist() == [0, -1]
    with pytest.raises(DatasetError, match=r"graphs.csv, line 3: the label is empty"):
        from_csv_folder(half)
    del files["graphs.csv"]
    none = write_folder(tmp_path / "none", files)
    assert from_csv_folder(none, require_classes=False).labels.tolist() == [-1, -1]
    with pytest.raises(DatasetNotFoundError, match=r"graphs.csv is missing"):
        from_csv_folder(none)


@pytest.mark.parametrize(
    ("file", "old", "new", "message"),
    [
        ("nodes.csv", "node_id", "id", r"nodes.csv, line 1: the column 'node_id' is missing; found: graph_id, id"),
        ("nodes.csv", NODES, "", r"nodes.csv, line 1: the column 'graph_id' is missing"),
        ("nodes.csv", NODES, "graph_id,node_id\n", r"nodes.csv is empty: it has no rows"),
        ("nodes.csv", "g2,x", "g3,x", r"nodes.csv, line 3: 'g3' is not a graph of graphs.csv"),
        ("nodes.csv", "g2,x", "g1,a", r"graphs.csv, line 3: the graph has no nodes"),
        ("nodes.csv", "g1,b", "g1,a", r"nodes.csv, line 4: the node 'a' of graph 'g1' is listed twice"),
        ("nodes.csv", "1.5, 2", "1.5, nan", r"nodes.csv, line 3: the features '1.5, nan' are not finite"),
        ("nodes.csv", "1.5, 2", "1.5, two", r"nodes.csv, line 3: the features '1.5, two' are not numbers"),
        ("nodes.csv", "1.5, 2", "1.5", r"nodes.csv, line 3: 1 features where the first node has 2"),
        ("nodes.csv", "x,N", "x,", r"nodes.csv, line 3: the label is empty"),
        ("edges.csv", "a,b", "a,c", r"edges.csv, line 2: 'c' is not a node of that graph"),
        ("edges.csv", "a,b", "a,x", r"edges.csv, line 2: 'x' is not a node of that graph"),
        ("edges.csv", "a,b", "a", r"edges.csv, line 2: 3 fields where the first line has 4"),
        ("edges.csv", "g1,a", 'g1,"a', r"edges.csv, line 2: .* Save the file as CSV"),
        ("graphs.csv", "g2,blue", "g1,blue", r"graphs.csv, line 3: the graph 'g1' is listed twice"),
        ("graphs.csv", "blue", "0.25", r"graphs.csv, line 3: the label 0.25 is not a class .*regression"),
        ("graphs.csv", "blue", "nan", r"graphs.csv, line 3: the label nan is not a class"),
    ],
)
def test_a_mistake_is_found_on_its_line(tmp_path, files, file, old, new, message):
    assert old in files[file]
    files[file] = files[file].replace(old, new)
    with pytest.raises((DatasetError, DatasetNotFoundError), match=message):
        from_csv_folder(write_folder(tmp_path, files))


@pytest.mark.parametrize("file", ["nodes.csv", "edges.csv", "graphs.csv"])
def test_a_missing_file_is_named(tmp_path, files, file):
    del files[file]
    with pytest.raises(DatasetNotFoundError, match=rf"{file} is missing"):
        from_csv_folder(write_folder(tmp_path, files))
