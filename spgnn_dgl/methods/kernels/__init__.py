"""Graph kernels with a support vector machine, one file each."""

from spgnn_dgl.methods.kernels import gk, pk, rw, sp, wl

__all__ = ["gk", "pk", "rw", "sp", "wl"]
