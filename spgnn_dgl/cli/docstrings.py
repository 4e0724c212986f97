"""What the docstrings say, for the terminal: the text before the parameters, and the parameters by name."""

from __future__ import annotations

import inspect
import re
import textwrap

_HEADING = re.compile(r"^(\w[\w ]*)\n-{3,}\n", re.MULTILINE)


def description(thing: type) -> str:
    """The docstring of a class up to its first section, as plain text."""
    text = inspect.cleandoc(thing.__doc__ or "")
    heading = _HEADING.search(text)
    return plain(text[: heading.start()] if heading else text).strip()


def parameters(*things: type) -> dict[str, str]:
    """Parameter → what it means, from the docstrings of classes; of two texts the first one counts.

    >>> class Pool:
    ...     '''Pools.
    ...
    ...     Parameters
    ...     ----------
    ...     ratio, share
    ...         What is *kept*, ``0.5`` of it.
    ...     '''
    >>> parameters(Pool)
    {'ratio': 'What is kept, 0.5 of it.', 'share': 'What is kept, 0.5 of it.'}
    """
    found: dict[str, str] = {}
    for thing in things:
        for names, text in _entries(inspect.cleandoc(thing.__doc__ or "")):
            for name in names:
                found.setdefault(name, text)
    return found


def _entries(text: str) -> list[tuple[list[str], str]]:
    """The entries of the section "Parameters"."""
    sections = _HEADING.split(text)  # text, title, body, title, body, …
    body = next((body for title, body in zip(sections[1::2], sections[2::2]) if title == "Parameters"), "")
    entries: list[tuple[list[str], str]] = []
    for block in re.split(r"\n(?=\S)", body.strip("\n")):
        head, _, rest = block.partition("\n")
        if head.strip():
            entries.append((re.split(r",\s*", head.strip()), plain(" ".join(textwrap.dedent(rest).split()))))
    return entries


def plain(text: str) -> str:
    """Text without the marks of reStructuredText."""
    text = re.sub(r":\w+:`~?(?:[\w.]+\.)?([\w]+)`", r"\1", text)
    text = re.sub(r":\w+:(?=`)", "", text)
    text = re.sub(r"``([^`]*)``|`([^`]*)`", lambda m: m[1] or m[2] or "", text)
    return re.sub(r"\*+([^*\n]+)\*+", r"\1", text)
