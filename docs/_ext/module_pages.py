"""Reference pages of all modules, one page per package, written before Sphinx reads: a new module needs no entry.

Public names have pages of their own and are left out here.
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import typing
from pathlib import Path
from typing import Any

from sphinx.pycode import ModuleAnalyzer

import spgnn_dgl

FOLDER = "reference/generated"
LEFT_OUT = ("spgnn_dgl.__main__", "spgnn_dgl.bench", "spgnn_dgl.cli")  # no reference: measurements, and the commands


def pages() -> dict[str, list[str]]:
    """Page → its modules: a page for each package, and one for the modules beside them."""
    found: dict[str, list[str]] = {}
    for module in sorted(pkgutil.walk_packages(spgnn_dgl.__path__, "spgnn_dgl."), key=lambda m: m.name):
        if module.name.startswith(LEFT_OUT):
            continue
        top = module.name.split(".")[1]
        is_package = (Path(spgnn_dgl.__path__[0]) / top).is_dir()
        found.setdefault(top if is_package else "other", []).append(module.name)
    return found


def write(app: Any) -> None:
    folder = Path(app.srcdir) / FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    for page, modules in pages().items():
        title = "Other modules" if page == "other" else f"spgnn_dgl.{page}"
        parts = [f"{title}\n{'=' * len(title)}", *map(section, modules)]
        text = "\n\n".join(parts) + "\n"
        place = folder / ("other-modules.rst" if page == "other" else f"modules.{page}.rst")
        if not place.exists() or place.read_text(encoding="utf-8") != text:
            place.write_text(text, encoding="utf-8")


def section(module: str) -> str:
    homes = {name: f"spgnn_dgl.{home}" for name, home in spgnn_dgl._HOME.items()}
    public = [n for n, home in homes.items() if home == module and not inspect.ismodule(getattr(spgnn_dgl, n))]
    members = [name for name in own_names(module) if name not in public]
    lines = [f".. automodule:: {module}", f"   :members: {', '.join(members)}" if members else "   :no-members:"]
    if public:
        links = ", ".join(f":py:obj:`spgnn_dgl.{name}`" for name in public)
        lines += ["", f"Public names defined here: {links}."]
    return f"{module}\n{'-' * len(module)}\n\n" + "\n".join(lines)


def own_names(module: str) -> list[str]:
    """Classes and functions that a module defines, and constants that it documents."""
    space = importlib.import_module(module)
    documented = {name for owner, name in ModuleAnalyzer.for_module(module).find_attr_docs() if not owner}
    return [
        name
        for name, thing in vars(space).items()
        if not name.startswith("_")
        and typing.get_origin(thing) is None  # names of types: numpydoc takes them for functions
        and (name in documented or ((inspect.isroutine(thing) or inspect.isclass(thing)) and is_own(thing, module)))
    ]


def is_own(thing: Any, module: str) -> bool:
    return getattr(thing, "__module__", None) == module and bool(inspect.getdoc(thing))


def setup(app: Any) -> dict[str, bool]:
    app.connect("builder-inited", write)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
