"""The shortest-path kernel."""

from __future__ import annotations

from collections.abc import Iterator

from spgnn_dgl.data.store import GraphDataset
from spgnn_dgl.data.substructures.words import Words, path_words
from spgnn_dgl.methods.base import METHODS
from spgnn_dgl.methods.budget import Deadline
from spgnn_dgl.methods.kernels.base import WordKernel


@METHODS.register("sp")
class ShortestPathKernel(WordKernel):
    """Shortest-path kernel and SVM.

    Borgwardt, Kriegel: *Shortest-Path Kernels on Graphs*, ICDM 2005.

    Two graphs are as similar as they have shortest paths of the same length between nodes of the same labels. Equal
    to GraKeL's ``ShortestPath``; the paths are searched by SciPy in compiled code, and the counts stay sparse.

    Parameters
    ----------
    common
        C, features, inner_folds and budget: see :class:`~spgnn_dgl.methods.kernels.base.KernelMethod`.
    """

    reference = "Borgwardt, Kriegel, ICDM 2005"
    name = "sp"

    def words(self, data: GraphDataset, height: int, deadline: Deadline) -> Iterator[Words]:
        yield path_words(data, labels=self.labels_, check=deadline.check)
