"""Arrays that grow are, in the end, the files that ``numpy.save`` writes."""

from __future__ import annotations

import io

import numpy as np
import pytest

from spgnn_dgl.data.building.growing import GrowingArray, exchange, finish_header, header
from spgnn_dgl.errors import DatasetError


def saved(array: np.ndarray) -> bytes:
    stream = io.BytesIO()
    np.save(stream, array)
    return stream.getvalue()


@pytest.mark.parametrize("width", [(), (3,)])
@pytest.mark.parametrize("dtype", [np.int64, np.int32, np.float32, np.bool_])
def test_rows_that_were_appended(tmp_path, dtype, width):
    rows = np.random.default_rng(0).integers(0, 2, (11, *width)).astype(dtype)
    path = tmp_path / "folder" / "x.npy"
    path.parent.mkdir()
    for start, stop in ((0, 4), (4, 4), (4, 11)):
        array = GrowingArray(path, dtype, width, start)
        array.append(rows[start:stop])
        array.append(rows[:2])  # cut off when it is opened again, unless it is the end
        array.sync()
        array.close()
    finish_header(path, dtype, (13, *width))
    assert path.read_bytes() == saved(np.concatenate([rows, rows[:2]]))


def test_a_header_has_room_for_any_number_of_rows():
    lengths = {len(header(np.dtype(np.int64), (rows, 1000))) for rows in (0, 1, 10**9, 2**62)}
    assert len(lengths) == 1


def test_a_file_that_lost_rows_is_refused(tmp_path):
    array = GrowingArray(tmp_path / "x.npy", np.int32, (), 0)
    array.append(np.arange(3))
    array.close()
    with pytest.raises(DatasetError, match="is shorter than it was"):
        GrowingArray(tmp_path / "x.npy", np.int32, (), 4)


def test_entries_are_exchanged(tmp_path):
    old, new = tmp_path / "x.codes", tmp_path / "x.npy"
    codes = np.array([0, 2, -1, 1, 1], dtype=np.int32)
    array = GrowingArray(old, np.int32, (), 0)
    array.append(codes)
    array.close()
    exchange(old, new, np.int32, 5, np.array([20, 10, 30, -1]))
    assert new.read_bytes() == saved(np.array([20, 30, -1, 10, 10], dtype=np.int32))
    assert not old.exists()
