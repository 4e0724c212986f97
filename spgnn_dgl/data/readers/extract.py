"""Nodes, edges and their labels out of lists of DGL or networkx graphs, as flat arrays."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import networkx
import numpy as np
import torch

from spgnn_dgl._dgl import batch_structure, dgl
from spgnn_dgl.data.arrays import sortable
from spgnn_dgl.data.store import LABEL_NAMES
from spgnn_dgl.errors import DatasetError

AUTO = "auto"
LABEL_FIELDS = ("label", "node_labels", "node_label")
ATTRIBUTE_FIELDS = ("attr", "node_attr", "feat", "x")
EDGE_LABEL_FIELDS = ("label", "edge_labels", "edge_label")

Field = str | None
Fields = str | Sequence[str] | None


@dataclass
class Extracted:
    """All graphs of a list, one after the other."""

    node_counts: np.ndarray  # (G,)
    source: np.ndarray  # (E,) node rows over all graphs
    target: np.ndarray  # (E,)
    node_labels: np.ndarray | None  # (N,) values, not codes
    node_attributes: np.ndarray | None  # (N, F)
    edge_labels: np.ndarray | None  # (E,)
    fields: tuple[Field, Fields, Field]  # where node labels, node attributes and edge labels were


# ---- DGL ------------------------------------------------------------------------------------------------------------


def extract_dgl(graphs: Sequence[Any], node_label: Field, node_attributes: Fields, edge_label: Field) -> Extracted:
    """From DGL graphs; fields are names in ``ndata`` and ``edata``, ``"auto"`` or None."""
    for g, graph in enumerate(graphs):
        if not graph.is_homogeneous:
            raise DatasetError(f"graph {g} has several node or edge types; use dgl.to_homogeneous(graph) first.")
    if isinstance(node_attributes, Sequence) and not isinstance(node_attributes, str):
        raise DatasetError("node_attributes must be the name of one ndata field for DGL graphs, not a list of names.")
    label = _choose_field([g.ndata for g in graphs], node_label, LABEL_FIELDS, "ndata", _is_label)
    attribute = _choose_field([g.ndata for g in graphs], node_attributes, ATTRIBUTE_FIELDS, "ndata", _is_attribute)
    edge = _choose_field([g.edata for g in graphs if g.num_edges()], edge_label, EDGE_LABEL_FIELDS, "edata", _is_label)

    source, target = (ends.cpu().numpy() for ends in batch_structure(graphs).edges(order="eid"))
    attributes = None
    if attribute is not None:
        columns = [g.ndata[attribute].reshape(g.num_nodes(), -1) for g in graphs]
        widths = [c.shape[1] for c in columns]
        if len(set(widths)) > 1:
            g = next(i for i, width in enumerate(widths) if width != widths[0])
            raise DatasetError(f"ndata['{attribute}'] of graph {g} has {widths[g]} columns, graph 0 has {widths[0]}.")
        attributes = _joined(columns)
    return Extracted(
        np.array([graph.num_nodes() for graph in graphs]),
        source,
        target,
        None if label is None else _label_values(graphs, label),
        attributes,
        None if edge is None else _joined([g.edata[edge].reshape(-1) for g in graphs if g.num_edges()]),
        (label, attribute, edge),
    )


def _joined(parts: list[torch.Tensor]) -> np.ndarray:
    return torch.cat([part.detach().cpu() for part in parts]).numpy()


def _label_values(graphs: Sequence[Any], field: str) -> np.ndarray:
    """Node labels; graphs cut from a GraphDataset carry codes and the names these stand for, and give the names."""
    values = [graph.ndata[field].reshape(-1) for graph in graphs]
    names = [getattr(graph, LABEL_NAMES, None) if field == "label" else None for graph in graphs]
    if not any(names):
        return _joined(values)
    tables = {known: np.array(known) for known in set(names) if known}
    plain = [v.cpu().numpy() for v in values]
    texts = np.concatenate([tables[known][v] if known else v.astype(str) for known, v in zip(names, plain)])
    return sortable(texts.tolist())


def _is_label(values: torch.Tensor) -> bool:
    return not values.is_floating_point() and not values.is_complex() and values.numel() == len(values)


def _is_attribute(values: torch.Tensor) -> bool:
    return values.dim() <= 2 and not values.is_complex()


def _choose_field(
    frames: Sequence[Any], field: Any, automatic: Sequence[str], where: str, suits: Callable[[torch.Tensor], bool]
) -> str | None:
    """The field to read: the one asked for, or the first of the usual names that the first graph has."""
    if field is None or not frames:
        return None
    asked = field != AUTO
    chosen = field if asked else next((f for f in automatic if f in frames[0] and suits(frames[0][f])), None)
    if chosen is None:
        return None
    for g, frame in enumerate(frames):
        if chosen not in frame:
            known = ", ".join(frame) or "nothing"
            raise DatasetError(
                f"graph {g} has no {where}['{chosen}'] (it has {known}). Give every graph that field, name another "
                "one, or None to leave it out."
            )
        if not suits(frame[chosen]):
            raise DatasetError(
                f"{where}['{chosen}'] of graph {g} is {tuple(frame[chosen].shape)} {frame[chosen].dtype}: a label must "
                "be one whole number each, an attribute one number or one row of numbers each."
            )
    return chosen


# ---- networkx -------------------------------------------------------------------------------------------------------


def extract_networkx(graphs: Sequence[Any], node_label: Field, node_attributes: Fields, edge_label: Field) -> Extracted:
    """From networkx graphs; fields are names of node and edge attributes, ``"auto"`` or None."""
    node_counts, ends, both_ways = [], [], []
    start = 0
    for graph in graphs:
        row = {node: start + i for i, node in enumerate(graph)}
        pairs = [(row[u], row[v]) for u, v in graph.edges()]
        ends.append(np.array(pairs, dtype=np.int64).reshape(-1, 2))
        both_ways.append(not graph.is_directed())
        node_counts.append(len(row))
        start += len(row)
    edges = np.concatenate(ends)  # (E, 2)
    # an edge of an undirected graph stands for both directions, a self-loop for one
    mirrored = np.repeat(both_ways, [len(e) for e in ends]) & (edges[:, 0] != edges[:, 1])
    source = np.concatenate([edges[:, 0], edges[mirrored, 1]])
    target = np.concatenate([edges[:, 1], edges[mirrored, 0]])

    nodes = [[d for _, d in graph.nodes(data=True)] for graph in graphs]
    label = _choose_attribute(nodes, node_label, LABEL_FIELDS, "node")
    several = [node_attributes] if isinstance(node_attributes, str) or node_attributes is None else node_attributes
    attributes = [a for f in several if (a := _choose_attribute(nodes, f, ATTRIBUTE_FIELDS, "node")) is not None]
    edge_data = [[d for *_, d in graph.edges(data=True)] for graph in graphs]
    edge = _choose_attribute(edge_data, edge_label, EDGE_LABEL_FIELDS, "edge")
    edge_labels = None
    if edge is not None:
        given = sortable([d[edge] for data in edge_data for d in data])
        edge_labels = np.concatenate([given, given[mirrored]])
    return Extracted(
        np.array(node_counts),
        source,
        target,
        None if label is None else sortable([d[label] for data in nodes for d in data]),
        _attribute_rows(nodes, attributes),
        edge_labels,
        (label, attributes or None, edge),
    )


def _choose_attribute(data: list[list[dict]], field: Any, automatic: Sequence[str], thing: str) -> str | None:
    """The attribute to read: the one asked for, or the first of the usual names that any node (or edge) has."""
    if field is None:
        return None
    candidates = (
        [field] if field != AUTO else [f for f in automatic if any(f in d for graph in data for d in graph)][:1]
    )
    for chosen in candidates:
        for g, graph in enumerate(data):
            if not all(chosen in d for d in graph):
                raise DatasetError(
                    f"graph {g} has a {thing} without the attribute '{chosen}'. Give every {thing} that attribute, "
                    "name another one, or None to leave it out."
                )
        return chosen if any(data) else None
    return None


def _attribute_rows(nodes: list[list[dict]], fields: list[str]) -> np.ndarray | None:
    if not fields:
        return None
    try:
        rows = [np.concatenate([np.atleast_1d(d[f]) for f in fields]) for graph in nodes for d in graph]
        return np.array(rows, dtype=np.float32)
    except (ValueError, TypeError) as problem:
        raise DatasetError(
            f"the node attributes {', '.join(fields)} are not rows of numbers of one length ({problem})."
        ) from problem


def is_dgl(thing: Any) -> bool:
    return isinstance(thing, dgl.DGLGraph)


def is_networkx(thing: Any) -> bool:
    return isinstance(thing, networkx.Graph)
