"""The measuring itself: everyone takes turns, medians count, the table says what held."""

from __future__ import annotations

from spgnn_dgl.bench.timing import Row, interleave, medians, readable, table


def test_candidates_take_turns_in_alternating_order():
    calls = []
    seconds = interleave({"a": lambda: calls.append("a"), "b": lambda: calls.append("b")}, rounds=3)
    assert "".join(calls) == "abbaab"
    assert [len(values) for values in seconds.values()] == [3, 3]
    assert all(value >= 0 for values in seconds.values() for value in values)


def test_one_slow_round_does_not_count():
    assert medians({"a": [1.0, 100.0, 2.0]}) == {"a": 2.0}


def test_times_are_readable():
    assert [readable(s) for s in (12.345, 0.0123, 0.000456)] == ["12.3 s", "12.3 ms", "456 µs"]


def test_the_table_is_aligned_and_says_what_was_missed():
    text = table([Row("short", "1 s"), Row("a longer thing", "2 s", "4 s", 2.0, "≥ 3×", False)])
    lines = text.splitlines()
    assert len({len(line) for line in lines}) == 1
    assert lines[2].split("|")[1:4] == [" short          ", " 1 s  ", "        "]
    assert [cell.strip() for cell in lines[3].split("|")[1:-1]] == [
        "a longer thing",
        "2 s",
        "4 s",
        "2.0×",
        "≥ 3×",
        "NO",
    ]
