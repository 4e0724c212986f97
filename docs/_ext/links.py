"""After the build: every link of every page that stays inside must lead somewhere, down to the anchor."""

from __future__ import annotations

from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from sphinx.util import logging

log = logging.getLogger(__name__)


class Page(HTMLParser):
    """Anchors and links of one page."""

    def __init__(self, path: Path):
        super().__init__()
        self.anchors: set[str] = set()
        self.links: set[str] = set()
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        for name, value in attributes:
            if name in ("id", "name") and value:
                self.anchors.add(value)
            elif name in ("href", "src") and value and tag != "link":
                self.links.add(value)


def dead_links(folder: Path) -> list[str]:
    """Links of the built pages in `folder` that lead to no file, or to no anchor in it."""
    pages = {path.resolve(): Page(path) for path in folder.rglob("*.html")}
    dead = []
    for path, page in pages.items():
        for link in sorted(page.links):
            parts = urlsplit(link)
            if parts.scheme or parts.netloc or link == "#":
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            if not target.exists():
                dead.append(f"{path.relative_to(folder.resolve())}: {link} leads nowhere")
            elif parts.fragment and target in pages and unquote(parts.fragment) not in pages[target].anchors:
                dead.append(f"{path.relative_to(folder.resolve())}: {link} leads to no such place")
    return dead


def check(app: Any, problem: Exception | None) -> None:
    if problem is None and app.builder.format == "html":
        for line in dead_links(Path(app.outdir)):
            log.warning("dead link: %s", line)


def setup(app: Any) -> dict[str, bool]:
    app.connect("build-finished", check)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
