"""The random walk kernel."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from spgnn_dgl.data.store import GraphDataset
from spgnn_dgl.data.substructures.walks import spectral_radii, walk_sums
from spgnn_dgl.data.substructures.wl import label_kind
from spgnn_dgl.errors import OptionError
from spgnn_dgl.methods.base import METHODS
from spgnn_dgl.methods.budget import Deadline
from spgnn_dgl.methods.kernels.base import KernelMethod, normalised

log = logging.getLogger("spgnn_dgl")

DECAYS = (1e-1, 1e-2, 1e-3, 1e-4, 1e-5)


@METHODS.register("rw")
class RandomWalkKernel(KernelMethod):
    r"""Geometric random walk kernel and SVM.

    Gärtner, Flach, Wrobel: *On Graph Kernels: Hardness Results and Efficient Alternatives*, COLT 2003.

    Counts the common walks of two graphs, :math:`k(x, y) = \sum_n \lambda^n\, 1^\top A_\times^n 1` with the adjacency
    :math:`A_\times` of their direct product; see :func:`~spgnn_dgl.data.substructures.walks.walk_sums`. Edges count
    without direction. GraKeL's ``RandomWalkLabeled`` also counts a walk of no steps for each pair of nodes with
    different labels, which the product does not have.

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
    name = "rw"
    searched = "decay"
    grid = DECAYS
    pair_bytes = KernelMethod.pair_bytes + 8 * len(DECAYS)  # all decays are computed together

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
        limit = 1 / max(float(spectral_radii(data, deadline.check).max()) ** 2, 1e-12)
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
        sums = walk_sums(rows, columns, values, labels=self.labels_, check=deadline.check)
        squares = [self._squares(data, values, sums, columns is rows, deadline) for data in (rows, columns)]
        for kernel, of_rows, of_columns in zip(sums, *squares, strict=True):
            # walks of two graphs converge when those of each with itself do
            diverging = int(np.isnan(of_rows).sum() + (0 if columns is rows else np.isnan(of_columns).sum()))
            if diverging:
                log.warning("rw: the sum over walks does not exist for %d graphs; their values are 0", diverging)
            yield normalised(kernel, np.nan_to_num(of_rows), np.nan_to_num(of_columns))

    def _squares(
        self, data: GraphDataset, values: Sequence[Any], sums: np.ndarray, same: bool, deadline: Deadline
    ) -> np.ndarray:
        """(D, G) walks that each graph has in common with itself."""
        if same:
            return np.diagonal(sums, axis1=1, axis2=2)
        own = [
            walk_sums(graph, graph, values, labels=self.labels_, check=deadline.check)[:, 0]
            for graph in (data.subset(np.array([i])) for i in range(len(data)))
        ]
        return np.concatenate(own, axis=1) if own else np.empty((len(values), 0))
