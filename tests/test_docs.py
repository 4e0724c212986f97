"""The pages do what they say: their code runs, their commands work, their links lead somewhere.

Every ```` ```python ```` block of a page is executed, all blocks of a page in one namespace and one temporary folder.
Lines after ``$`` in a ```` ```console ```` block are run: ``spgnn`` in this process, ``python``, ``cat``, ``head`` and
``ls`` as they are; of ``make`` it is checked that the target exists. A block with a caption is written to that file. A
```` ```text ```` block after one that was run, and what stands below a command, must be found in its output; numbers
may differ. MOTIFS has 60 graphs here instead of 300. A comment above a block changes what is done with it:

* ``<!-- not run: REASON -->``
* ``<!-- tested with: OLD => NEW; OLD => NEW -->``: less work, or a dataset that is here
"""

from __future__ import annotations

import contextlib
import functools
import inspect
import io
import logging
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import spgnn_dgl as sp

ROOT = Path(__file__).resolve().parents[1]
PAGES = sorted(
    page
    for pattern in ("*.md", "datasets/*.md", "docs/**/*.md")
    for page in ROOT.glob(pattern)
    if not {"_build", "generated"} & set(page.parts)
)
RUN, SHOWN = {"python", "console"}, {"text", "json", "bibtex", "toml", "markdown", "latex"}
SHELL = {"cat", "head", "ls"}
FENCE = re.compile(r"^(?P<fence>`{3,})(?P<info>[^\n`]*)\n(?P<body>.*?)^(?P=fence)[ \t]*$", re.MULTILINE | re.DOTALL)
MARK = re.compile(r"<!--\s*(not run|tested with):\s*(.*?)\s*-->\s*\Z", re.DOTALL)
OPTION = re.compile(r"^:(\w[\w-]*):[ \t]*(.*)$")


def name_of(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


@dataclass
class Block:
    """A fenced block of a page."""

    page: Path
    line: int  # of its first line of content
    language: str  # "" where none is named; "{directive}" for Sphinx's
    body: str
    caption: str | None
    mark: tuple[str, str] | None
    follows: bool  # whether nothing but blanks stands between it and the block before it

    @property
    def where(self) -> str:
        return f"{name_of(self.page)}:{self.line}"

    @property
    def runs(self) -> bool:
        return (self.language in RUN or self.caption is not None) and not (self.mark and self.mark[0] == "not run")

    @property
    def tested(self) -> str:
        """The body with the replacements of its mark, each of which must be there to replace."""
        text = self.body
        if self.mark and self.mark[0] == "tested with":
            for pair in self.mark[1].split(";"):
                old, new = (part.strip() for part in pair.split("=>"))
                assert old in text, f"{self.where}: '{old}' is to be replaced, but is not in the block"
                text = text.replace(old, new)
        return text


def blocks(page: Path) -> list[Block]:
    text, found, end = page.read_text(encoding="utf-8"), [], 0
    for match in FENCE.finditer(text):
        language, body = match["info"].strip(), match["body"]
        options: dict[str, str] = {}
        if language.startswith("{code-block}"):
            language = language.removeprefix("{code-block}").strip()
            while option := OPTION.match(body.partition("\n")[0]):
                options[option[1]], body = option[2], body.partition("\n")[2]
            body = body.removeprefix("\n")
        mark = MARK.search(text[end : match.start()])
        line = text[: match.end() - len(match["fence"])].count("\n") + 1 - body.count("\n")
        follows = bool(found) and not text[end : match.start()].strip()
        marked = (mark[1], mark[2]) if mark else None
        found.append(Block(page, line, language, body, options.get("caption"), marked, follows))
        end = match.end()
    return found


# ---- running ---------------------------------------------------------------------------------------------------------


class Session:
    """One page under execution."""

    def __init__(self) -> None:
        self.space: dict[str, Any] = {"__name__": "page"}
        self.output = ""

    def run(self, block: Block) -> None:
        if block.caption:
            Path(block.caption).parent.mkdir(parents=True, exist_ok=True)
            Path(block.caption).write_text(block.tested, encoding="utf-8")
        elif block.language == "python":
            code = compile("\n" * (block.line - 1) + block.tested, str(block.page), "exec")
            with captured() as output:
                exec(code, self.space)
            self.output = output.getvalue()
        else:
            for command, expected in commands(block.tested):
                self.output = self.command(command, block)
                check_output(expected, self.output, f"{block.where}: {command}")

    def command(self, text: str, block: Block) -> str:
        program, *arguments = shlex.split(text, comments=True)
        if program == "make":
            targets = re.findall(r"^([a-z0-9-]+):.*## ", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
            wanted = [a for a in arguments if "=" not in a]
            assert set(wanted) <= set(targets), f"{block.where}: the Makefile has no target for `{text}`"
            return ""
        if program == "spgnn":
            return spgnn(arguments, f"{block.where}: {text}")
        assert program in {*SHELL, "python"}, f"{block.where}: `{program}` is not run here; say why with 'not run:'"
        if program == "python":
            program = sys.executable
        done = subprocess.run([program, *arguments], capture_output=True, text=True, timeout=300)
        assert done.returncode == 0, f"{block.where}: {text}\n{done.stderr}"
        return done.stdout


@contextlib.contextmanager
def captured() -> Iterator[io.StringIO]:
    output = io.StringIO()
    with contextlib.redirect_stdout(output):
        yield output


def spgnn(arguments: list[str], where: str) -> str:
    from spgnn_dgl.cli import main

    with captured() as output, contextlib.redirect_stderr(io.StringIO()) as errors:
        try:
            code: Any = main(arguments)
        except SystemExit as end:
            code = end.code
    assert not code, f"{where}\n{output.getvalue()}{errors.getvalue()}"
    return output.getvalue() + errors.getvalue()


def commands(body: str) -> Iterator[tuple[str, str]]:
    """Commands of a console block, each with the output that is shown below it."""
    for part in re.split(r"^\$ ", body.replace("\\\n", " "), flags=re.MULTILINE)[1:]:
        command, _, output = part.partition("\n")
        yield command, output


def check_output(shown: str, found: str, where: str) -> None:
    """What a page shows is there, line by line and in this order; numbers and widths may differ, … is anything."""
    lines = iter(found.splitlines())
    for line in shown.splitlines():
        if line.strip() in ("", "…"):
            continue
        wanted = re.compile(".*".join(map(re.escape, _plain(line).split("…"))))
        if not any(wanted.fullmatch(_plain(other)) for other in lines):
            raise AssertionError(f"{where}\nshows:  {line}\nbut the output is:\n{found}")


def _plain(line: str) -> str:
    line = re.sub(r"\d+(\.\d+)?(e-?\d+)?", "#", line)
    return re.sub(r"[█▏▎▍▌▋▊▉]+", "█", re.sub(r"[-─]{2,}", "-", re.sub(r"\s+", " ", line))).strip()


@pytest.fixture
def in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """An empty folder to work in, and fewer MOTIFS; what a page registers or sets is undone afterwards."""
    from spgnn_dgl.data.builtin import DATASETS, motifs
    from spgnn_dgl.methods import METHODS
    from spgnn_dgl.nn import CONVS, READOUTS

    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("SPGNN_DATASETS", raising=False)
    monkeypatch.setenv("COLUMNS", "120")
    logger = logging.getLogger("spgnn_dgl")
    before = logger.level, logger.handlers, logger.propagate
    registries = [(r, dict(r._things), dict(r._keys)) for r in (DATASETS, METHODS, CONVS, READOUTS)]
    DATASETS.register("MOTIFS")(functools.partial(motifs, num_graphs=60))
    yield
    logger.level, logger.handlers, logger.propagate = before
    for registry, things, keys in registries:
        registry._things, registry._keys = things, keys


@pytest.mark.parametrize("page", [p for p in PAGES if any(b.runs for b in blocks(p))], ids=name_of)
def test_the_code_of_a_page_runs(page, in_a_folder):
    session, ran = Session(), False
    for block in blocks(page):
        if block.runs:
            session.run(block)
        elif block.language == "text" and block.follows and ran:
            check_output(block.body, session.output, block.where)
        ran = block.runs


# ---- reading ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_every_block_says_what_it_is(page):
    for block in blocks(page):
        known = block.language in RUN | SHOWN or block.language.startswith("{")
        assert known, f"{block.where}: a block is {sorted(RUN)}, {sorted(SHOWN)} or a directive, not '{block.language}'"
        if block.mark:
            assert block.mark[1], f"{block.where}: the reason is missing"


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_relative_links_lead_to_files(page):
    text = FENCE.sub("", page.read_text(encoding="utf-8"))
    targets = re.findall(r"\]\(([^)\s]+)\)|src=\"([^\"]+)\"", text)
    for target in (a or b for a, b in targets):
        path, _, anchor = target.partition("#")
        if re.match(r"[a-z]+:", target):
            continue
        file = (page.parent / path).resolve() if path else page
        assert file.exists(), f"{name_of(page)}: {target} leads nowhere"
        if anchor and file.suffix == ".md":
            assert anchor in anchors(file), f"{name_of(page)}: {target}: there is no such heading"


def anchors(page: Path) -> set[str]:
    """The anchors that GitHub and MyST give to headings."""
    headings = re.findall(r"^#+ +(.*)$", FENCE.sub("", page.read_text(encoding="utf-8")), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-") for heading in headings}


def test_every_public_name_is_in_the_reference():
    text = (ROOT / "docs/reference/index.md").read_text(encoding="utf-8")
    listed = re.findall(r"^   ([A-Za-z_]+)$", text, re.MULTILINE)
    assert sorted(listed) == sorted(name for name in sp.__all__ if not inspect.ismodule(getattr(sp, name)))


# ---- the runner itself -----------------------------------------------------------------------------------------------


def page_with(folder: Path, text: str) -> Path:
    page = folder / "page.md"
    page.write_text(text, encoding="utf-8")
    return page


def test_a_wrong_output_is_noticed():
    check_output("mean 1.5 of 3\n…\nend", "mean 0.25  of 12\nmore\nend\n", "here")
    with pytest.raises(AssertionError, match="but the output is"):
        check_output("mean 1.5 of 3", "median 1.5 of 3", "here")
    with pytest.raises(AssertionError, match="but the output is"):
        check_output("b\na", "a\nb", "here")


def test_marks_and_captions_are_read(tmp_path):
    text = (
        "<!-- not run: slow -->\n\n```console\n$ spgnn x\n```\n\n```{code-block} python\n:caption: a.py\n\nb = 1\n```\n"
    )
    text += "\n<!-- tested with: 9 => 1; x => y -->\n```python\nx = 9\n```\n```text\nout\n```\n"
    first, second, third, last = blocks(page_with(tmp_path, text))
    assert not first.runs
    assert first.mark == ("not run", "slow")
    assert (second.caption, second.language, second.body.strip()) == ("a.py", "python", "b = 1")
    assert third.tested == "y = 1\n"
    assert last.follows
    assert third.body == text.splitlines(keepends=True)[third.line - 1]


def test_a_failing_command_fails_the_page(in_a_folder):
    with pytest.raises(AssertionError, match="unknown method"):
        spgnn(["train", "MOTIFS", "--method", "spgn"], "here")
