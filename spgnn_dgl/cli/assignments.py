"""``key=value`` on the command line: several after one option, and values as Python literals."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from typing import Any

from typer.core import TyperCommand

from spgnn_dgl.errors import OptionError

MANY = ("-o", "--option", "--search")
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=")
_WORDS = {"true": True, "false": False, "none": None}


class ManyAssignments(TyperCommand):
    """A command where ``-o k=50 lr=0.01`` means ``-o k=50 -o lr=0.01``."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        return super().parse_args(ctx, spread(args))


def spread(arguments: Sequence[str]) -> list[str]:
    """Repeat the option before each further assignment that follows it.

    >>> spread(["MUTAG", "--search", "k=30,50", "lr=0.1,0.01", "--jobs", "2"])
    ['MUTAG', '--search', 'k=30,50', '--search', 'lr=0.1,0.01', '--jobs', '2']
    """
    result: list[str] = []
    option = None  # the option that a further assignment belongs to
    for before, argument in zip(["", *arguments], arguments):
        if argument in MANY:
            option = argument
        elif option is not None and _ASSIGNMENT.match(argument):
            if before != option:
                result.append(option)
        else:
            option = None
        result.append(argument)
    return result


def value(text: str) -> Any:
    """A Python literal, ``true``, ``false`` or ``none``, or else the text itself.

    >>> value("50"), value("true"), value("None"), value("mean"), value("(1, 2)")
    (50, True, None, 'mean', (1, 2))
    """
    if text.lower() in _WORDS:
        return _WORDS[text.lower()]
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text


def assignments(texts: Sequence[str]) -> dict[str, Any]:
    """Options out of ``key=value`` texts."""
    return {key: value(text) for key, text in map(_split, texts)}


def candidates(texts: Sequence[str]) -> dict[str, tuple[Any, ...]]:
    """Candidates out of ``key=value,value`` texts.

    >>> candidates(["k=30,50", "pool=sum,mean"])
    {'k': (30, 50), 'pool': ('sum', 'mean')}
    """
    return {key: tuple(value(part) for part in text.split(",") if part) for key, text in map(_split, texts)}


def numbers(text: str | None, what: str) -> tuple[int, ...] | None:
    """Whole numbers out of ``50,100``."""
    if text is None:
        return None
    try:
        return tuple(int(part) for part in text.split(","))
    except ValueError:
        raise OptionError(
            f"{what} '{text}' was given; expected whole numbers with commas, for example 50,100."
        ) from None


def _split(text: str) -> tuple[str, str]:
    key, equals, rest = text.partition("=")
    if not equals or not key or not rest:
        raise OptionError(f"'{text}' was given; expected option=value, for example k=50.")
    return key.strip(), rest.strip()
