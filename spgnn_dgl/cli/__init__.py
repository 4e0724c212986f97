"""The command line: one module per command, listed here.

A module adds its commands to ``app`` when it is imported; heavy imports belong inside the commands, so that
``spgnn --help`` answers at once.
"""

from spgnn_dgl.cli import (
    audit,
    compare,
    convert,
    datasets,
    demo,
    doctor,
    draw,
    faithfulness,
    fetch,
    fit,
    methods,
    new,
    page,
    patterns,
    predict,
    report,
    train,
)
from spgnn_dgl.cli.app import app, main

__all__ = [
    "app",
    "audit",
    "compare",
    "convert",
    "datasets",
    "demo",
    "doctor",
    "draw",
    "faithfulness",
    "fetch",
    "fit",
    "main",
    "methods",
    "new",
    "page",
    "patterns",
    "predict",
    "report",
    "train",
]
