"""``spgnn fit``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from spgnn_dgl.cli.app import app
from spgnn_dgl.cli.assignments import ManyAssignments, assignments


@app.command(cls=ManyAssignments)
def fit(
    dataset: Annotated[str, typer.Argument(help="Name or path of a dataset.")],
    out: Annotated[Path, typer.Option(help="The model file, for example model.safetensors.")],
    like: Annotated[
        Path | None, typer.Option(help="A run folder whose chosen options and epoch are used.", show_default=False)
    ] = None,
    method: Annotated[
        str | None, typer.Option("--method", "-m", help="A name from `spgnn methods` (default spgnn, or the run's).")
    ] = None,
    option: Annotated[
        list[str] | None, typer.Option("-o", "--option", metavar="KEY=VALUE …", help="Options of the method.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Of weights, shuffling and dropout.")] = 0,
) -> None:
    """Train one final model on all of the data, for use with `spgnn predict`."""
    from spgnn_dgl.cli.progress import epoch_counter
    from spgnn_dgl.data.load import load_dataset
    from spgnn_dgl.fitting import fit_model

    data = load_dataset(dataset)
    with epoch_counter() as on_epoch:
        path = fit_model(
            data, out, method=method, options=assignments(option or []), like=like, seed=seed, on_epoch=on_epoch
        )
    typer.echo(f"trained on all {len(data)} graphs of {data.name}")
    typer.echo(f"model: {path}")
