"""Bring the paper's nine datasets into the data home: ``python tools/fetch_datasets.py [NAME …]``."""

from __future__ import annotations

import sys

from spgnn_dgl.cli import main

if __name__ == "__main__":
    main(["fetch", *(sys.argv[1:] or ["paper"])])
