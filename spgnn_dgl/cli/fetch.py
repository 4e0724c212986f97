"""``spgnn fetch``."""

from __future__ import annotations

from typing import Annotated

import typer

from spgnn_dgl.cli.app import app
from spgnn_dgl.cli.console import console


@app.command()
def fetch(
    names: Annotated[
        list[str], typer.Argument(metavar="NAME…", help="Names of the TU collection, or `paper` for the paper's nine.")
    ],
    force: Annotated[bool, typer.Option("--force", help="Fetch sets that are there already.")] = False,
    max_megabytes: Annotated[int, typer.Option(min=1, help="Refuse larger files.")] = 2048,
) -> None:
    """Download public datasets into the data home."""
    from rich.progress import BarColumn, DownloadColumn, Progress, TaskID, TextColumn, TimeRemainingColumn

    from spgnn_dgl.data.benchmarks import paper_datasets
    from spgnn_dgl.data.catalogue import data_home
    from spgnn_dgl.data.download import Limits
    from spgnn_dgl.data.fetch import fetch as fetch_dataset

    home, out = data_home(), console()
    wanted = [name for given in names for name in (paper_datasets() if given.lower() == "paper" else [given])]
    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TimeRemainingColumn())
    with Progress(*columns, console=out, disable=not out.is_terminal) as bars:
        for name in dict.fromkeys(wanted):
            bar = bars.add_task(name, total=None)

            def show(received: int, expected: int | None, bar: TaskID = bar) -> None:
                bars.update(bar, completed=received, total=expected)

            path = fetch_dataset(name, home, force=force, limits=Limits(size=max_megabytes << 20), progress=show)
            out.print(f"{name}: {path}", soft_wrap=True, markup=False)
