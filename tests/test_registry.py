"""Registries and options: names found, aliases, and mistakes answered with what is near."""

from __future__ import annotations

import pytest

from spgnn_dgl.errors import OptionError, SpgnnError, UnknownNameError, missing_extra
from spgnn_dgl.registry import Registry, check_options, did_you_mean, keyword_options


@pytest.fixture
def shapes() -> Registry:
    registry: Registry = Registry("shape")
    registry.register("square", "quadrat")(4)
    registry.register("triangle")(3)
    return registry


def test_names_aliases_and_case(shapes):
    assert (shapes.get("square"), shapes.get("QUADRAT"), shapes.get("Triangle")) == (4, 4, 3)
    assert shapes.canonical("quadrat") == "square"
    assert shapes.canonical("circle") is None
    assert "Quadrat" in shapes
    assert "circle" not in shapes
    assert shapes.names() == ["square", "triangle"]
    assert dict(shapes) == {"square": 4, "triangle": 3}
    assert len(shapes) == 2


def test_registering_again_replaces(shapes):
    shapes.register("square")(16)
    assert shapes.get("quadrat") == 16
    assert len(shapes) == 2


def test_the_decorator_gives_the_thing_back(shapes):
    @shapes.register("circle")
    def circle() -> str:
        return "round"

    assert circle() == "round"
    assert shapes.get("circle") is circle


def test_an_unknown_name_is_answered_with_what_is_known_and_near(shapes):
    with pytest.raises(UnknownNameError) as caught:
        shapes.get("triangel")
    assert str(caught.value) == "unknown shape 'triangel'. Did you mean 'triangle'? Known: square, triangle."
    assert isinstance(caught.value, SpgnnError)
    assert isinstance(caught.value, KeyError)
    with pytest.raises(KeyError, match=r"unknown shape 'xyz'\. Known"):
        shapes.get("xyz")


def test_did_you_mean():
    assert did_you_mean("mutga", ["PTC", "MUTAG"]) == " Did you mean 'MUTAG'?"
    assert did_you_mean("zzz", ["PTC", "MUTAG"]) == ""
    assert did_you_mean("zzz", []) == ""


def test_options_are_the_keyword_only_parameters():
    def method(info: object, *, layers: int = 4, k: int | None = None) -> None: ...

    known = keyword_options(method)
    assert known == {"layers": 4, "k": None}
    check_options("method", {"k": 3}, known)
    with pytest.raises(OptionError, match=r"'layer' is not an option of method\. Did you mean 'layers'\?") as caught:
        check_options("method", {"layer": 3, "k": 1, "zz": 1}, known)
    assert "'zz' is not an option of method." in str(caught.value)
    assert "layers=4, k=None" in str(caught.value)


def test_a_missing_extra_says_what_installs_it():
    error = missing_extra("gensim", "embeddings", "the method 'dgk'")
    assert isinstance(error, ImportError)
    assert "pip install 'spgnn_dgl[embeddings]'" in str(error)
