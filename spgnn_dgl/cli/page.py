"""``spgnn page``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from spgnn_dgl.cli.app import app
from spgnn_dgl.cli.subjects import Data, RunOrModel, TruthFile, opened


@app.command()
def page(
    run_or_model: RunOrModel,
    out: Annotated[Path, typer.Option(help="The HTML file to write.")] = Path("page.html"),
    max_graphs: Annotated[int, typer.Option(help="Of a larger dataset so many graphs are shown.")] = 2000,
    top: Annotated[
        int | None, typer.Option(help="Ranks of each layer that count as pooled in the patterns.", show_default=False)
    ] = None,
    seed: Annotated[int, typer.Option(help="Of layouts, and of the choice of graphs.")] = 0,
    data: Data = None,
    truth_file: TruthFile = None,
) -> None:
    """Write one HTML file to browse graphs, pooled nodes, patterns and learning curves, without a network."""
    from spgnn_dgl.visual.page import PageOptions, write_page

    subject = opened(run_or_model, data, truth_file)
    path = write_page(subject, out, PageOptions(max_graphs=max_graphs, top=top, seed=seed))
    typer.echo(f"page: {path} ({path.stat().st_size / 1e6:.1f} MB)")
