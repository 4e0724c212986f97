"""`GraphDataset`: a DGLDataset over flat arrays."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import torch

from spgnn_dgl._dgl import dgl, set_batch_sizes
from spgnn_dgl.data.arrays import UNKNOWN_CLASS, DatasetMeta, GraphArrays, cutter
from spgnn_dgl.errors import DatasetError

_FORMATS = ["coo", "csr", "csc"]
LABEL_NAMES = "node_label_names"
"""Attribute of a graph cut from a dataset: what the codes in ``ndata["label"]`` stand for."""
DEGREE = "degree"
"""Field of batches whose nodes have more neighbours than the batch shows; see :mod:`spgnn_dgl.data.folding`."""
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
        self._chosen = members
        super().__init__(name=meta.name, raw_dir="", save_dir="")

    @classmethod
    def from_iterable(
        cls,
        graphs: Iterable[Any],
        path: str | Path,
        *,
        name: str | None = None,
        node_label: str | None = "auto",
        node_attributes: str | Sequence[str] | None = "auto",
        edge_label: str | None = "auto",
        directed: bool = False,
        on_part: Callable[[int], None] | None = None,
    ) -> GraphDataset:
        """Write a store from graphs that come one by one, and open it; memory does not grow with their number.

        The store is the one that :func:`spgnn_dgl.data.readers.graphs.from_graphs` and
        :func:`spgnn_dgl.data.saved.save_store` would make of the same graphs. It is in its place whole or not at all.
        The same call after a kill, with the same graphs, goes on where the last one stopped: an iterator is run
        through up to there, a sequence is not.

        Parameters
        ----------
        graphs
            Graphs or pairs (graph, label), as in :func:`spgnn_dgl.data.readers.graphs.from_graphs`; or datasets, each
            of which is a part of the whole (made by :func:`spgnn_dgl.data.arrays.assemble`, for speed).
        path
            Folder of the store; a store that is already there is replaced.
        name
            Name of the dataset (default: that of the folder).
        node_label, node_attributes, edge_label, directed
            As in :func:`spgnn_dgl.data.readers.graphs.from_graphs`.
        on_part
            Called with the number of graphs so far, for progress bars.

        Examples
        --------
        >>> import networkx, tempfile
        >>> rings = ((networkx.cycle_graph(3 + i % 5), "odd" if i % 2 else "even") for i in range(100))
        >>> GraphDataset.from_iterable(rings, Path(tempfile.mkdtemp()) / "rings")
        GraphDataset('rings', 100 graphs, 2 classes)
        """
        from spgnn_dgl.data.building.builder import build_store
        from spgnn_dgl.data.building.streaming import parts_of_graphs

        name = Path(path).resolve().name if name is None else name
        fields = (node_label, node_attributes, edge_label)
        return build_store(path, parts_of_graphs(graphs, name, fields, directed), on_part=on_part)

    def _load(self) -> None:
        """DGLDataset would look for downloads in the home directory; the arrays are here already."""

    def process(self) -> None:
        """Nothing to process: see :meth:`_load`."""

    # ---- what is in it ----------------------------------------------------------------------------------------

    def __len__(self) -> int:
        return self.arrays.num_graphs if self._chosen is None else len(self._chosen)

    def __iter__(self) -> Iterator[tuple[Any, torch.Tensor]]:
        return (self[i] for i in range(len(self)))

    def __repr__(self) -> str:
        return f"GraphDataset({self.name!r}, {len(self)} graphs, {self.num_classes} classes)"

    @cached_property
    def members(self) -> np.ndarray:
        """(G,) which graphs of the arrays belong to this view, in order."""
        return np.arange(self.arrays.num_graphs) if self._chosen is None else self._chosen

    @property
    def is_whole(self) -> bool:
        """Whether the view has all graphs of the arrays, in their order."""
        return self._chosen is None or (
            len(self._chosen) == self.arrays.num_graphs and np.array_equal(self._chosen, np.arange(len(self._chosen)))
        )

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
        return np.array(self._label_view)

    @property
    def _label_view(self) -> np.ndarray:
        """The same, not copied where all graphs are meant: a large store's labels stay on disk."""
        return self.arrays.labels if self._chosen is None else self.arrays.labels[self._chosen]

    @property
    def has_labels(self) -> bool:
        return bool((self._label_view != UNKNOWN_CLASS).all())

    @property
    def node_counts(self) -> np.ndarray:
        """(G,) nodes per graph."""
        return self._counts(self.arrays.node_offsets)

    @property
    def edge_counts(self) -> np.ndarray:
        """(G,) stored edges per graph; an undirected edge counts twice."""
        return self._counts(self.arrays.edge_offsets)

    def _counts(self, offsets: np.ndarray) -> np.ndarray:
        return np.diff(offsets) if self._chosen is None else offsets[self._chosen + 1] - offsets[self._chosen]

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

    @property
    def fingerprint(self) -> str:
        """Hash of the underlying arrays (of all graphs, also for a subset view)."""
        return self.arrays.fingerprint

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
        found = np.flatnonzero(np.bincount(self._label_view))
        if len(found) < 2:
            only = self.meta.class_names[found[0]]
            raise DatasetError(f"{where}: every graph has the class '{only}'; training needs two or more. {remedy}")

    # ---- views ------------------------------------------------------------------------------------------------

    def subset(self, indices: Sequence[int] | np.ndarray) -> GraphDataset:
        """A view of the graphs at `indices` (positions or a boolean mask); no array is copied."""
        return GraphDataset(self.arrays, self.meta, np.array(self._graphs(indices)))  # not the caller's own array

    def _graphs(self, indices: Sequence[int] | np.ndarray) -> np.ndarray:
        """The graphs of the arrays that stand at `indices` of this view."""
        positions = self._positions(indices)
        return positions.astype(np.int64, copy=False) if self._chosen is None else self._chosen[positions]

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
        return self.batch([position]), torch.tensor(self.arrays.labels[self._graphs([position])[0]])

    def batch(self, indices: Sequence[int] | np.ndarray) -> Any:
        """One batched DGLGraph of the graphs at `indices`, in that order.

        Cut out of the flat arrays: the same slices of each array one after the other, one addition of node offsets.
        """
        graphs = self._graphs(indices)
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

        graph = graph_from_csc(
            torch.from_numpy(indptr),
            torch.from_numpy(neighbours),
            undirected=not self.meta.directed,
            ndata={name: torch.from_numpy(of_nodes(array)) for name, array in arrays.node_fields().items()},
            edata={name: torch.from_numpy(of_edges(array)) for name, array in arrays.edge_fields().items()},
        )
        set_batch_sizes(graph, torch.from_numpy(sizes), torch.from_numpy(num_edges))
        if arrays.node_labels is not None:
            setattr(graph, LABEL_NAMES, self.meta.node_label_names)
        return graph

    def batch_labels(self, indices: Sequence[int] | np.ndarray) -> torch.Tensor:
        """(B,) class codes of the graphs at `indices`."""
        return torch.from_numpy(self.arrays.labels[self._graphs(indices)])


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


def degrees(graph: Any) -> torch.Tensor:
    """(N,) neighbours of every node of a batch, in a directed one those from which an edge leads to it."""
    return graph.ndata[DEGREE] if DEGREE in graph.ndata else graph.in_degrees()
