"""Links to lines of the source, looked up when the pages are built, so that they never go stale.

``{src}`spgnn_dgl.nn.ops.sort_k` `` links to the line where an object is defined,
``{test}`tests/nn/test_ops.py::test_x` `` to a test. An object or test that is gone is a warning, and so an error. The
pages linked to are made here as well.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import re
from pathlib import Path
from typing import Any

from docutils import nodes
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer
from sphinx.util import logging
from sphinx.util.docutils import SphinxRole

log = logging.getLogger(__name__)
ROOT = Path(__file__).resolve().parents[2]
PAGES = "source"


def find_object(path: str) -> tuple[Path, int]:
    """File and first line of ``package.module.Name``."""
    parts = path.split(".")
    for cut in range(len(parts), 0, -1):
        name = ".".join(parts[:cut])
        try:
            thing: Any = importlib.import_module(name)
        except ModuleNotFoundError as problem:
            if problem.name and not name.startswith(problem.name):
                raise
            continue
        module = thing
        for part in parts[cut:]:
            thing = inspect.getattr_static(thing, part) if inspect.isclass(thing) else getattr(thing, part)
        if inspect.ismodule(thing):
            return Path(inspect.getfile(thing)), 1
        return _place(thing, module, parts[-1])
    raise ImportError(f"there is no module in '{path}'")


def _place(thing: Any, module: Any, name: str) -> tuple[Path, int]:
    thing = inspect.unwrap(getattr(thing, "__func__", getattr(thing, "fget", getattr(thing, "func", thing))))
    try:
        return Path(inspect.getfile(thing)), inspect.getsourcelines(thing)[1]
    except (TypeError, OSError):  # a constant: the line that assigns it
        file = Path(inspect.getfile(module))
        found = re.search(rf"^\s*{re.escape(name)}\b[^\n]*=", file.read_text(encoding="utf-8"), re.MULTILINE)
        if found is None:
            raise AttributeError(f"'{name}' is not assigned in {file}") from None
        return file, file.read_text(encoding="utf-8")[: found.start()].count("\n") + 1


def find_test(path: str) -> tuple[Path, int]:
    """File and line of ``tests/…/test_x.py::test_name``."""
    file, _, name = path.partition("::")
    tree = ast.parse((ROOT / file).read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and node.name == name:
            return ROOT / file, node.lineno
    if name:
        raise AttributeError(f"{file} has no test '{name}'")
    return ROOT / file, 1


def page_of(file: Path) -> str:
    """The page of a file of the package or of the tests; ValueError for any other."""
    path = file.resolve().relative_to(ROOT)
    if path.parts[0] not in ("spgnn_dgl", "tests"):
        raise ValueError(f"{path} is not a file of this project")
    return f"{PAGES}/{path.as_posix()}"


class Link(SphinxRole):
    """A link to a line; `find` says where it is."""

    def __init__(self, find: Any, *, named: bool):
        super().__init__()
        self.find, self.named = find, named

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        try:
            file, line = self.find(self.text)
            shown = file.resolve().relative_to(ROOT).as_posix()
        except (ImportError, AttributeError, OSError, ValueError) as problem:
            log.warning("nothing to link to: %s", problem, location=self.get_location())
            return [nodes.literal(text=self.text)], []
        self.env.note_dependency(str(file))
        link = link_to_line(self.env.app, self.env.docname, file, line, self.text)
        if self.named:
            name = re.sub(r"^spgnn_dgl\.([a-z_]+\.)*", "", self.text)
            link += [nodes.literal(text=name), nodes.Text(" ")]
        place = f"{shown.partition('/')[2]}:{line}"  # narrow enough for a column of a table
        link += nodes.inline("", place, classes=["source-line"])
        return [link], []


def link_to_line(app: Any, docname: str, file: Path, line: int, title: str) -> nodes.reference:
    """A link without content; the page it leads to will be made."""
    note_page(app.env, file)
    target = app.builder.get_relative_uri(docname, page_of(file))
    return nodes.reference("", "", refuri=f"{target}#L-{line}", internal=True, reftitle=title)


def note_page(env: Any, file: Path) -> None:
    if not hasattr(env, "source_line_pages"):
        env.source_line_pages = {}
    env.source_line_pages[page_of(file)] = str(file)


PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<link rel="stylesheet" href="{up}_static/pygments.css">
<link rel="stylesheet" href="{up}_static/source.css">
</head>
<body>
<p class="back"><a href="{up}index.html">{project}</a> / {title}</p>
{code}
</body>
</html>
"""


def write_source_pages(app: Any, problem: Exception | None) -> None:
    """Plain pages, without the theme: its navigation takes longer to make than all else on them."""
    if problem is not None or app.builder.format != "html":
        return
    formatter = HtmlFormatter(linenos="inline", linespans="L", wrapcode=True)
    for page, file in sorted(getattr(app.env, "source_line_pages", {}).items()):
        place = Path(app.outdir) / f"{page}.html"
        place.parent.mkdir(parents=True, exist_ok=True)
        code = highlight(Path(file).read_text(encoding="utf-8"), PythonLexer(), formatter)
        title, up = page.removeprefix(f"{PAGES}/"), "../" * page.count("/")
        place.write_text(PAGE.format(title=title, up=up, project=app.config.project, code=code), encoding="utf-8")


def linkcode_resolve(domain: str, info: dict[str, str]) -> str | None:
    """The [source] links of the reference, whose pages all lie two folders deep."""
    if domain != "py" or not info["module"]:
        return None
    try:
        file, line = find_object(f"{info['module']}.{info['fullname']}")
        page = page_of(file)
    except (ImportError, AttributeError, OSError, ValueError):
        return None
    note_page(_app.env, file)
    return f"../../{page}.html#L-{line}"


_app: Any = None


def setup(app: Any) -> dict[str, bool]:
    global _app
    _app = app
    app.add_role("src", Link(find_object, named=True))
    app.add_role("test", Link(find_test, named=False))
    app.connect("build-finished", write_source_pages, priority=400)  # before links are checked
    app.config["linkcode_resolve"] = linkcode_resolve
    return {"parallel_read_safe": False, "parallel_write_safe": True}
