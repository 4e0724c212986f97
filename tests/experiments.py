"""Experiments that take a second: few small graphs, a small network, two epochs."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest import mock

from spgnn_dgl.data.store import GraphDataset
from spgnn_dgl.experiment import Run, RunConfig, run
from tests.conftest import random_dataset

SMALL = {"k": 10, "channels": 4, "layers": 2}


def quick_config(out: Path, **changes: Any) -> RunConfig:
    """A configuration over 24 random graphs in two classes and three folds."""
    dataset = changes.pop("dataset", None) or random_dataset(24, max_nodes=14)
    method = changes.pop("method", "spgnn")
    settings = {"options": SMALL if method == "spgnn" else {}, "folds": 3, "out": out, **changes}
    if method == "spgnn":
        settings.setdefault("epochs", (1, 2))
    return RunConfig(dataset, method, **settings)


def named(name: str) -> GraphDataset:
    """Random graphs under the name of another dataset."""
    data = random_dataset(24, max_nodes=14)
    return GraphDataset(data.arrays, replace(data.meta, name=name))


def command_line(*arguments: str) -> None:
    """``spgnn …`` without its output, for a process that a test starts."""
    import sys

    from spgnn_dgl.cli import main

    sys.stdout = open(os.devnull, "w")  # noqa: SIM115  (until the process ends)
    main(arguments)


def quick_run(out: Path, *, pictures: bool = False, **changes: Any) -> Run:
    """Run it; without pictures, which take longer than everything else."""
    config = quick_config(out, **changes)
    if pictures:
        return run(config)
    with mock.patch("spgnn_dgl.report.files._figures", return_value={}):
        return run(config)
