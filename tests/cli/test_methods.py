"""``spgnn methods``: every method is listed with its options, one is explained, docstrings become plain text."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from spgnn_dgl import doctor
from spgnn_dgl.cli.app import main
from spgnn_dgl.cli.docstrings import description, parameters, plain
from spgnn_dgl.cli.methods import common_options, list_all, show_one
from spgnn_dgl.methods import METHODS


def shown(action) -> str:
    out = Console(file=io.StringIO(), width=4000)
    action(out)
    return out.file.getvalue()


@pytest.fixture(scope="module")
def table() -> str:
    return shown(list_all)


@pytest.mark.parametrize("name", METHODS.names())
def test_every_method_is_listed_with_kind_paper_and_options(table, name):
    method = METHODS.get(name)
    line = next(line for line in table.splitlines() if line.startswith(f"{name} "))
    assert line.split()[1] == method.kind
    assert method.reference in line
    shared = common_options(other for _, other in METHODS if other.kind == method.kind)
    for option, default in method.options().items():
        if option in shared and shared[option] == default:
            assert f"{option}={default!r}" not in line
            assert f"{option}={default!r}" in table
        else:
            assert f"{option}={default!r}" in line
    if method.extra:
        assert method.extra in line


@pytest.mark.parametrize("name", METHODS.names())
def test_one_method_is_explained_with_every_option(name):
    text = shown(lambda out: show_one(name, out))
    method = METHODS.get(name)
    assert description(method) in text
    lines = text[text.index("option ") :].splitlines()
    for option, default in method.options().items():
        row = next(line for line in lines if line.startswith(f"{option} "))
        assert row.split(maxsplit=1)[1].startswith(repr(default))
        assert row.split(repr(default), 1)[1].strip(), f"{name}: the option {option} is not explained"


def test_a_missing_extra_is_shown_with_its_command(monkeypatch):
    name = next(name for name, method in METHODS if method.extra)
    extra = METHODS.get(name).extra
    missing = doctor.Finding(f"extra {extra}", doctor.Health.NOTE, "not installed: it", "pip install it")
    monkeypatch.setattr(doctor, "check_extras", lambda: [missing])
    assert f"{extra}: pip install it" in shown(lambda out: show_one(name, out))


def test_the_command(capsys):
    with pytest.raises(SystemExit) as left:
        main(["methods", "SAGPool"])
    assert left.value.code == 0
    assert "Self-Attention Graph Pooling" in capsys.readouterr().out
    with pytest.raises(SystemExit) as left:
        main(["methods", "dgcn"])
    assert left.value.code == 2
    assert "Did you mean 'dgcnn'?" in capsys.readouterr().err


def test_options_in_common_are_shown_with_the_default_of_most():
    def method(**options):
        return type("Some", (), {"options": classmethod(lambda cls: options)})

    several = [method(a=1, b=2, c=3), method(a=1, b=5), method(a=4, b=5)]
    assert common_options(several) == {"a": 1, "b": 5}
    assert common_options(several[:1]) == {}


def test_plain_text_of_a_docstring():
    assert plain("see :func:`~spgnn_dgl.nn.ops.sort_k`, ``k=3`` and `z`; *A Title*, **much**") == (
        "see sort_k, k=3 and z; A Title, much"
    )
    assert plain(":math:`a^2` b") == "a^2 b"


def test_the_first_description_of_a_parameter_counts():
    class Base:
        """Base.

        Parameters
        ----------
        a, b
            Of the base,
            in two lines.
        **rest
            More.

        Shape
        -----
        c
            Not a parameter.
        """

    class Own(Base):
        """Own.

        Parameters
        ----------
        b
            Its own.
        """

    assert parameters(Own, Base) == {"b": "Its own.", "a": "Of the base, in two lines.", "**rest": "More."}
    assert description(Base) == "Base."
