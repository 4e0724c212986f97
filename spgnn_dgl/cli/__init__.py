"""The command line: one module per command, listed here.

A module adds its commands to ``app`` when it is imported; heavy imports belong inside the commands, so that
``spgnn --help`` answers at once.
"""

from spgnn_dgl.cli import datasets, doctor, fetch, train
from spgnn_dgl.cli.app import app, main

__all__ = ["app", "datasets", "doctor", "fetch", "main", "train"]
