"""Docstrings of this project as Sphinx reads them: their sections, their members, and names they speak of."""

from __future__ import annotations

import importlib
import inspect
import itertools
from typing import Any

from docutils import nodes
from numpydoc.docscrape import NumpyDocString
from source_lines import find_object, link_to_line

import spgnn_dgl

NumpyDocString.sections["Shape"] = ""


def shape_to_notes(app: Any, what: str, name: str, thing: Any, options: Any, lines: list[str]) -> None:
    """Rename the heading ``Shape``; numpydoc shows the sections it knows, and leaves others out."""
    for number, (line, under) in enumerate(itertools.pairwise(lines)):
        if line.strip() == "Shape" and set(under.strip()) == {"-"}:
            lines[number : number + 2] = ["Notes", "-----", "**Shape.**"]
            return


def skip_foreign(app: Any, what: str, name: str, thing: Any, skip: bool, options: Any) -> bool | None:
    """Leave out methods that scikit-learn adds to every estimator."""
    return True if name.startswith("set_") and name.endswith("_request") else None


def resolve(app: Any, env: Any, node: Any, content: Any) -> Any:
    """What a docstring names, where Sphinx does not find it: a public name, else a line of the source."""
    if node.get("refdomain") != "py":
        return None
    path = full_path(node.get("py:module"), node.get("py:class"), node["reftarget"])
    if path is None:
        return None
    if path.rpartition(".")[2] in spgnn_dgl._HOME:
        found = env.domains.python_domain.find_obj(env, None, None, f"spgnn_dgl.{path.rpartition('.')[2]}", None, 0)
        if found:
            target, entry = found[0]
            uri = app.builder.get_relative_uri(node["refdoc"], entry.docname)
            link = nodes.reference("", "", refuri=f"{uri}#{target}", internal=True, reftitle=target)
            return _with(link, content)
    try:
        file, line = find_object(path)
        return _with(link_to_line(app, node["refdoc"], file, line, path), content)
    except (ImportError, AttributeError, OSError, ValueError):
        return None


def _with(link: nodes.reference, content: nodes.Node) -> nodes.reference:
    link += content
    return link


def full_path(module: str | None, owner: str | None, target: str) -> str | None:
    """``package.module.Name`` of what a text in that module and class calls `target`; None where it is not ours."""
    if target.startswith("spgnn_dgl."):
        return target
    if not module or not module.startswith("spgnn_dgl"):
        return None
    space = importlib.import_module(module)
    for holder, prefix in ((getattr(space, owner or "", None), f"{module}.{owner}"), (space, module)):
        thing = inspect.getattr_static(holder, target, None) if holder is not None else None
        if thing is None:
            continue
        home = getattr(thing, "__module__", None)
        if home and home.startswith("spgnn_dgl") and hasattr(thing, "__qualname__"):
            return f"{home}.{thing.__qualname__}"
        return f"{prefix}.{target}"
    return None


def setup(app: Any) -> dict[str, bool]:
    app.connect("autodoc-process-docstring", shape_to_notes, priority=400)  # numpydoc comes at 500
    app.connect("autodoc-skip-member", skip_foreign)
    app.connect("missing-reference", resolve)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
