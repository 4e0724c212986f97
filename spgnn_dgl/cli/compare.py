"""``spgnn compare``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from spgnn_dgl.cli.app import app


@app.command()
def compare(
    runs: Annotated[list[Path], typer.Argument(help="Run folders, or folders of them.")],
    format_: Annotated[str, typer.Option("--format", help="md, latex or csv.")] = "md",
    number: Annotated[
        str, typer.Option(help="reported, or honest: the epoch chosen without the tested fold.")
    ] = "reported",
    paper: Annotated[bool, typer.Option("--paper", help="Add the rows that the paper prints.")] = False,
    unpaired: Annotated[
        bool, typer.Option("--unpaired", help="Welch's test where runs have different folds, instead of an error.")
    ] = False,
    out: Annotated[Path | None, typer.Option(help="Write the table to a file.", show_default=False)] = None,
    diagram: Annotated[
        Path | None, typer.Option(help="Draw a critical-difference diagram (.pdf, .png, .svg).", show_default=False)
    ] = None,
) -> None:
    """One table over datasets and methods, with paired tests, average ranks and the paper's bold rule."""
    from spgnn_dgl.errors import RunError
    from spgnn_dgl.report.comparison import compare_runs
    from spgnn_dgl.report.tables import render
    from spgnn_dgl.runs import find_runs, write_whole
    from spgnn_dgl.visual.critical_difference import critical_difference
    from spgnn_dgl.visual.style import save_figure

    comparison = compare_runs(find_runs(runs), number=number, printed=paper, unpaired=unpaired)
    table = render(comparison, format_)
    if diagram is not None and comparison.ranking is None:
        raise RunError(f"there is no diagram to draw: {comparison.no_ranking}.")
    if out is None:
        typer.echo(table, nl=False)
    else:
        typer.echo(f"table: {write_whole(out, table)}")
    if diagram is not None and comparison.ranking is not None:
        typer.echo(f"diagram: {save_figure(critical_difference(comparison.ranking), diagram)}", err=out is None)
