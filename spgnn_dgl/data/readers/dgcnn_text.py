"""The text format of DGCNN and GIN: one file, graph after graph.

The first line is the number of graphs. Each graph is a line ``n label`` and then n lines, one per node:
``tag degree neighbour … [attribute …]``, neighbours counted from 0 inside the graph.
"""

from __future__ import annotations

import dataclasses
import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from spgnn_dgl.data.arrays import DatasetMeta, assemble, codes, runs
from spgnn_dgl.data.readers.number_lines import Lines, not_whole
from spgnn_dgl.data.readers.numbers import parse_field
from spgnn_dgl.data.readers.sources import TextSource, open_source
from spgnn_dgl.data.store import GraphDataset
from spgnn_dgl.errors import DatasetError, DatasetNotFoundError

logger = logging.getLogger(__name__)


def find_text(source: TextSource) -> str | None:
    """The one file of a folder or archive that is in this format; None when there is none."""
    for name in sorted(source.names(), key=lambda n: Path(n).stem != source.path.stem):  # its namesake first
        if name.endswith(".txt") and looks_like_text_format(source, name):
            return name
    return None


def looks_like_text_format(source: TextSource, name: str) -> bool:
    """Whether a file begins as the format does: a line with one whole number, then a line with two."""
    with source.open(name) as stream:
        lines = stream.read(200).split(b"\n")
    fields = [[parse_field(f, int) is not None for f in line.split()] for line in lines[:2]]
    return fields == [[True], [True, True]]


def read_dgcnn_text(path: Path) -> GraphDataset:
    """Read a dataset in DGCNN or GIN text format.

    Tags that are the same for every node say nothing, and are how the format writes a set without node labels: they
    are left out.

    Parameters
    ----------
    path
        The text file, or a folder or zip archive that holds it.
    """
    source, name = open_text(path)
    lines = Lines.read(source, name)
    heads, node_counts = _walk(lines)
    data = _dataset(lines, heads, node_counts, DatasetMeta(Path(name).stem, source=str(path)))
    if len(data.meta.node_label_names) > 1:
        return data
    logger.info("%s: every node has the tag %s, which is read as 'no node labels'", path, *data.meta.node_label_names)
    return GraphDataset(
        dataclasses.replace(data.arrays, node_labels=None), dataclasses.replace(data.meta, node_label_names=())
    )


def open_text(path: Path) -> tuple[TextSource, str]:
    """Where the text file is: itself, or in a folder or zip archive."""
    if path.is_dir() or path.suffix == ".zip":
        source = open_source(path)
        name = find_text(source)
    else:
        source, name = open_source(path.parent), path.name if path.is_file() else None
    if name is None:
        raise DatasetNotFoundError(f"{path} holds no dataset in DGCNN text format, or does not exist.")
    return source, name


def read_text_parts(path: Path, position: Any) -> Iterator[tuple[GraphDataset, Any]]:
    """Parts of some thousand graphs, each with the numbers of lines and graphs read so far.

    Tags that are the same for every node are not left out here: only the last part shows whether they are.
    """
    source, name = open_text(path)
    meta = DatasetMeta(Path(name).stem, source=str(path))
    read, graphs = position or (0, 0)
    announced, rest = -1, Lines(source.where(name), np.zeros(0), np.zeros(0, dtype=np.int64), 0)
    for lines in Lines.blocks(source, name):
        if announced < 0:
            announced = _announced(lines)
            read = max(read, 1)
        rest = rest.then(lines).after(read)
        heads, node_counts = _walk(rest, announced - graphs, whole=False)
        if len(heads):
            part = _dataset(rest, heads, node_counts, meta)
            read, graphs = read + len(heads) + int(node_counts.sum()), graphs + len(heads)
            rest = rest.after(read)
            yield part, (read, graphs)
    if len(rest.lengths) or graphs < announced:
        _walk(Lines.read(source, name))  # names the line where the file breaks off
    if announced < 0:
        raise DatasetError(f"{source.where(name)} is empty; its first line should be the number of graphs.")


def _dataset(lines: Lines, heads: np.ndarray, node_counts: np.ndarray, meta: DatasetMeta) -> GraphDataset:
    """The graphs whose heads stand on these lines, all tags included."""
    last = heads[-1] + node_counts[-1] + 1
    is_node = np.zeros(last, dtype=bool)
    is_node[heads[0] :] = True
    is_node[heads] = False
    nodes = np.flatnonzero(is_node)  # (N,) line of each node
    first_row = np.cumsum(node_counts) - node_counts  # (G,)
    degrees, num_attributes = _degrees(lines, nodes)
    graph = np.repeat(np.arange(len(heads)), node_counts)  # (N,) graph of each node
    target = np.repeat(np.arange(len(nodes), dtype=np.int32), degrees)  # (E,)
    inside = lines.values[runs(lines.starts[nodes] + 2, degrees)]  # (E,) neighbours, counted inside their graph
    wrong = (inside < 0) | (inside >= node_counts[graph[target]]) | not_whole(inside)
    if wrong.any():
        edge = int(np.flatnonzero(wrong)[0])
        node = target[edge]
        lines.fail(
            nodes[node],
            f"names the neighbour {inside[edge]:g}, but the nodes of this graph are 0 … {node_counts[graph[node]] - 1}",
        )
    neighbour = inside.astype(np.int32) + first_row[graph[target]].astype(np.int32)

    classes, class_names = codes(lines.whole(heads, 1, "class"))
    tags, tag_names = codes(lines.whole(nodes, 0, "tag"))
    attributes = None
    if num_attributes:
        where = runs(lines.starts[nodes] + 2 + degrees, np.full(len(nodes), num_attributes))
        attributes = lines.values[where].reshape(-1, num_attributes)
    arrays, mended = assemble(
        node_counts, neighbour, target, labels=classes, node_labels=tags, node_attributes=attributes
    )
    return GraphDataset(
        arrays, dataclasses.replace(meta, class_names=class_names, node_label_names=tag_names, mended=mended)
    )


def _announced(lines: Lines) -> int:
    """The number of graphs, which the first line of a file is."""
    if lines.lengths[0] != 1:
        lines.fail(0, f"has {lines.lengths[0]} numbers; the first line should be the number of graphs alone")
    announced = int(lines.whole(np.array([0]), 0, "number of graphs")[0])
    if announced < 1:
        lines.fail(0, f"announces {announced} graphs; at least one is needed")
    return announced


def _walk(lines: Lines, wanted: int | None = None, whole: bool = True) -> tuple[np.ndarray, np.ndarray]:
    """(G,) line of each graph's head, and (G,) nodes per graph.

    Parameters
    ----------
    wanted
        Graphs to come; None: the first line says how many.
    whole
        Whether the lines go to the end of the file. Without, graphs that go on behind them are left out.
    """
    announced = _announced(lines) if wanted is None else wanted
    heads: list[int] = []
    node_counts: list[int] = []
    line, num_lines = int(wanted is None), len(lines.starts)
    while len(heads) < announced and line < num_lines:
        if lines.lengths[line] != 2:
            lines.fail(line, f"has {lines.lengths[line]} numbers where a graph should begin with 'n label'")
        count = lines.values[lines.starts[line]]
        if count < 1 or not_whole(count):
            lines.fail(line, f"a graph of {count:g} nodes; a graph needs at least one node")
        if not whole and line + 1 + int(count) > num_lines:
            break
        heads.append(line)
        node_counts.append(int(count))
        line += 1 + int(count)
    if not whole:
        return np.array(heads, dtype=np.int64), np.array(node_counts, dtype=np.int64)
    if line > num_lines:
        lines.fail(
            heads[-1], f"a graph of {node_counts[-1]} nodes begins, but the file ends {line - num_lines} lines early"
        )
    if len(heads) < announced:
        lines.fail(0, f"announces {announced} graphs, but the file holds {len(heads)}")
    if line < num_lines:
        lines.fail(line, f"more lines follow after the {announced} graphs that the first line announces")
    return np.array(heads), np.array(node_counts)


def _degrees(lines: Lines, nodes: np.ndarray) -> tuple[np.ndarray, int]:
    """(N,) neighbours per node, and how many attributes follow them on every node's line."""
    short = np.flatnonzero(lines.lengths[nodes] < 2)
    if len(short):
        lines.fail(nodes[short[0]], "a node needs at least two numbers, its tag and its degree")
    degrees = lines.whole(nodes, 1, "degree")
    extra = lines.lengths[nodes] - 2 - degrees
    wrong = np.flatnonzero((degrees < 0) | (extra < 0) | (extra != extra[0]))
    if len(wrong):
        bad = wrong[0]
        lines.fail(
            nodes[bad],
            f"announces {degrees[bad]} neighbours and {extra[0]} attributes, but {lines.lengths[nodes[bad]] - 2} "
            "numbers follow",
        )
    return degrees, int(extra[0])
