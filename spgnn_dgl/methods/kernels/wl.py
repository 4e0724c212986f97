"""The Weisfeiler–Lehman subtree kernel."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from spgnn_dgl.data.store import GraphDataset
from spgnn_dgl.data.substructures.words import Words, wl_words
from spgnn_dgl.errors import OptionError
from spgnn_dgl.methods.base import METHODS
from spgnn_dgl.methods.budget import Deadline
from spgnn_dgl.methods.kernels.base import WordKernel

HEIGHTS = (1, 2, 3, 4, 5)


def check_height(height: int | str) -> None:
    """Refuse what is neither ``"auto"`` nor a whole number from 0."""
    if height != "auto" and (not isinstance(height, int) or isinstance(height, bool) or height < 0):
        raise OptionError(f"height={height!r} was given; it must be 0, 1, 2, … or 'auto' for inner validation.")


@METHODS.register("wl")
class WLKernel(WordKernel):
    """Weisfeiler–Lehman subtree kernel and SVM.

    Shervashidze, Schweitzer, van Leeuwen, Mehlhorn, Borgwardt: *Weisfeiler–Lehman Graph Kernels*, JMLR 2011.

    Two graphs are as similar as they have subtree patterns of height 0 … h in common. Computed from the colours of
    :func:`spgnn_dgl.data.substructures.wl.wl_keys` as products of sparse counts, all heights in one pass; equal to
    GraKeL's ``WeisfeilerLehman``, which computes each height anew and holds the counts as a dense matrix.

    Parameters
    ----------
    height
        h; ``"auto"`` chooses among 1 … 5 on inner validation.
    common
        C, features, inner_folds and budget: see :class:`~spgnn_dgl.methods.kernels.base.KernelMethod`.
    """

    reference = "Shervashidze et al., JMLR 2011"
    name = "wl"
    searched = "height"
    grid = HEIGHTS

    def __init__(self, *, height: int | str = "auto", **common: Any):
        self.check_common("wl", common)
        super().__init__(**common)
        check_height(height)
        self.height = height

    def words(self, data: GraphDataset, height: int, deadline: Deadline) -> Iterator[Words]:
        return iter(wl_words(data, height, labels=self.labels_))
