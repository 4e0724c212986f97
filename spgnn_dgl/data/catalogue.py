"""The datasets a user can type by name: the registry, and how names are compared.

A thing in the registry is a callable without required arguments that returns a dataset: a function, or a
``DGLDataset`` class. What it returns may be anything :func:`spgnn_dgl.data.convert.as_dataset` takes.
"""

from __future__ import annotations

import re
from collections.abc import Callable
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
