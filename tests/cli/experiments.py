"""The command line as a user calls it, on 24 random graphs saved in a folder."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from pathlib import Path

import pytest

from spgnn_dgl.cli import main
from spgnn_dgl.data.saved import save_store
from tests.conftest import random_dataset

QUICK = ["--folds", "3", "--epochs", "1,2", "-o", "k=10", "channels=4", "layers=2"]


@dataclass(frozen=True)
class FinishedRuns:
    """Folders of a session's finished runs and of their datasets."""

    root: Path

    @property
    def all(self) -> Path:
        return self.root / "runs"

    @property
    def spgnn(self) -> Path:
        return self.all / "random0" / "spgnn@channels=4,k=10,layers=2" / "paper-seed0"

    def data(self, seed: int) -> Path:
        return self.root / f"d{seed}" / "data"


def call(*arguments: str | Path) -> int:
    """Exit code of ``spgnn ARGUMENTS``; what it changes in logging is taken back."""
    logger = logging.getLogger("spgnn_dgl")
    before = logger.level, logger.handlers, logger.propagate
    try:
        with pytest.raises(SystemExit) as caught:
            main([str(a) for a in arguments])
    finally:
        logger.level, logger.handlers, logger.propagate = before
    return int(caught.value.code or 0)


def saved(folder: Path, count: int = 24, **changes: int) -> Path:
    """A stored dataset."""
    return save_store(folder / "data", random_dataset(count, **{"max_nodes": 14, **changes}))
