"""Finished runs that several commands are tried on."""

from __future__ import annotations

import pytest

from tests.cli.experiments import QUICK, FinishedRuns, call, saved


@pytest.fixture(scope="session")
def finished_runs(tmp_path_factory) -> FinishedRuns:
    """Two methods on two datasets."""
    root = tmp_path_factory.mktemp("runs")
    for seed in (0, 1):
        data = saved(root / f"d{seed}", seed=seed)
        assert call("train", data, *QUICK, "--out", root / "runs") == 0
        assert call("train", data, "--method", "wl", "--folds", "3", "--out", root / "runs") == 0
    return FinishedRuns(root)
