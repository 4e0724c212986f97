"""Every name a user can type after ``--method``, one file each. Importing this package registers them."""

from spgnn_dgl.methods import (
    dcnn,
    dgcnn,
    dgk,
    fingerprint,
    gat,
    gin,
    gpool,
    graph2vec,
    kernels,
    majority,
    pscn,
    sagpool,
    spgnn,
)
from spgnn_dgl.methods.base import METHODS, GNNMethod, Method, make_method

__all__ = [
    "METHODS",
    "GNNMethod",
    "Method",
    "dcnn",
    "dgcnn",
    "dgk",
    "fingerprint",
    "gat",
    "gin",
    "gpool",
    "graph2vec",
    "kernels",
    "majority",
    "make_method",
    "pscn",
    "sagpool",
    "spgnn",
]
