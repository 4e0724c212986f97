"""Packed numbers are read back as a page reads them."""

from __future__ import annotations

import base64

import numpy as np
import pytest

from spgnn_dgl.visual.packing import fewest_bits, pack


def unpack(text, table):
    raw = base64.b64decode(text)
    return {
        name: np.frombuffer(
            raw, dtype="<" + np.dtype(where["type"]).str[1:], count=where["length"], offset=where["start"]
        )
        for name, where in table.items()
    }


def test_every_array_comes_back_and_begins_where_a_browser_can_read_it():
    rng = np.random.default_rng(0)
    arrays = {
        "a": rng.integers(0, 255, 5).astype(np.uint8),
        "b": rng.integers(0, 60000, (3, 2)).astype(np.uint16),
        "none": np.zeros(0, dtype=np.uint32),
        "c": rng.normal(size=7).astype(np.float32),
        "d": rng.integers(0, 2**31, 3).astype(np.uint32),
    }
    text, table = pack(arrays)
    for name, found in unpack(text, table).items():
        np.testing.assert_array_equal(found, arrays[name].reshape(-1))
        assert table[name]["start"] % 4 == 0


def test_other_types_are_refused():
    with pytest.raises(TypeError, match="a page reads uint8"):
        pack({"a": np.zeros(3)})


@pytest.mark.parametrize(
    ("largest", "kind"), [(0, "uint8"), (255, "uint8"), (256, "uint16"), (65535, "uint16"), (65536, "uint32")]
)
def test_numbers_take_as_little_room_as_they_can(largest, kind):
    packed = fewest_bits(np.array([0, largest]))
    assert packed.dtype == kind
    assert packed.tolist() == [0, largest]
