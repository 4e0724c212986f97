"""Graphs that are already in memory as a dataset: DGL graphs, any DGLDataset, networkx graphs."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
import torch

from spgnn_dgl._dgl import dgl
from spgnn_dgl.data.arrays import UNKNOWN_CLASS, DatasetMeta, assemble, codes, sortable
from spgnn_dgl.data.readers.extract import (
    AUTO,
    Extracted,
    Field,
    Fields,
    extract_dgl,
    extract_networkx,
    is_dgl,
    is_networkx,
)
from spgnn_dgl.data.store import GraphDataset
from spgnn_dgl.errors import DatasetError


def from_graphs(
    graphs: Iterable[Any],
    labels: Sequence[Any] | np.ndarray | torch.Tensor | None = None,
    *,
    node_label: Field = AUTO,
    node_attributes: Fields = AUTO,
    edge_label: Field = AUTO,
    name: str = "graphs",
    directed: bool = False,
) -> GraphDataset:
    """A dataset from DGL graphs, from a DGLDataset, or from networkx graphs.

    Parameters
    ----------
    graphs
        Graphs, or pairs (graph, label) as every DGLDataset gives them.
    labels
        One class per graph: whole numbers or texts, None where it is not known. Left out, the labels of the pairs
        count; without these, the classes are not known, which is enough for prediction.
    node_label, node_attributes, edge_label
        Where the labels and attributes are: a field of ``ndata`` or ``edata`` (DGL), a node or edge attribute
        (networkx; `node_attributes` may be a list of them). None: not read. ``"auto"``: the first of the usual names
        that is there (``label``, ``node_labels``; ``attr``, ``node_attr``, ``feat``, ``x``).
    name
        Name of the dataset.
    directed
        Keep the directions of edges. Otherwise an edge in one direction stands for both.

    Examples
    --------
    >>> import networkx
    >>> data = from_graphs([networkx.path_graph(3), networkx.star_graph(4)], ["path", "star"])
    >>> data.meta.class_names, data.node_counts.tolist()
    (('path', 'star'), [3, 5])
    """
    items, own_labels = split_pairs(graphs)
    if labels is None:
        labels = own_labels
    return graphs_at(items, labels, (node_label, node_attributes, edge_label), name, directed)[0]


def graphs_at(
    items: list[Any],
    labels: Sequence[Any] | np.ndarray | torch.Tensor | None,
    fields: tuple[Field, Fields, Field],
    name: str,
    directed: bool,
) -> tuple[GraphDataset, tuple[Field, Fields, Field]]:
    """As :func:`from_graphs`, and the fields that were read: what ``"auto"`` turned out to mean."""
    if not items:
        raise DatasetError("the dataset is empty: it has no graphs. Give at least one graph.")
    extract = _extractor(items)
    found = extract(items, *fields)
    classes, class_names = _classes(labels, len(items))
    node_codes, node_names = (None, ()) if found.node_labels is None else codes(found.node_labels)
    edge_codes, edge_names = (None, ()) if found.edge_labels is None else codes(found.edge_labels)
    arrays, mended = assemble(
        found.node_counts,
        found.source,
        found.target,
        labels=classes,
        node_labels=node_codes,
        node_attributes=found.node_attributes,
        edge_labels=edge_codes,
        directed=directed,
    )
    meta = DatasetMeta(
        name=name,
        class_names=class_names,
        node_label_names=node_names,
        edge_label_names=edge_names,
        directed=directed,
        mended=mended,
    )
    return GraphDataset(arrays, meta), found.fields


def as_dataset(X: Any, y: Sequence[Any] | np.ndarray | torch.Tensor | None = None, **options: Any) -> GraphDataset:
    """Whatever holds graphs, as a dataset: a GraphDataset, a list of graphs, a DGLDataset, one batched DGLGraph.

    Parameters
    ----------
    X
        The graphs, also pairs (graph, label), or the tuple (list of graphs, list of labels).
    y
        Their classes; they take the place of those that `X` has.
    options
        As in :func:`from_graphs`.
    """
    if isinstance(X, tuple) and len(X) == 2 and isinstance(X[0], list | dgl.data.DGLDataset):
        X, own_labels = X
        y = own_labels if y is None else y
    if isinstance(X, GraphDataset):
        return X if y is None else with_labels(X, y)
    if is_dgl(X):
        return from_graphs(dgl.unbatch(X), y, **options)
    if is_networkx(X):
        raise DatasetError("one networkx graph was given; give a list of graphs: [graph].")
    if isinstance(X, str | bytes) or not (isinstance(X, Iterable) or hasattr(X, "__getitem__")):
        raise DatasetError(
            f"a {type(X).__name__} was given; expected a dataset, a list of DGL or networkx graphs, or a DGLDataset. "
            "A dataset's name or path is opened with load_dataset."
        )
    if isinstance(X, dgl.data.DGLDataset):
        options.setdefault("name", X.name or type(X).__name__)
    return from_graphs(X, y, **options)


def with_labels(data: GraphDataset, labels: Sequence[Any] | np.ndarray | torch.Tensor) -> GraphDataset:
    """The same graphs with other classes; all other arrays are shared."""
    classes, class_names = _classes(labels, len(data))
    everywhere = np.full(data.arrays.num_graphs, UNKNOWN_CLASS, dtype=np.int64)
    everywhere[data.members] = classes
    arrays = dataclasses.replace(data.arrays, labels=everywhere)
    return GraphDataset(arrays, dataclasses.replace(data.meta, class_names=class_names), data.members)


def _extractor(items: list[Any]) -> Callable[[Sequence[Any], Field, Fields, Field], Extracted]:
    """The function that reads graphs of this kind; all must be of one kind."""
    for test, extract in ((is_dgl, extract_dgl), (is_networkx, extract_networkx)):
        other = next((i for i, item in enumerate(items) if not test(item)), None)
        if other is None:
            return extract
        if other > 0:
            break
    raise DatasetError(
        f"item {other} is a {type(items[other or 0]).__name__}; a dataset is made of DGL graphs or of networkx graphs, "
        "all of one kind."
    )


def split_pairs(graphs: Any) -> tuple[list[Any], list[Any] | None]:
    """Graphs, and their labels where the items are pairs."""
    # by index where there is a length: some DGLDatasets do not stop when they are iterated
    items = [graphs[i] for i in range(len(graphs))] if hasattr(graphs, "__len__") else list(graphs)
    if items and all(isinstance(item, tuple | list) and len(item) == 2 for item in items):
        return [graph for graph, _ in items], [label for _, label in items]
    return items, None


def _classes(labels: Any, count: int) -> tuple[np.ndarray, tuple[str, ...]]:
    """(G,) class codes and class names."""
    if labels is None:
        labels = [None] * count
    values = [_plain(label, i) for i, label in enumerate(labels)]
    if len(values) != count:
        raise DatasetError(f"{len(values)} labels were given for {count} graphs; give one for each.")
    known = np.array([value is not None for value in values], dtype=bool)
    result = np.full(count, UNKNOWN_CLASS, dtype=np.int64)
    names: tuple[str, ...] = ()
    if known.any():
        result[known], names = codes(sortable([value for value in values if value is not None]))
    return result, names


def _plain(label: Any, graph: int) -> Any:
    """A class as whole number, text or None."""
    if isinstance(label, torch.Tensor | np.ndarray):
        if label.size != 1 if isinstance(label, np.ndarray) else label.numel() != 1:
            raise DatasetError(
                f"the label of graph {graph} has the shape {tuple(label.shape)}; one class per graph is needed. "
                "Choose one column of a set with several tasks."
            )
        label = label.item()
    elif isinstance(label, np.generic):
        label = label.item()
    if isinstance(label, float):
        if not (math.isfinite(label) and label.is_integer()):
            raise DatasetError(
                f"the label of graph {graph} is {label}: a number to predict (regression), or missing. Graph "
                "classification needs classes; give whole numbers or texts, and None where the class is not known."
            )
        label = int(label)
    return int(label) if isinstance(label, bool) else label
