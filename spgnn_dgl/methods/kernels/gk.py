"""The graphlet kernel."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from spgnn_dgl.data.store import GraphDataset
from spgnn_dgl.data.substructures.words import Words, graphlet_counts
from spgnn_dgl.methods.base import METHODS
from spgnn_dgl.methods.budget import Deadline
from spgnn_dgl.methods.kernels.base import WordKernel


@METHODS.register("gk")
class GraphletKernel(WordKernel):
    """Graphlet kernel (graphlets of three nodes) and SVM.

    Shervashidze, Vishwanathan, Petri, Mehlhorn, Borgwardt: *Efficient Graphlet Kernels for Large Graph Comparison*,
    AISTATS 2009.

    Two graphs are as similar as the shares of their induced subgraphs on three nodes with none, one, two or three
    edges are. All of them are counted in closed form (:func:`spgnn_dgl.data.substructures.words.graphlet_counts`),
    where GraKeL's ``GraphletSampling`` draws samples. Node labels play no part.

    Parameters
    ----------
    common
        C, inner_folds and budget: see :class:`~spgnn_dgl.methods.kernels.base.KernelMethod`; `features` has no effect.
    """

    reference = "Shervashidze et al., AISTATS 2009"
    name = "gk"

    def label_kind(self, data: GraphDataset) -> str:
        return "constant"

    def words(self, data: GraphDataset, height: int, deadline: Deadline) -> Iterator[Words]:
        counts = graphlet_counts(data)  # (G, 4)
        graphs, graphlets = np.nonzero(counts)
        keys = np.stack([graphlets, np.zeros_like(graphlets)], axis=1).astype(np.uint64)
        yield Words(len(data), graphs, keys, counts[graphs, graphlets])
