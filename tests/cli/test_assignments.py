"""``key=value``: several after one option, and values as a user writes them."""

from __future__ import annotations

import pytest

from spgnn_dgl.cli.assignments import assignments, candidates, numbers, spread, value
from spgnn_dgl.errors import OptionError


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("50", 50), ("0.01", 0.01), ("1e-3", 0.001), ("true", True), ("False", False), ("none", None), ("None", None),
        ("sum", "sum"), ("'30'", "30"), ("[1, 2]", [1, 2]), ("auto", "auto"), ("a.b", "a.b"), ("-1", -1),
    ],
)  # fmt: skip
def test_values(text, expected):
    found = value(text)
    assert found == expected
    assert type(found) is type(expected)


def test_several_assignments_after_one_option():
    assert spread(["X", "-o", "a=1", "b=2", "--seed", "3"]) == ["X", "-o", "a=1", "-o", "b=2", "--seed", "3"]
    assert spread(["-o", "a=1", "X"]) == ["-o", "a=1", "X"]  # a dataset after the options
    assert spread(["--search", "k=1,2", "-o", "b=2", "c=3"]) == ["--search", "k=1,2", "-o", "b=2", "-o", "c=3"]
    assert spread(["--option=a=1", "--seed", "0"]) == ["--option=a=1", "--seed", "0"]


def test_options_and_candidates():
    assert assignments(["k=50", "pool=mean"]) == {"k": 50, "pool": "mean"}
    assert candidates(["k=30,50", "lr=0.01"]) == {"k": (30, 50), "lr": (0.01,)}


@pytest.mark.parametrize("text", ["k", "=3", "k="])
def test_what_is_no_assignment_is_refused(text):
    for reader in (assignments, candidates):
        with pytest.raises(OptionError, match="expected option=value"):
            reader([text])


def test_numbers():
    assert numbers("50,100", "--epochs") == (50, 100)
    assert numbers(None, "--epochs") is None
    with pytest.raises(OptionError, match="--epochs '5,x'"):
        numbers("5,x", "--epochs")
