"""A dataset as three CSV files, with the columns of DGL's ``CSVDataset``.

``graphs.csv``: ``graph_id, label``. ``nodes.csv``: ``graph_id, node_id`` and, where there are any, ``label`` and
columns whose names begin with ``feat`` (a number, or several in quotes: ``"0.1, 2"``). ``edges.csv``:
``graph_id, src_id, dst_id`` and, where there is one, ``label``. Ids are any text; other columns are left out.
"""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np

from spgnn_dgl.data.arrays import DatasetMeta, assemble, codes, sortable
from spgnn_dgl.data.readers.table import Table, class_codes
from spgnn_dgl.data.store import GraphDataset
from spgnn_dgl.errors import DatasetNotFoundError

GRAPHS, NODES, EDGES = "graphs.csv", "nodes.csv", "edges.csv"


def is_csv_folder(path: Path) -> bool:
    """Whether a folder holds any of the three files."""
    return path.is_dir() and any((path / name).is_file() for name in (NODES, EDGES, GRAPHS))


def from_csv_folder(path: str | Path, *, require_classes: bool = True) -> GraphDataset:
    """Read a folder with ``graphs.csv``, ``nodes.csv`` and ``edges.csv``.

    Parameters
    ----------
    path
        The folder.
    require_classes
        Whether every graph must have a label; without, ``graphs.csv`` may be missing or have empty labels.
    """
    folder = Path(path)
    nodes = _open(folder / NODES, "graph_id", "node_id")
    edges = _open(folder / EDGES, "graph_id", "src_id", "dst_id")
    graphs = None
    if require_classes or (folder / GRAPHS).is_file():
        graphs = _open(folder / GRAPHS, "graph_id", *(["label"] if require_classes else []))
    graph_ids = graphs["graph_id"] if graphs is not None else list(dict.fromkeys(nodes["graph_id"]))
    graph_of = {graph_id: g for g, graph_id in enumerate(graph_ids)}
    if graphs is not None and len(graph_of) < len(graph_ids):
        row = _first_repeated(graph_ids)
        graphs.fail(row, f"the graph '{graph_ids[row]}' is listed twice")

    graph = _look_up(nodes, nodes["graph_id"], graph_of, f"a graph of {GRAPHS}")  # (N,) graph of each line
    node_counts = np.bincount(graph, minlength=len(graph_ids))
    if graphs is not None and (node_counts == 0).any():
        graphs.fail(int(np.flatnonzero(node_counts == 0)[0]), f"the graph has no nodes in {NODES}")
    order = np.argsort(graph, kind="stable")  # lines of nodes.csv, graph by graph
    keys = list(zip(nodes["graph_id"], nodes["node_id"]))
    row_of = {keys[line]: row for row, line in enumerate(order.tolist())}
    if len(row_of) < len(keys):
        line = _first_repeated(keys)
        nodes.fail(line, f"the node '{keys[line][1]}' of graph '{keys[line][0]}' is listed twice")
    source, target = (
        _look_up(edges, list(zip(edges["graph_id"], edges[end])), row_of, f"a node of that graph in {NODES}")
        for end in ("src_id", "dst_id")
    )

    labels: np.ndarray | None = None
    class_names: tuple[str, ...] = ()
    if graphs is not None:
        values = graphs.columns.get("label", [""] * len(graphs.lines))
        labels, class_names = class_codes(values, graphs.fail, require_classes)
    node_labels, node_label_names = _label_codes(nodes)
    edge_labels, edge_label_names = _label_codes(edges)
    attributes = _features(nodes)
    arrays, mended = assemble(
        node_counts,
        source,
        target,
        labels=labels,
        node_labels=None if node_labels is None else node_labels[order],
        node_attributes=None if attributes is None else attributes[order],
        edge_labels=edge_labels,
    )
    meta = DatasetMeta(
        name=folder.resolve().name,
        class_names=class_names,
        node_label_names=node_label_names,
        edge_label_names=edge_label_names,
        mended=mended,
        source=str(folder),
    )
    return GraphDataset(arrays, meta)


def _open(path: Path, *needed: str) -> Table:
    if not path.is_file():
        raise DatasetNotFoundError(f"{path} is missing; a CSV dataset needs {GRAPHS}, {NODES} and {EDGES}.")
    return Table(path, *needed, may_be_empty=path.name == EDGES)


def _first_repeated(keys: list) -> int:
    first = {key: i for i, key in reversed(list(enumerate(keys)))}
    return next(i for i, key in enumerate(keys) if first[key] != i)


def _look_up(table: Table, keys: list, index: dict, expected: str) -> np.ndarray:
    """The number of every key; the first key that has none is an error."""
    found = np.fromiter((index.get(key, -1) for key in keys), dtype=np.int64, count=len(keys))
    if (found < 0).any():
        row = int(np.flatnonzero(found < 0)[0])
        name = keys[row] if isinstance(keys[row], str) else keys[row][-1]
        table.fail(row, f"'{name}' is not {expected}")
    return found


def _label_codes(table: Table) -> tuple[np.ndarray | None, tuple[str, ...]]:
    if "label" not in table.columns:
        return None, ()
    values = table["label"]
    if "" in values:
        table.fail(values.index(""), "the label is empty")
    return codes(sortable(values))


def _features(nodes: Table) -> np.ndarray | None:
    """(N, F) the numbers of all columns whose names begin with ``feat``."""
    columns = [cells for name, cells in nodes.columns.items() if name.startswith("feat")]
    if not columns:
        return None
    table: list[list[float]] = []
    for row, cells in enumerate(zip(*columns)):
        try:
            numbers = [float(part) for cell in cells for part in cell.split(",")]
        except ValueError:
            nodes.fail(row, f"the features {', '.join(cells)!r} are not numbers")
        if not all(map(math.isfinite, numbers)):
            nodes.fail(row, f"the features {', '.join(cells)!r} are not finite numbers")
        if table and len(numbers) != len(table[0]):
            nodes.fail(row, f"{len(numbers)} features where the first node has {len(table[0])}")
        table.append(numbers)
    return np.array(table, dtype=np.float32)
