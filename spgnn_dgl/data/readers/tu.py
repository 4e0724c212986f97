"""The text format of the TU Dortmund collection of graph datasets: a folder or zip of ``NAME_*.txt`` files.

``NAME_graph_indicator.txt`` (line v: the graph of node v), ``NAME_A.txt`` (one edge per line, as two node numbers) and
``NAME_graph_labels.txt`` are needed; ``NAME_node_labels.txt``, ``NAME_node_attributes.txt`` and
``NAME_edge_labels.txt`` are read where they are. All numbers count from 1.
"""

from __future__ import annotations

import logging
from pathlib import Path

import numpy as np

from spgnn_dgl.data.arrays import DatasetMeta, EdgeError, assemble, codes
from spgnn_dgl.data.readers.numbers import read_table
from spgnn_dgl.data.readers.sources import TextSource, open_source
from spgnn_dgl.data.store import GraphDataset
from spgnn_dgl.errors import DatasetError, DatasetNotFoundError

logger = logging.getLogger(__name__)

NEEDED = ("graph_indicator", "A", "graph_labels")
UNUSED = ("edge_attributes", "graph_attributes")


def find_prefix(source: TextSource) -> str | None:
    """What the names of all files of the set begin with, up to the underscore; None when there is no TU set."""
    prefixes = {
        name.removesuffix(f"_{part}.txt") for part in NEEDED for name in source.names() if name.endswith(f"_{part}.txt")
    }
    if len(prefixes) < 2:
        return next(iter(prefixes), None)
    named = [p for p in sorted(prefixes) if p.split("/")[-1] == source.path.stem]
    if len(named) != 1:
        raise DatasetError(
            f"{source.path} holds more than one dataset ({', '.join(sorted(prefixes))}). "
            "Put each in a place of its own."
        )
    return named[0]


def read_tu(path: Path, *, require_classes: bool = True) -> GraphDataset:
    """Read a TU folder or zip archive.

    Parameters
    ----------
    path
        A folder or a zip; the files may be one folder deeper.
    require_classes
        Whether the graphs must have class labels; without, they are read where they are.
    """
    source = open_source(path)
    prefix = find_prefix(source)
    if prefix is None:
        raise DatasetNotFoundError(f"{path} holds no dataset in TU format: there is no file NAME_A.txt in it.")
    return TuFiles(source, prefix).read(require_classes)


class TuFiles:
    """The files of one set, by their last word."""

    def __init__(self, source: TextSource, prefix: str):
        self.source = source
        self.prefix = prefix
        self.name = prefix.split("/")[-1]
        names = set(source.names())
        self.present = {
            part: f"{prefix}_{part}.txt"
            for part in (*NEEDED, "node_labels", "node_attributes", "edge_labels", *UNUSED)
            if f"{prefix}_{part}.txt" in names
        }

    def where(self, part: str) -> str:
        return self.source.where(f"{self.prefix}_{part}.txt")

    def read(self, require_classes: bool) -> GraphDataset:
        self.check_presence(require_classes)
        node_counts, order = self._graphs()
        num_nodes = int(node_counts.sum())
        source, target = read_table(
            self.source,
            self.present["A"],
            int,
            columns=2,
            limits=(1, num_nodes),
            meaning=f"two node numbers from 1 to {num_nodes} with a comma between them",
        )
        source -= 1
        target -= 1
        node_labels, node_label_names = self._codes("node_labels", num_nodes, "nodes")
        edge_labels, edge_label_names = self._codes("edge_labels", len(source), f"edges in {self.where('A')}")
        labels, class_names = self._classes(len(node_counts))
        attributes = self._attributes(num_nodes)
        if order is not None:
            rank = np.empty_like(order)
            rank[order] = np.arange(num_nodes, dtype=order.dtype)
            source, target = rank[source], rank[target]
            node_labels = None if node_labels is None else node_labels[order]
            attributes = None if attributes is None else attributes[order]
        try:
            arrays, mended = assemble(
                node_counts,
                source,
                target,
                labels=labels,
                node_labels=node_labels,
                node_attributes=attributes,
                edge_labels=edge_labels,
            )
        except EdgeError as problem:
            raise DatasetError(
                f"{self.where('A')}, line {problem.edge + 1}: the edge {problem.problem} "
                f"Correct that line, or {self.where('graph_indicator')}."
            ) from problem
        meta = DatasetMeta(
            name=self.name,
            class_names=class_names,
            node_label_names=node_label_names,
            edge_label_names=edge_label_names,
            mended=mended,
            source=str(self.source.path),
        )
        return GraphDataset(arrays, meta)

    def check_presence(self, require_classes: bool) -> None:
        missing = [part for part in NEEDED if part not in self.present]
        if "graph_labels" in missing:
            if not require_classes:
                missing.remove("graph_labels")
            elif "graph_attributes" in self.present:
                raise DatasetError(
                    f"{self.where('graph_attributes')} holds numbers to predict, and there is no "
                    f"{self.where('graph_labels')}: this is a regression dataset. Graph classification needs classes; "
                    "write one class per line into that file."
                )
        if missing:
            raise DatasetNotFoundError(
                f"{self.where(missing[0])} is missing; a dataset in TU format needs it. "
                f"Get the dataset again, for a public one with: spgnn fetch {self.name}"
            )
        for part in UNUSED:
            if part in self.present:
                logger.info("%s: not used for classification", self.where(part))

    def _graphs(self) -> tuple[np.ndarray, np.ndarray | None]:
        """(G,) nodes per graph, and the order that sorts the nodes by graph (None when they are sorted)."""
        (indicator,) = read_table(
            self.source,
            self.present["graph_indicator"],
            int,
            columns=1,
            limits=(1, 2**31 - 2),
            meaning="the number of a graph, counted from 1",
        )
        steps = np.diff(indicator)
        largest = int(indicator.max())
        if largest > len(indicator):  # not worth counting: fewer nodes than graphs
            line = int(np.flatnonzero(indicator == largest)[0]) + 1
            raise DatasetError(
                f"{self.where('graph_indicator')}, line {line}: graph {largest} is named, but the file has only "
                f"{len(indicator)} nodes, so that some graphs would have no nodes. Number the graphs 1, 2, 3, … "
                "without gaps."
            )
        node_counts = np.bincount(indicator, minlength=largest + 1)[1:]
        if (node_counts == 0).any():
            gap = int(np.flatnonzero(node_counts == 0)[0]) + 1
            line = int(np.flatnonzero(indicator > gap)[0]) + 1
            raise DatasetError(
                f"{self.where('graph_indicator')}, line {line}: graph {indicator[line - 1]} is named, but no line "
                f"names graph {gap}, so that it has no nodes. Number the graphs 1, 2, 3, … without gaps."
            )
        return node_counts, np.argsort(indicator, kind="stable") if (steps < 0).any() else None

    def _check_length(self, part: str, found: int, expected: int, things: str) -> None:
        if found != expected:
            raise DatasetError(
                f"{self.where(part)} has {found} lines, but there are {expected} {things}; "
                "it needs one line for each. Get the file again, or correct it."
            )

    def _codes(self, part: str, expected: int, things: str) -> tuple[np.ndarray | None, tuple[str, ...]]:
        """Label codes and names; several columns make one label ("3,1")."""
        if part not in self.present:
            return None, ()
        table = read_table(self.source, self.present[part], int, meaning="a label, a whole number")
        self._check_length(part, table.shape[1], expected, things)
        if len(table) == 1:
            return codes(table[0])
        rows, inverse = np.unique(table, axis=1, return_inverse=True)
        return inverse.reshape(-1).astype(np.int32), tuple(",".join(map(str, row)) for row in rows.T.tolist())

    def _classes(self, num_graphs: int) -> tuple[np.ndarray | None, tuple[str, ...]]:
        if "graph_labels" not in self.present:
            return None, ()
        (values,) = read_table(
            self.source, self.present["graph_labels"], int, columns=1, meaning="the class of a graph, a whole number"
        )
        self._check_length("graph_labels", len(values), num_graphs, f"graphs in {self.where('graph_indicator')}")
        return codes(values)

    def _attributes(self, num_nodes: int) -> np.ndarray | None:
        if "node_attributes" not in self.present:
            return None
        table = read_table(self.source, self.present["node_attributes"], float, meaning="finite numbers")
        self._check_length("node_attributes", table.shape[1], num_nodes, "nodes")
        return np.ascontiguousarray(table.T, dtype=np.float32)
