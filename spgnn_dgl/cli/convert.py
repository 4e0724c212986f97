"""``spgnn convert``."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated

import typer

from spgnn_dgl.cli.app import app


@app.command()
def convert(
    source: Annotated[str, typer.Argument(help="Name or path of a dataset, in any format that is known.")],
    out: Annotated[Path, typer.Option(help="Folder of the store to write.")],
    classes: Annotated[
        bool, typer.Option(help="Whether every graph must have a class, as training needs; for prediction, not.")
    ] = True,
) -> None:
    """Write a dataset as a store on disk, whatever its size; the same command goes on after a kill."""
    from spgnn_dgl.data.building.conversion import convert_dataset

    with graph_counter() as on_part:
        data = convert_dataset(source, out, require_classes=classes, on_part=on_part)
    size = sum(path.stat().st_size for path in out.iterdir())
    typer.echo(f"{len(data)} graphs of {data.name}, {size / len(data):.0f} bytes each")
    typer.echo(f"store: {out}")


@contextlib.contextmanager
def graph_counter() -> Iterator[Callable[[int], None] | None]:
    """A line that counts the graphs, on a terminal."""
    if not sys.stdout.isatty():
        yield None
        return
    from rich.console import Console

    with Console().status("converting") as status:
        yield lambda graphs: status.update(f"{graphs:,} graphs")
