"""Fixtures shared by all tests: small generated datasets, and the real ones where they are installed."""

from __future__ import annotations

import os

# One thread, here and in processes that tests start: the tensors of tests are too small to share, and threads that wait
# for each other on a busy machine cost many times the work. Must be set before torch is imported.
os.environ.setdefault("OMP_NUM_THREADS", "1")

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from spgnn_dgl.data.arrays import DatasetMeta, assemble
from spgnn_dgl.data.store import GraphDataset


def random_dataset(
    num_graphs: int = 12,
    seed: int = 0,
    *,
    max_nodes: int = 9,
    num_labels: int = 4,
    num_classes: int = 2,
    directed: bool = False,
    attributes: int = 0,
) -> GraphDataset:
    """Random graphs of odd sizes (single nodes and edgeless graphs among them) with random classes."""
    rng = np.random.default_rng(seed)
    counts = rng.integers(1, max_nodes + 1, num_graphs)
    starts = np.concatenate([[0], np.cumsum(counts)])
    ends = [rng.integers(0, n, (2, rng.integers(0, 2 * n))) + start for n, start in zip(counts, starts)]
    source, target = np.concatenate(ends, axis=1)
    arrays, mended = assemble(
        counts,
        source,
        target,
        labels=np.arange(num_graphs) % num_classes,
        node_labels=rng.integers(0, num_labels, starts[-1]),
        node_attributes=rng.normal(size=(starts[-1], attributes)) if attributes else None,
        directed=directed,
    )
    meta = DatasetMeta(
        name=f"random{seed}",
        class_names=tuple(f"class {c}" for c in range(num_classes)),
        node_label_names=tuple(f"label {v}" for v in range(num_labels)),
        directed=directed,
        mended=mended,
    )
    return GraphDataset(arrays, meta)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Files with slow tests first: at the end one process would still be busy with them, and the other idle."""
    slow = {item.path for item in items if item.get_closest_marker("slow")}
    items.sort(key=lambda item: item.path not in slow)  # stable: the tests of a file stay together


@pytest.fixture
def tiny() -> GraphDataset:
    """Twelve random labelled graphs in two classes."""
    return random_dataset()


@pytest.fixture
def real_archive() -> Callable[[str], Path]:
    """Path of a benchmark archive; skips where the data home does not have it."""

    def path(name: str) -> Path:
        home = os.environ.get("SPGNN_DATASETS")
        if not home:
            pytest.skip("SPGNN_DATASETS is not set: tests on real data need the benchmark archives")
        archive = Path(home) / f"{name}.zip"
        if not archive.exists():
            pytest.skip(f"{name}.zip is not in the data home; `spgnn fetch {name}` brings it")
        return archive

    return path


@pytest.fixture
def real_dataset(real_archive: Callable[[str], Path]) -> Callable[[str], GraphDataset]:
    """A benchmark dataset by name; skips where the data home does not have it."""

    def load(name: str) -> GraphDataset:
        from spgnn_dgl.data.load import load_dataset

        real_archive(name)
        return load_dataset(name)

    return load


@pytest.fixture
def published_folds() -> Path:
    """Folder of folds that others have published; skips where there is none beside the data home."""
    home = os.environ.get("SPGNN_DATASETS")
    folder = Path(home).parent / "folds" if home else None
    if folder is None or not folder.is_dir():
        pytest.skip("published fold files are expected in `folds/` beside the data home")
    return folder
