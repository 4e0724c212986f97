"""The TU format in parts: its files are read side by side, some hundred thousand lines of each at a time.

This needs what every published set has: nodes in the order of their graphs, and edges too. A set that is written in
another way, or that has a mistake in it, is left to :func:`spgnn_dgl.data.readers.tu.read_tu`, which holds it whole
and finds the line.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from spgnn_dgl.data.arrays import DatasetMeta, assemble, codes
from spgnn_dgl.data.readers.numbers import table_blocks
from spgnn_dgl.data.readers.sources import open_source
from spgnn_dgl.data.readers.tu import TuFiles, find_prefix
from spgnn_dgl.data.store import GraphDataset
from spgnn_dgl.errors import DatasetError

NODES = 1 << 15  # of a part, unless a single graph has more
EDGES = 1 << 17  # lines that are looked at together


class NotInOrder(Exception):
    """The files cannot be read side by side."""


class Rows:
    """The rows of one file, from number `skip` on, taken in order.

    Parameters
    ----------
    columns
        Fields per line, as in :func:`spgnn_dgl.data.readers.numbers.read_table`.
    """

    def __init__(self, files: TuFiles, part: str, kind: type, columns: int | None, skip: int):
        self._blocks = table_blocks(files.source, files.present[part], kind, columns=columns, skip=skip)
        self._rest: np.ndarray | None = None  # (columns, rows)

    def more(self) -> np.ndarray | None:
        """All rows that are at hand and one block more; None at the end of the file."""
        block = next(self._blocks, None)
        if block is not None:
            self._rest = block if self._rest is None else np.concatenate([self._rest, block], axis=1)
            return self._rest
        return None

    def take(self, count: int) -> np.ndarray:
        """The next `count` rows."""
        while self._rest is None or self._rest.shape[1] < count:
            if self.more() is None:
                raise NotInOrder("there are too few lines")
        taken, self._rest = self._rest[:, :count], self._rest[:, count:]
        return taken

    def at_hand(self) -> np.ndarray:
        return np.zeros((1, 0), dtype=np.int64) if self._rest is None else self._rest

    def at_end(self) -> bool:
        return self.at_hand().shape[1] == 0 and self.more() is None


def read_tu_parts(path: Path, position: Any, require_classes: bool) -> Iterator[tuple[GraphDataset, Any]]:
    """Parts of some thousand graphs, each with the numbers of lines read so far."""
    source = open_source(path)
    files = TuFiles(source, find_prefix(source) or "")
    files.check_presence(require_classes)
    graphs, nodes, edges = position or (0, 0, 0)
    rows = {
        part: Rows(files, part, kind, columns, skip)
        for part, kind, columns, skip in (
            ("graph_indicator", int, 1, nodes),
            ("node_labels", int, 1, nodes),
            ("node_attributes", float, None, nodes),
            ("A", int, 2, edges),
            ("edge_labels", int, 1, edges),
            ("graph_labels", int, 1, graphs),
        )
        if part in files.present
    }
    try:
        while (counts := _whole_graphs(rows["graph_indicator"], graphs)) is not None:
            last = nodes + int(counts.sum())
            num_edges = _edges_up_to(rows["A"], last)
            yield _part(files, rows, counts, nodes, num_edges), (graphs + len(counts), last, edges + num_edges)
            graphs, nodes, edges = graphs + len(counts), last, edges + num_edges
    except DatasetError as problem:  # the other reader names the line
        raise NotInOrder(str(problem)) from problem
    if edges == 0 or not all(one.at_end() for one in rows.values()):
        raise NotInOrder("there are no edges, or too many lines")


def _whole_graphs(indicator: Rows, before: int) -> np.ndarray | None:
    """(g,) nodes of the next graphs, all of whose lines are at hand; None when there are no more."""
    while (values := indicator.at_hand()[0]).size == 0 or values[-1] == before + 1:
        if indicator.more() is None:
            if values.size == 0:
                return None
            break
    if values[min(NODES, len(values) - 1)] > before + 1:
        values = values[: NODES + 1]
    steps = np.diff(values, prepend=before)
    if steps[0] != 1 or (steps < 0).any() or (steps > 1).any():
        raise NotInOrder("nodes are not in the order of their graphs")
    if values[-1] > before + 1:  # the last graph may go on behind these lines
        values = values[values < values[-1]]
    counts = np.bincount(values - before - 1)
    indicator.take(len(values))
    return counts


def _edges_up_to(rows: Rows, last: int) -> int:
    """How many of the next edges are between nodes up to number `last` (counted from 1)."""
    checked = 0
    while True:
        ends = rows.at_hand()
        while checked < ends.shape[1]:
            beyond = np.flatnonzero((ends[:, checked : checked + EDGES] > last).any(axis=0))
            if len(beyond):
                return checked + int(beyond[0])
            checked = min(checked + EDGES, ends.shape[1])
        if rows.more() is None:
            return checked


def _part(files: TuFiles, rows: dict[str, Rows], counts: np.ndarray, before: int, num_edges: int) -> GraphDataset:
    num_nodes = int(counts.sum())
    source, target = rows["A"].take(num_edges) - (1 + before) if num_edges else np.zeros((2, 0), dtype=np.int64)
    if num_edges and min(source.min(), target.min()) < 0:
        raise NotInOrder("edges are not in the order of their graphs")

    def coded(part: str, count: int) -> tuple[np.ndarray | None, tuple[str, ...]]:
        return (None, ()) if part not in rows else codes(rows[part].take(count)[0])

    labels, class_names = coded("graph_labels", len(counts))
    node_labels, node_names = coded("node_labels", num_nodes)
    edge_labels, edge_names = coded("edge_labels", num_edges)
    attributes = rows["node_attributes"].take(num_nodes).T if "node_attributes" in rows else None
    arrays, mended = assemble(
        counts,
        source,
        target,
        labels=labels,
        node_labels=node_labels,
        node_attributes=attributes,
        edge_labels=edge_labels,
    )
    meta = DatasetMeta(files.name, class_names, node_names, edge_names, mended=mended, source=str(files.source.path))
    return GraphDataset(arrays, meta)
