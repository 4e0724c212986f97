"""``spgnn report``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from spgnn_dgl.cli.app import app


@app.command()
def report(
    run: Annotated[Path, typer.Argument(help="A run folder, or a folder of them.")],
    tensorboard: Annotated[bool, typer.Option("--tensorboard", help="Write TensorBoard event files too.")] = False,
) -> None:
    """Make report, results, predictions and pictures again from a run folder, without training."""
    from spgnn_dgl.cli.train import show
    from spgnn_dgl.experiment import remake
    from spgnn_dgl.runs import find_runs

    for folder in find_runs([run]):
        show(remake(folder, tensorboard=tensorboard))
