"""The command line: one module per command, listed here.

A module adds its commands to ``app`` when it is imported; heavy imports belong inside the commands, so that
``spgnn --help`` answers at once.
"""

from spgnn_dgl.cli import compare, datasets, doctor, fetch, fit, methods, predict, report, train
from spgnn_dgl.cli.app import app, main

__all__ = ["app", "compare", "datasets", "doctor", "fetch", "fit", "main", "methods", "predict", "report", "train"]
