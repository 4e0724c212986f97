"""Names a user can type: a registry per kind of thing, and options checked against a signature.

A thing is added by one decorator in its own file; nothing central changes. A name or option that is not known is
answered with what is known and what is near.
"""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Generic, TypeVar

from spgnn_dgl.errors import OptionError, UnknownNameError

T = TypeVar("T")


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """``" Did you mean 'x'?"`` when something known is near, else the empty string."""
    by_key = {k.lower(): k for k in known}
    near = difflib.get_close_matches(name.lower(), by_key, n=1, cutoff=0.6)
    return f" Did you mean '{by_key[near[0]]}'?" if near else ""


class Registry(Generic[T]):
    """Name → thing, with aliases and helpful failures.

    Parameters
    ----------
    kind
        What is registered, in the singular; used in messages.
    normalise
        Maps a typed name to the key it is looked up by (default: lower case).

    Examples
    --------
    >>> SHAPES = Registry("shape")
    >>> @SHAPES.register("square", "quadrat")
    ... def square(x):
    ...     return x * x
    >>> SHAPES.get("Quadrat")(3)
    9
    """

    def __init__(self, kind: str, normalise: Callable[[str], str] = str.lower):
        self.kind = kind
        self._normalise = normalise
        self._things: dict[str, T] = {}  # canonical name -> thing
        self._keys: dict[str, str] = {}  # normalised name or alias -> canonical name

    def register(self, name: str, *aliases: str) -> Callable[[T], T]:
        """Decorator: make the thing known under `name` and `aliases`. Registering a name again replaces it."""

        def add(thing: T) -> T:
            self._things[name] = thing
            for key in (name, *aliases):
                self._keys[self._normalise(key)] = name
            return thing

        return add

    def canonical(self, name: str) -> str | None:
        """The registered spelling of `name` or of an alias; None when it is not known."""
        return self._keys.get(self._normalise(name))

    def get(self, name: str) -> T:
        """The thing called `name`; :class:`UnknownNameError` when there is none."""
        canonical = self.canonical(name)
        if canonical is None:
            raise UnknownNameError(
                f"unknown {self.kind} '{name}'.{did_you_mean(name, self._keys.values())} "
                f"Known: {', '.join(self.names())}."
            )
        return self._things[canonical]

    def names(self) -> list[str]:
        """Canonical names in the order of registration."""
        return list(self._things)

    def __contains__(self, name: str) -> bool:
        return self.canonical(name) is not None

    def __iter__(self) -> Iterator[tuple[str, T]]:
        return iter(self._things.items())

    def __len__(self) -> int:
        return len(self._things)


def keyword_options(callable_: Callable[..., Any]) -> dict[str, Any]:
    """The keyword-only parameters of a callable with their defaults: the options a user may set."""
    return {
        name: parameter.default
        for name, parameter in inspect.signature(callable_).parameters.items()
        if parameter.kind is parameter.KEYWORD_ONLY
    }


def check_options(owner: str, given: Mapping[str, Any], known: Mapping[str, Any]) -> None:
    """Raise one :class:`OptionError` that names every given option that is not known."""
    wrong = [name for name in given if name not in known]
    if wrong:
        hints = " ".join(f"'{name}' is not an option of {owner}.{did_you_mean(name, known)}" for name in wrong)
        raise OptionError(f"{hints} Options: {', '.join(f'{k}={v!r}' for k, v in known.items())}.")
