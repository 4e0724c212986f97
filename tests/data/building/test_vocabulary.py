"""Names that appear one after the other get, in the end, the codes that they would have had at once."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from spgnn_dgl.data.arrays import codes, sortable
from spgnn_dgl.data.building.vocabulary import Vocabulary


@given(
    st.lists(st.lists(st.one_of(st.integers(-3, 12).map(str), st.text(max_size=2)), min_size=1, max_size=5), min_size=1)
)
def test_codes_of_parts_are_codes_of_the_whole(parts):
    vocabulary, written = Vocabulary(), []
    for values in parts:
        own, names = codes(sortable(values))
        table = vocabulary.codes_for(names)
        written += (own if table is None else table[own]).tolist()
    names, final = vocabulary.in_order()
    expected, expected_names = codes(sortable([value for values in parts for value in values]))
    found = np.array(written) if final is None else final[written]
    assert [names[code] for code in found] == [expected_names[code] for code in expected]
    if len(set(map(tuple, (codes(sortable(v))[1] for v in parts)))) > 1:
        assert names == expected_names
