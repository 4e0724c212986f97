"""Small datasets in a plain form, drawn by hypothesis, and slow, obvious code to compare the package with."""

from __future__ import annotations

import itertools
import zipfile
from dataclasses import dataclass
from pathlib import Path

import networkx
import numpy as np
from hypothesis import strategies as st

from spgnn_dgl.data.arrays import DatasetMeta, assemble, codes
from spgnn_dgl.data.store import GraphDataset


def joined(lists: list[list]) -> list:
    return list(itertools.chain.from_iterable(lists))


@dataclass
class Plain:
    """Graphs as lists: what a dataset is, before anything clever is done with it."""

    counts: list[int]
    edges: list[list[tuple[int, int]]]  # per graph, inside the graph
    classes: list[int]
    node_labels: list[list[int]] | None
    attributes: list[list[list[float]]] | None
    edge_labels: list[list[int]] | None
    directed: bool

    def flat_edges(self) -> list[tuple[int, int]]:
        starts = np.cumsum([0, *self.counts]).tolist()
        return [(start + u, start + v) for start, edges in zip(starts, self.edges) for u, v in edges]

    def dataset(self) -> GraphDataset:
        """Through :func:`assemble`."""
        ends = np.array(self.flat_edges(), dtype=np.int64).reshape(-1, 2)
        node_labels, node_names = codes(joined(self.node_labels)) if self.node_labels else (None, ())
        flat_edge_labels = joined(self.edge_labels) if self.edge_labels else []
        edge_labels, edge_names = codes(flat_edge_labels) if flat_edge_labels else (None, ())
        classes, class_names = codes(self.classes)
        arrays, mended = assemble(
            np.array(self.counts),
            ends[:, 0],
            ends[:, 1],
            labels=classes,
            node_labels=node_labels,
            node_attributes=np.array(joined(self.attributes)) if self.attributes else None,
            edge_labels=edge_labels,
            directed=self.directed,
        )
        names = {"class_names": class_names, "node_label_names": node_names, "edge_label_names": edge_names}
        return GraphDataset(arrays, DatasetMeta("plain", directed=self.directed, mended=mended, **names))

    def networkx(self) -> list[networkx.Graph]:
        """Simple graphs; an edge keeps the label it is listed with first."""
        graphs = []
        for g, count in enumerate(self.counts):
            graph = networkx.DiGraph() if self.directed else networkx.Graph()
            for v in range(count):
                graph.add_node(v)
                if self.node_labels:
                    graph.nodes[v]["label"] = self.node_labels[g][v]
                if self.attributes:
                    graph.nodes[v]["attr"] = self.attributes[g][v]
            graph.add_edges_from((u, v) for u, v in self.edges[g] if u != v)
            graphs.append(graph)
        return graphs


@st.composite
def plain_datasets(
    draw, *, directed: bool | None = None, min_classes: int = 1, edge_labels: bool | None = None
) -> Plain:
    """One to six graphs: single nodes, edgeless graphs, self-loops, doubled and one-way edges among them."""
    counts = draw(st.lists(st.integers(1, 6), min_size=max(1, min_classes), max_size=6))
    edges = [draw(st.lists(st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)), max_size=12)) for n in counts]
    value = st.integers(-3, 12)
    number = st.floats(-100, 100, width=32)
    width = draw(st.integers(0, 3))
    labelled = draw(st.booleans()) if edge_labels is None else edge_labels
    classes = draw(st.lists(st.integers(-1, 3), min_size=len(counts), max_size=len(counts)))
    classes[:min_classes] = range(10, 10 + min_classes)
    return Plain(
        counts=counts,
        edges=edges,
        classes=classes,
        node_labels=[draw(st.lists(value, min_size=n, max_size=n)) for n in counts] if draw(st.booleans()) else None,
        attributes=[[draw(st.lists(number, min_size=width, max_size=width)) for _ in range(n)] for n in counts]
        if width
        else None,
        edge_labels=[draw(st.lists(value, min_size=len(e), max_size=len(e))) for e in edges] if labelled else None,
        directed=draw(st.booleans()) if directed is None else directed,
    )


def assert_same_arrays(found: GraphDataset, expected: GraphDataset) -> None:
    """All arrays equal, in values and types."""
    assert found.arrays.present().keys() == expected.arrays.present().keys()
    for name, array in expected.arrays.present().items():
        other = getattr(found.arrays, name)
        assert other.dtype == array.dtype, name
        np.testing.assert_array_equal(other, array, err_msg=name)


# ---- files ----------------------------------------------------------------------------------------------------------


def tu_files(plain: Plain, name: str = "TINY", gap: str = ", ") -> dict[str, str]:
    """The files of the TU format, by name."""
    lines = {
        "A": [f"{u + 1}{gap}{v + 1}" for u, v in plain.flat_edges()],
        "graph_indicator": [str(g + 1) for g, n in enumerate(plain.counts) for _ in range(n)],
        "graph_labels": [str(c) for c in plain.classes],
    }
    if plain.node_labels:
        lines["node_labels"] = [str(v) for v in joined(plain.node_labels)]
    if plain.attributes:
        lines["node_attributes"] = [gap.join(map(repr, row)) for row in joined(plain.attributes)]
    if plain.edge_labels:
        lines["edge_labels"] = [str(v) for v in joined(plain.edge_labels)]
    return {f"{name}_{part}.txt": "".join(f"{line}\n" for line in rows) for part, rows in lines.items()}


def write_folder(folder: Path, files: dict[str, str | bytes]) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (folder / name).write_bytes(text if isinstance(text, bytes) else text.encode())
    return folder


def write_zip(path: Path, files: dict[str, str | bytes]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return path


def triangle_and_path() -> Plain:
    """A triangle (class 1) and a path of three nodes (class -1), with labels, attributes and edge labels."""
    both = [(0, 1), (1, 0), (1, 2), (2, 1)]
    return Plain(
        counts=[3, 3],
        edges=[[*both, (0, 2), (2, 0)], both],
        classes=[1, -1],
        node_labels=[[5, 5, 7], [7, 5, 5]],
        attributes=[[[0.5, 1.0], [1.5, -2.0], [2.5, 1e-3]], [[3.5, 4.0], [4.5, 0.0], [5.5, 6.0]]],
        edge_labels=[[0, 0, 1, 1, 2, 2], [0, 0, 1, 1]],
        directed=False,
    )
