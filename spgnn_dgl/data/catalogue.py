"""The datasets a user can type by name: the registry, how names are compared, and the folder they are looked for in.

A thing in the registry is a callable without required arguments that returns a dataset: a function, or a
``DGLDataset`` class. What it returns may be anything :func:`spgnn_dgl.data.readers.graphs.as_dataset` takes.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from spgnn_dgl.registry import Registry


def normal_name(name: str) -> str:
    """The key names are compared by: case and the signs ``- _ & .`` and blanks do not count.

    >>> normal_name("IMDB-Multi") == normal_name("IMDBMULTI")
    True
    """
    return re.sub(r"[-_&.\s]", "", name).lower()


DATASETS: Registry[Callable[[], Any]] = Registry("dataset", normalise=normal_name)
"""Registered datasets: ``@DATASETS.register("MINE")`` on a function or a DGLDataset class."""


def data_home(given: str | Path | None = None) -> Path:
    """The folder datasets are looked for in: the one given, else ``$SPGNN_DATASETS``, else ``datasets``."""
    return Path(given or os.environ.get("SPGNN_DATASETS") or "datasets").expanduser()
