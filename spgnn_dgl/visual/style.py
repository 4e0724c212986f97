"""Colours, sizes and files that all pictures share.

Marked and other nodes differ in fill, in size and in the weight of their outline, so that a print in grey, or an eye
that does not see the colours, tells them apart as well.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib
from matplotlib.figure import Figure

from spgnn_dgl.errors import OptionError
from spgnn_dgl.runs import write_whole

INK = "#1b1b1b"
YELLOW = "#ffd21f"
PALE_YELLOW = "#fff3bf"
LIGHT = "#eceff1"
PALE_INK = "#8d979e"
EDGE = "#a9b1b6"
STRONG_EDGE = "#5b6166"
TRUTH = "#0072b2"  # the blue of Okabe and Ito's palette
FONT = 7.0  # points: readable in print at full size
SMALL_FONT = 6.0

FORMATS = (".pdf", ".png", ".svg")
_SETTINGS: Any = {
    "pdf.fonttype": 42,  # text stays text
    "svg.fonttype": "none",
    "svg.hashsalt": "spgnn_dgl",  # equal pictures are equal files
}


def check_picture_path(path: str | Path) -> Path:
    """The path, when it ends in a picture format."""
    path = Path(path)
    if path.suffix.lower() not in FORMATS:
        raise OptionError(f"'{path}' was given for a picture; the name must end in {', '.join(FORMATS)}.")
    return path


def save_figure(figure: Figure, path: str | Path, *, dpi: int = 200) -> Path:
    """Write a picture whole or not at all; the format is the path's ending."""
    path = check_picture_path(path)
    undated = {".pdf": {"CreationDate": None}, ".svg": {"Date": None}}.get(path.suffix.lower())

    def write(aside: Path) -> None:
        with matplotlib.rc_context(_SETTINGS):
            figure.savefig(aside, dpi=dpi, metadata=undated, facecolor="white")

    return write_whole(path, write)
