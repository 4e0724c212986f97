"""`GraphDataset`: a DGLDataset over flat arrays."""

from __future__ import annotations

import operator
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import torch

from spgnn_dgl._dgl import dgl, set_batch_sizes
from spgnn_dgl.data.arrays import UNKNOWN_CLASS, DatasetMeta, GraphArrays, cutter
from spgnn_dgl.errors import DatasetError

_FORMATS = ["coo", "csr", "csc"]
LABEL_NAMES = "node_label_names"
"""Attribute of a graph cut from a dataset: what the codes in ``ndata["label"]`` stand for."""
_SYMMETRIC = "spgnn_dgl: neighbour lists of an undirected graph"


@dataclass(frozen=True)
class DatasetInfo:
    """What a method may know of its training graphs when it builds a model."""

    name: str
    num_classes: int
    num_node_labels: int  # 0: the nodes have no labels
    num_attributes: int  # 0: the nodes have no attributes
    node_counts: np.ndarray  # (G,) nodes per graph
    domain: str | None = None


class GraphDataset(dgl.data.DGLDataset):  # type: ignore[name-defined]
    """Labelled graphs in flat arrays; a view when it is a subset.

    ``data[i]`` is ``(DGLGraph, label)`` as in every DGL dataset, ``data.batch(indices)`` is one batched
    :class:`dgl.DGLGraph` cut straight out of the arrays, equal to ``dgl.batch([data[i][0] for i in indices])`` and
    much faster. Graphs carry ``ndata["label"]`` (codes), ``ndata["attr"]``, ``ndata["truth"]`` and
    ``edata["label"]`` where the dataset has them.

    Parameters
    ----------
    arrays
        Flat arrays, as :func:`spgnn_dgl.data.arrays.assemble` makes them. They are not checked again.
    meta
        Names of classes and labels, direction, what was mended.
    members
        Which graphs of the arrays belong to this view (default: all), in order.
    """

    def __init__(self, arrays: GraphArrays, meta: DatasetMeta, members: np.ndarray | None = None):
        self.arrays = arrays
        self.meta = meta
        self.members = np.arange(arrays.num_graphs) if members is None else members
        super().__init__(name=meta.name, raw_dir="", save_dir="")

    def _load(self) -> None:
        """DGLDataset would look for downloads in the home directory; the arrays are here already."""

    def process(self) -> None:
        """Nothing to process: see :meth:`_load`."""

    # ---- what is in it ----------------------------------------------------------------------------------------

    def __len__(self) -> int:
        return len(self.members)

    def __iter__(self) -> Iterator[tuple[Any, torch.Tensor]]:
        return (self[i] for i in range(len(self)))

    def __repr__(self) -> str:
        return f"GraphDataset({self.name!r}, {len(self)} graphs, {self.num_classes} classes)"

    @property
    def num_classes(self) -> int:
        return len(self.meta.class_names)

    @property
    def num_node_labels(self) -> int:
        return len(self.meta.node_label_names) if self.arrays.node_labels is not None else 0

    @property
    def num_attributes(self) -> int:
        return 0 if self.arrays.node_attributes is None else self.arrays.node_attributes.shape[1]

    @property
    def labels(self) -> np.ndarray:
        """(G,) class codes; -1 where the class is not known."""
        return self.arrays.labels[self.members]

    @property
    def has_labels(self) -> bool:
        return bool((self.labels != UNKNOWN_CLASS).all())

    @property
    def node_counts(self) -> np.ndarray:
        """(G,) nodes per graph."""
        return self.arrays.node_offsets[self.members + 1] - self.arrays.node_offsets[self.members]

    @property
    def edge_counts(self) -> np.ndarray:
        """(G,) stored edges per graph; an undirected edge counts twice."""
        return self.arrays.edge_offsets[self.members + 1] - self.arrays.edge_offsets[self.members]

    @property
    def info(self) -> DatasetInfo:
        return DatasetInfo(
            name=self.name,
            num_classes=self.num_classes,
            num_node_labels=self.num_node_labels,
            num_attributes=self.num_attributes,
            node_counts=self.node_counts,
            domain=self.meta.domain,
        )

    @cached_property
    def fingerprint(self) -> str:
        """Hash of the underlying arrays (of all graphs, also for a subset view)."""
        return self.arrays.fingerprint()

    def require_classes(self) -> None:
        """Refuse data a classifier cannot be trained on."""
        where = f"{self.name} ({self.meta.source})" if self.meta.source else self.name
        remedy = "To predict only, load it with require_classes=False."
        if len(self) == 0:
            raise DatasetError(f"{where} is empty: it has no graphs. Give at least one graph.")
        if not self.has_labels:
            missing = int(np.flatnonzero(self.labels == UNKNOWN_CLASS)[0])
            raise DatasetError(
                f"{where}: graph {missing} has no class; training needs a class for every graph. {remedy}"
            )
        found = np.unique(self.labels)
        if len(found) < 2:
            only = self.meta.class_names[found[0]]
            raise DatasetError(f"{where}: every graph has the class '{only}'; training needs two or more. {remedy}")

    # ---- views ------------------------------------------------------------------------------------------------

    def subset(self, indices: Sequence[int] | np.ndarray) -> GraphDataset:
        """A view of the graphs at `indices` (positions or a boolean mask); no array is copied."""
        return GraphDataset(self.arrays, self.meta, self.members[self._positions(indices)])

    def _positions(self, indices: Sequence[int] | np.ndarray) -> np.ndarray:
        positions = np.asarray(indices)
        if positions.dtype == bool:
            if positions.shape != (len(self),):
                raise DatasetError(f"a mask of shape {positions.shape} was given for {len(self)} graphs.")
            return np.flatnonzero(positions)
        if positions.size == 0:
            return positions.astype(np.int64)
        if positions.dtype.kind not in "iu":
            raise DatasetError(f"graph indices must be integers, not {positions.dtype}.")
        low, high = positions.min(), positions.max()
        if low < -len(self) or high >= len(self):
            raise IndexError(f"graph index {low if low < -len(self) else high} is out of range for {len(self)} graphs")
        return np.where(positions < 0, positions + len(self), positions) if low < 0 else positions

    # ---- graphs -----------------------------------------------------------------------------------------------

    def __getitem__(self, index: Any) -> Any:
        """``(graph, label)`` for a whole number, a view for a slice, a list of positions or a mask."""
        if isinstance(index, slice):
            return self.subset(np.arange(len(self))[index])
        if np.ndim(index) > 0:
            return self.subset(index)
        position = operator.index(index)
        return self.batch([position]), torch.tensor(self.arrays.labels[self.members[position]])

    def batch(self, indices: Sequence[int] | np.ndarray) -> Any:
        """One batched DGLGraph of the graphs at `indices`, in that order.

        Cut out of the flat arrays: the same slices of each array one after the other, one addition of node offsets.
        """
        graphs = self.members[self._positions(indices)]
        arrays = self.arrays
        if len(graphs) == 0:
            raise DatasetError("a batch needs at least one graph.")
        first_node, first_edge = arrays.node_offsets[graphs], arrays.edge_offsets[graphs]
        sizes = arrays.node_offsets[graphs + 1] - first_node  # (B,)
        num_edges = arrays.edge_offsets[graphs + 1] - first_edge  # (B,)
        of_nodes, of_edges = cutter(first_node, sizes), cutter(first_edge, num_edges)

        in_degrees = of_nodes(arrays.in_degrees)
        indptr = np.zeros(len(in_degrees) + 1, dtype=np.int32)
        np.cumsum(in_degrees, out=indptr[1:])
        neighbours = of_edges(arrays.neighbours)
        if len(graphs) > 1:
            shift = np.zeros(len(graphs), dtype=np.int32)
            np.cumsum(sizes[:-1], out=shift[1:])
            neighbours += np.repeat(shift, num_edges)

        node_fields = {"label": arrays.node_labels, "attr": arrays.node_attributes, "truth": arrays.truth}
        graph = graph_from_csc(
            torch.from_numpy(indptr),
            torch.from_numpy(neighbours),
            undirected=not self.meta.directed,
            ndata={f: torch.from_numpy(of_nodes(a)) for f, a in node_fields.items() if a is not None},
            edata={} if arrays.edge_labels is None else {"label": torch.from_numpy(of_edges(arrays.edge_labels))},
        )
        set_batch_sizes(graph, torch.from_numpy(sizes), torch.from_numpy(num_edges))
        if arrays.node_labels is not None:
            setattr(graph, LABEL_NAMES, self.meta.node_label_names)
        return graph

    def batch_labels(self, indices: Sequence[int] | np.ndarray) -> torch.Tensor:
        """(B,) class codes of the graphs at `indices`."""
        return torch.from_numpy(self.arrays.labels[self.members[self._positions(indices)]])


def graph_from_csc(
    indptr: torch.Tensor,
    neighbours: torch.Tensor,
    *,
    undirected: bool = False,
    edge_ids: bool = True,
    ndata: dict[str, torch.Tensor] | None = None,
    edata: dict[str, torch.Tensor] | None = None,
) -> Any:
    """A DGLGraph over int32 in-neighbour lists, sharing their memory; see :func:`symmetric_lists` for `undirected`.

    ``dgl.graph(("csc", …))`` does the same after checks and conversions that cost more than the rest of a batch.
    Without `edge_ids`, products are faster, but DGL's kernels fail on messages that read edge data.
    """
    num_nodes = len(indptr) - 1
    numbers = torch.arange(len(neighbours) if edge_ids else 0, dtype=torch.int32, device=indptr.device)
    index = dgl.heterograph_index.create_unitgraph_from_csr(
        1, num_nodes, num_nodes, indptr, neighbours, numbers, _FORMATS, True
    )
    if undirected:
        index._cache[_SYMMETRIC] = indptr, neighbours
    frames = [dgl.frame.Frame(ndata, num_rows=num_nodes)], [dgl.frame.Frame(edata, num_rows=len(neighbours))]
    return dgl.DGLGraph(index, ["_N"], ["_E"], *frames)


def symmetric_lists(graph: Any) -> tuple[torch.Tensor, torch.Tensor] | None:
    """Neighbour lists of a graph that was made as an undirected one and not changed since, else None.

    They are noted on DGL's graph *index*: every operation that changes edges makes a new index, so the note cannot
    outlive the symmetry.
    """
    return graph._graph._cache.get(_SYMMETRIC)
