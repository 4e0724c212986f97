"""The propagation kernel."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.sparse

from spgnn_dgl.data.store import GraphDataset
from spgnn_dgl.data.substructures.wl import flatten, mix, node_names, text_keys
from spgnn_dgl.data.substructures.words import Words
from spgnn_dgl.errors import OptionError
from spgnn_dgl.methods.base import METHODS
from spgnn_dgl.methods.budget import Deadline
from spgnn_dgl.methods.kernels.base import WordKernel
from spgnn_dgl.methods.kernels.wl import HEIGHTS, check_height


@METHODS.register("pk")
class PropagationKernel(WordKernel):
    r"""Propagation kernel and SVM. (The paper's table calls it PK, its text "shortest path"; its parameters are these.)

    Neumann, Garnett, Bauckhage, Kersting: *Propagation Kernels*, Machine Learning 2016.

    Each node starts with the distribution that is certain of its label; in every step it takes the average of its
    neighbours' distributions. After t steps the distributions are hashed to bins that keep total variation,
    :math:`\lfloor (\langle p_t(v), u_t \rangle + b_t) / w \rfloor` with Cauchy distributed :math:`u_t`, and two graphs
    are as similar as they have nodes in common bins for t = 0 … h.

    Because hashing and propagation are both linear, :math:`\langle p_t(v), u_t \rangle` is propagated itself: one
    number per node instead of a distribution. Equal to GraKeL's ``Propagation`` with the same u and b. Here these are
    drawn from a hash of the label's value, so that the kernel of two graphs does not depend on which others there are.

    Parameters
    ----------
    height
        h; ``"auto"`` chooses among 1 … 5 on inner validation.
    bin_width
        w.
    hash_seed
        Another one draws other u and b.
    common
        C, features, inner_folds and budget: see :class:`~spgnn_dgl.methods.kernels.base.KernelMethod`.
    """

    reference = "Neumann et al., Machine Learning 2016"
    name = "pk"
    searched = "height"
    grid = HEIGHTS

    def __init__(self, *, height: int | str = "auto", bin_width: float = 0.001, hash_seed: int = 0, **common: Any):
        self.check_common("pk", common)
        super().__init__(**common)
        check_height(height)
        if not bin_width > 0:
            raise OptionError(f"bin_width={bin_width} was given; it must be positive, for example 0.001.")
        self.height, self.bin_width, self.hash_seed = height, bin_width, hash_seed

    def kernel_options(self) -> dict[str, Any]:
        return {"bin_width": self.bin_width, "hash_seed": self.hash_seed}

    def words(self, data: GraphDataset, height: int, deadline: Deadline) -> Iterator[Words]:
        codes, names = node_names(data, self.labels_)
        for step in range(height + 1):
            deadline.check()
            directions, offset = self.hashing(names, step)
            values = propagated(data, directions[codes], step)
            bins = np.floor((values + offset) / self.bin_width).astype(np.int64)
            yield Words.of_nodes(data, np.stack([bins.view(np.uint64), np.zeros_like(bins, dtype=np.uint64)], axis=1))

    def hashing(self, names: tuple[str, ...], step: int) -> tuple[np.ndarray, float]:
        """u of each label, (L,) standard Cauchy numbers, and b, uniform in a bin."""
        salt = mix(text_keys((f"{self.hash_seed} {step}",)))
        uniform = (mix(text_keys(names) + salt)[:, 0] >> np.uint64(11)).astype(np.float64) / 2.0**53
        offset = self.bin_width * float(salt[0, 1] >> np.uint64(11)) / 2.0**53
        return np.tan(np.pi * (uniform - 0.5)), offset


def propagated(data: GraphDataset, values: np.ndarray, steps: int) -> np.ndarray:
    """(N,) a number per node after `steps` times taking the average of the neighbours; without neighbours it is 0."""
    flat = flatten(data)
    degrees = np.diff(flat.indptr)
    weights = 1.0 / np.repeat(degrees, degrees)
    transition = scipy.sparse.csr_matrix((weights, flat.neighbours, flat.indptr), (len(values), len(values)))
    for _ in range(steps):
        values = transition @ values
    return values
