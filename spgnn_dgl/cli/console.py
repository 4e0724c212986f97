"""Where commands print: as wide as the terminal, and wide enough for tables where the output is a file or a pipe."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console

WIDTH_OF_A_FILE = 140


def console() -> Console:
    """A rich console on the present stdout."""
    from rich.console import Console

    return Console(width=None if sys.stdout.isatty() else WIDTH_OF_A_FILE, highlight=False)
