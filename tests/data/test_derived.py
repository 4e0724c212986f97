"""Arrays kept on disk: found again, never mixed up, and whole."""

from __future__ import annotations

import logging
import multiprocessing
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from spgnn_dgl.data.derived import derived_arrays
from spgnn_dgl.data.store import GraphDataset
from spgnn_dgl.errors import BudgetExceeded
from tests.conftest import random_dataset


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SPGNN_CACHE", str(tmp_path))
    return tmp_path / "derived"


class Counted:
    """Counts how often it is asked."""

    def __init__(self, *arrays: np.ndarray):
        self.arrays, self.calls = arrays, 0

    def __call__(self) -> Iterator[np.ndarray]:
        self.calls += 1
        yield from self.arrays


def test_computed_once_and_found_again(tiny: GraphDataset, folder: Path) -> None:
    compute = Counted(np.eye(3), np.ones(2))
    for view in (tiny, tiny[:4], random_dataset()):  # a part of the store, and equal data read anew
        one, two = derived_arrays(view, "test", [{"h": 1}, {"h": 2}], compute)
        np.testing.assert_array_equal(one, np.eye(3))
        np.testing.assert_array_equal(two, np.ones(2))
    assert compute.calls == 1
    assert sorted(p.suffix for p in folder.iterdir()) == [".npy", ".npy"]


def test_other_options_data_or_names_are_other_arrays(tiny: GraphDataset) -> None:
    derived_arrays(tiny, "test", [{"h": 1}], Counted(np.zeros(1)))
    for data, what, options in (
        (tiny, "test", {"h": 2}),
        (tiny, "other", {"h": 1}),
        (random_dataset(seed=1), "test", {"h": 1}),
    ):
        compute = Counted(np.ones(1))
        assert derived_arrays(data, what, [options], compute)[0] == 1
        assert compute.calls == 1


def test_a_damaged_file_is_computed_again(tiny: GraphDataset, folder: Path, caplog: pytest.LogCaptureFixture) -> None:
    derived_arrays(tiny, "test", [{}], Counted(np.arange(100)))
    (path,) = folder.glob("*.npy")
    path.write_bytes(path.read_bytes()[:150])
    with caplog.at_level(logging.WARNING):
        (again,) = derived_arrays(tiny, "test", [{}], Counted(np.arange(100)))
    np.testing.assert_array_equal(again, np.arange(100))
    assert "damaged" in caplog.text


def test_a_failed_computation_leaves_nothing(tiny: GraphDataset, folder: Path) -> None:
    def fails() -> Iterator[np.ndarray]:
        raise BudgetExceeded("over")
        yield

    with pytest.raises(BudgetExceeded):
        derived_arrays(tiny, "test", [{}], fails)
    assert list(folder.iterdir()) == []


def test_without_a_place_to_write_it_is_computed(
    tiny: GraphDataset, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("SPGNN_CACHE", str(tmp_path / "file"))
    with caplog.at_level(logging.WARNING):
        (array,) = derived_arrays(tiny, "test", [{}], Counted(np.ones(2)))
    np.testing.assert_array_equal(array, np.ones(2))
    assert "not kept on disk" in caplog.text


def _slowly(started: Path) -> Iterator[np.ndarray]:
    started.write_text("")
    time.sleep(1.5)
    yield np.ones(1)


def _other_process(started: Path) -> None:
    derived_arrays(random_dataset(), "test", [{}], lambda: _slowly(started))


def test_a_second_process_waits_for_the_first(tiny: GraphDataset, tmp_path: Path) -> None:
    started = tmp_path / "started"
    other = multiprocessing.get_context("spawn").Process(target=_other_process, args=(started,))
    other.start()
    try:
        while not started.exists():
            assert other.is_alive()
            time.sleep(0.05)
        compute, waits = Counted(np.zeros(1)), Counted()
        (array,) = derived_arrays(tiny, "test", [{}], compute, lambda: list(waits()) and None)
    finally:
        other.join()
    assert (array[0], compute.calls) == (1, 0)  # the first one's array
    assert waits.calls > 0
