"""The random walk kernel, through GraKeL."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from scipy.sparse.linalg import eigsh

from spgnn_dgl.data.store import GraphDataset
from spgnn_dgl.data.substructures.wl import flatten, label_kind, node_names
from spgnn_dgl.errors import DatasetError, OptionError, missing_extra
from spgnn_dgl.methods.base import METHODS
from spgnn_dgl.methods.budget import Deadline
from spgnn_dgl.methods.kernels.base import KernelMethod, normalised, physical_memory

log = logging.getLogger("spgnn_dgl")

DECAYS = (1e-1, 1e-2, 1e-3, 1e-4, 1e-5)
DENSE_NODES = 200  # below it a full eigenvalue decomposition is quicker than an iteration


@METHODS.register("rw")
class RandomWalkKernel(KernelMethod):
    r"""Geometric random walk kernel and SVM.

    Gärtner, Flach, Wrobel: *On Graph Kernels: Hardness Results and Efficient Alternatives*, COLT 2003; computed as in
    Vishwanathan, Schraudolph, Kondor, Borgwardt: *Graph Kernels*, JMLR 2010.

    Counts the common walks of two graphs, :math:`k(x, y) = \sum_n \lambda^n\, 1^\top A_\times^n 1` with the adjacency
    :math:`A_\times` of their direct product: by GraKeL's ``RandomWalkLabeled`` (``RandomWalk`` without labels), which
    solves a linear system for each pair of graphs. It is slow: set a budget. Edges count without direction.

    The sum exists while λ is below 1 over the squared spectral radius of the graphs. GraKeL lowers a larger λ to fit
    the graphs it is given, which would make the kernel of two graphs depend on the others. Here such a λ is left out
    of the search, or refused when it was given. Where none of the five is left, it is nine tenths of the limit. A
    graph to predict for which the sum does not exist gets kernel values of 0.

    Parameters
    ----------
    decay
        λ; ``"auto"`` chooses among 10⁻¹ … 10⁻⁵ on inner validation.
    common
        C, features, inner_folds and budget: see :class:`~spgnn_dgl.methods.kernels.base.KernelMethod`. Here
        ``features="auto"`` means labels where there are any, else ``"constant"``: walks without labels.
    """

    reference = "Gärtner et al., COLT 2003"
    extra = "kernels"
    name = "rw"
    searched = "decay"
    grid = DECAYS

    def __init__(self, *, decay: float | str = "auto", **common: Any):
        self.check_common("rw", common)
        super().__init__(**common)
        if decay != "auto" and (isinstance(decay, str | bool) or not decay > 0):
            raise OptionError(f"decay={decay!r} was given; it must be a positive number, or 'auto'.")
        self.decay = decay

    def label_kind(self, data: GraphDataset) -> str:
        if self.features == "auto" and not data.num_node_labels:
            return "constant"
        return label_kind(data, self.features)

    def candidates(self, data: GraphDataset, deadline: Deadline) -> tuple[Any, ...]:
        _grakel_class("RandomWalk")  # a missing package is told before the work begins
        limit = 1 / max(float(_spectral_radii(data, deadline).max()) ** 2, 1e-12)
        if self.decay != "auto":
            if float(self.decay) >= limit:
                raise OptionError(
                    f"decay={self.decay} was given, but on {data.name} "
                    f"the sum over walks exists below {limit:.3g} only."
                )
            return (self.decay,)
        usable = tuple(decay for decay in DECAYS if decay < limit)
        if len(usable) < len(DECAYS):
            log.info("rw on %s: decays from %.3g on are left out, their sums do not exist", data.name, limit)
        return usable or (float(f"{0.9 * limit:.3g}"),)

    def kernels(
        self, rows: GraphDataset, columns: GraphDataset, values: Sequence[Any], deadline: Deadline
    ) -> Iterator[np.ndarray]:
        same = columns is rows
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # GraKeL's own words on λ; see candidates
            left = self._parse(rows, deadline)
            right = left if same else self._parse(columns, deadline)
        row_radii = _spectral_radii(rows, deadline)
        column_radii = row_radii if same else _spectral_radii(columns, deadline)
        for decay in values:
            kernel = self._kernel(decay)

            def value(x: Any, y: Any, kernel: Any = kernel) -> float:
                deadline.check()
                return float(kernel.pairwise_operation(x, y))

            raw = np.zeros((len(rows), len(columns)))
            for i, x in enumerate(left):
                for j, y in enumerate(right[: i + 1] if same else right):
                    raw[i, j] = value(x, y)
            if same:
                raw = np.tril(raw) + np.tril(raw, -1).T
                squares = column_squares = raw.diagonal().copy()
            else:
                squares = np.array([value(x, x) for x in left])
                column_squares = np.array([value(y, y) for y in right])
            # walks of two graphs converge when those of each with itself do
            out = normalised(raw, squares, column_squares)
            for axis, radii in ((0, row_radii), (1, column_radii)):
                diverging = np.flatnonzero(decay * radii**2 >= 1)
                if len(diverging):
                    log.warning(
                        "rw: the sum over walks does not exist for %d graphs; their values are 0", len(diverging)
                    )
                    out[(slice(None),) * axis + (diverging,)] = 0.0
            yield out

    def _kernel(self, decay: float) -> Any:
        """GraKeL's kernel, ready for :meth:`pairwise_operation`."""
        with warnings.catch_warnings():  # its constructor changes the process's warning filters
            kernel = _grakel_class("RandomWalk" if self.labels_ == "constant" else "RandomWalkLabeled")(lamda=decay)
            kernel.initialize()
        return kernel

    def _parse(self, data: GraphDataset, deadline: Deadline) -> list[Any]:
        """GraKeL's form of every graph."""
        codes, names = node_names(data, self.labels_)
        flat = flatten(data)
        parts = list(zip(flat.node_offsets[:-1].tolist(), flat.node_offsets[1:].tolist()))
        _check_dense(data, [(end - start) * len(np.unique(codes[start:end])) for start, end in parts])
        kernel, parsed = self._kernel(DECAYS[-1]), []
        for start, end in parts:
            deadline.check()
            labels = {node: names[code] for node, code in enumerate(codes[start:end].tolist())}
            parsed.extend(kernel.parse_input([[_adjacency(flat, start, end), labels]]))
        return parsed


def _adjacency(flat: Any, start: int, end: int) -> np.ndarray:
    """(n, n) dense and symmetric."""
    own = flat.indptr[start : end + 1]
    adjacency = np.zeros((end - start, end - start))
    targets = np.repeat(np.arange(end - start), np.diff(own))
    sources = flat.neighbours[own[0] : own[-1]] - start
    adjacency[targets, sources] = adjacency[sources, targets] = 1.0
    return adjacency


def _spectral_radii(data: GraphDataset, deadline: Deadline) -> np.ndarray:
    """(G,) largest eigenvalue of each adjacency."""
    flat = flatten(data)
    radii = np.zeros(len(data))
    for graph, (start, end) in enumerate(zip(flat.node_offsets[:-1].tolist(), flat.node_offsets[1:].tolist())):
        deadline.check()
        adjacency = _adjacency(flat, start, end)
        if end - start <= DENSE_NODES:
            radii[graph] = np.linalg.eigvalsh(adjacency)[-1]
        else:
            radii[graph] = eigsh(adjacency, 1, which="LA", return_eigenvectors=False, v0=np.ones(end - start))[0]
    return radii


def _check_dense(data: GraphDataset, widths: list[int]) -> None:
    """GraKeL keeps a dense matrix per graph and pair of labels in it."""
    needed = 8.0 * float(np.sum(np.square(widths, dtype=np.float64)))
    if needed > physical_memory() / 2:
        raise DatasetError(
            f"the random walk kernel keeps dense matrices: {data.name} needs {needed / 1e9:.0f} GB of memory. "
            "Use features='constant' (walks without labels), or a kernel such as wl or sp."
        )


def _grakel_class(name: str) -> Any:
    try:
        from grakel.kernels import random_walk
    except ImportError as problem:
        raise missing_extra("grakel", "kernels", "the method 'rw'") from problem
    return getattr(random_walk, name)
