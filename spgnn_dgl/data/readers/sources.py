"""Where text files come from: a folder, or a zip archive that is read without unpacking it.

Both are read in blocks of whole lines, so that a file of any size needs little memory.
"""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import BinaryIO, Protocol

from spgnn_dgl.errors import DatasetError, DatasetNotFoundError

BLOCK_BYTES = 1 << 23
JUNK_FOLDER = "__MACOSX"  # resource forks that macOS adds to archives
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


class TextSource(Protocol):
    """Named text files in one place."""

    path: Path

    def names(self) -> list[str]:
        """Names of the files, with ``/`` between folders."""

    def open(self, name: str) -> BinaryIO:
        """Open one of the files for reading."""

    def where(self, name: str) -> str:
        """How a message names one of the files."""


class FolderSource:
    """Text files in a folder, and in the folders inside it."""

    def __init__(self, path: Path):
        self.path = path

    def names(self) -> list[str]:
        found = [p for pattern in ("[!.]*", "[!.]*/[!.]*") for p in sorted(self.path.glob(pattern)) if p.is_file()]
        return [p.relative_to(self.path).as_posix() for p in found]

    def open(self, name: str) -> BinaryIO:
        return (self.path / name).open("rb")

    def where(self, name: str) -> str:
        return str(self.path / name)


class ZipSource:
    """Text files in a zip archive, read straight from it; nothing is written to disk."""

    def __init__(self, path: Path):
        self.path = path
        try:
            self._archive = zipfile.ZipFile(path)
        except (zipfile.BadZipFile, EOFError, ValueError) as problem:
            raise DatasetError(_broken_archive(path, problem)) from problem
        for name in self._archive.namelist():
            parts = PurePosixPath(name.replace("\\", "/"))
            if parts.is_absolute() or ".." in parts.parts or ":" in name:
                raise DatasetError(
                    f"{path} holds a file that would land outside of its folder: '{name}'. "
                    "Such an archive is unsafe to unpack and is refused; get it from its publisher."
                )

    def names(self) -> list[str]:
        return [n for n in self._archive.namelist() if not n.endswith("/") and not n.startswith(JUNK_FOLDER)]

    def open(self, name: str) -> BinaryIO:
        try:
            return self._archive.open(name)  # type: ignore[return-value]
        except (zipfile.BadZipFile, RuntimeError, NotImplementedError) as problem:
            raise DatasetError(_broken_archive(self.path, problem)) from problem

    def where(self, name: str) -> str:
        return f"{self.path}:{name}"


def open_source(path: Path) -> TextSource:
    """The files of a folder or of a zip archive."""
    if not path.exists():
        raise DatasetNotFoundError(f"{path} does not exist. Give the path of a dataset's folder or zip archive.")
    return FolderSource(path) if path.is_dir() else ZipSource(path)


def line_blocks(source: TextSource, name: str) -> Iterator[bytes]:
    """Blocks of whole lines, each ending in ``\\n``; blank lines at the end of the file are left out."""
    rest = b""
    first = True
    with _readable(source), source.open(name) as stream:
        while piece := stream.read(BLOCK_BYTES):
            if first:
                piece, first = piece.removeprefix(_BYTE_ORDER_MARK), False
            piece = rest + piece
            # cut before the last line that is not blank: blank lines are an error only where more lines follow
            cut = piece.rfind(b"\n", 0, len(piece.rstrip())) + 1
            block, rest = piece[:cut], piece[cut:]
            if block:
                yield _unix(block)
    if rest.strip():
        yield _unix(rest.rstrip() + b"\n")


def _unix(block: bytes) -> bytes:
    return block.replace(b"\r\n", b"\n").replace(b"\r", b"\n") if b"\r" in block else block


@contextmanager
def _readable(source: TextSource) -> Iterator[None]:
    try:
        yield
    except (zipfile.BadZipFile, zlib.error, EOFError) as problem:
        raise DatasetError(_broken_archive(source.path, problem)) from problem
    except OSError as problem:
        raise DatasetNotFoundError(f"{source.path} cannot be read: {problem}.") from problem


def _broken_archive(path: Path, problem: Exception) -> str:
    return (
        f"{path} is not a whole zip archive ({problem}); it may have been cut off while it was copied. "
        f"Get it again, for a public dataset with: spgnn fetch {path.stem}"
    )
