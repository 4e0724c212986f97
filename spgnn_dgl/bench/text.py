"""Graphs written out as the text of a TU folder, for measuring how it is read."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TextIO

import numpy as np

from spgnn_dgl.data.store import GraphDataset


def write_tu(folder: Path, parts: Iterable[GraphDataset]) -> Path:
    """One TU folder of all graphs of `parts`, each with node labels and a class; numbers begin with 1."""
    folder.mkdir(parents=True)

    def open_part(part: str) -> TextIO:
        return (folder / f"{folder.name}_{part}.txt").open("w", encoding="ascii")

    nodes = graphs = 0
    with (
        open_part("A") as edges,
        open_part("graph_indicator") as indicator,
        open_part("node_labels") as node_labels,
        open_part("graph_labels") as classes,
    ):
        for data in parts:
            batch = data.batch(np.arange(len(data)))
            source, target = (ends.numpy().astype(np.int64) + nodes + 1 for ends in batch.edges(order="eid"))
            edges.write(_lines("%d, %d\n", np.stack([source, target], axis=1)))
            indicator.write(_lines("%d\n", np.repeat(np.arange(len(data)) + graphs + 1, data.node_counts)))
            node_labels.write(_lines("%d\n", batch.ndata["label"].numpy()))
            classes.write(_lines("%d\n", data.labels))
            nodes, graphs = nodes + batch.num_nodes(), graphs + len(data)
    return folder


def _lines(form: str, rows: np.ndarray) -> str:
    return form * len(rows) % tuple(rows.ravel().tolist())
