"""``spgnn fit``."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from spgnn_dgl.cli.app import INTERRUPTED, USER_ERROR, app
from spgnn_dgl.cli.assignments import ManyAssignments, assignments
from spgnn_dgl.errors import SpgnnError

if TYPE_CHECKING:
    from spgnn_dgl.distributed import Ranks


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
    checkpoint: Annotated[
        Path | None,
        typer.Option(
            help="Where the training is kept until it is over; the same command goes on from it after a stop "
            "(default: beside the model file).",
            show_default=False,
        ),
    ] = None,
    checkpoint_every: Annotated[float, typer.Option(metavar="SECONDS", help="How often it is written.")] = 30.0,
) -> None:
    """Train one final model on all of the data, for use with `spgnn predict`.

    By `torchrun --nproc-per-node N -m spgnn_dgl fit …` the training is shared by N processes.
    """
    from spgnn_dgl.checkpoint import how_to_go_on
    from spgnn_dgl.distributed import ALONE, RankLost, joined
    from spgnn_dgl.fitting import checkpoint_of

    place, together = checkpoint or checkpoint_of(out), ALONE
    how: dict[str, Any] = {"method": method, "options": assignments(option or []), "like": like, "seed": seed}
    how |= {"checkpoint": checkpoint, "checkpoint_every": checkpoint_every}
    try:
        with joined() as together:
            _fit(together, dataset, out, how)
    except KeyboardInterrupt:
        if together.speaks():
            typer.echo(f"\nstopped. {how_to_go_on(place)}", err=True)
        raise typer.Exit(INTERRUPTED) from None
    except SpgnnError as problem:
        if not together.speaks():
            raise typer.Exit(USER_ERROR) from None
        if isinstance(problem, RankLost):
            raise RankLost(how_to_go_on(place)) from problem
        raise


def _fit(ranks: Ranks, dataset: str, out: Path, how: dict[str, Any]) -> None:
    from spgnn_dgl.cli.progress import epoch_counter
    from spgnn_dgl.data.load import load_dataset
    from spgnn_dgl.fitting import fit_model

    with ranks.one_per_machine_first():
        data = load_dataset(dataset)
    with epoch_counter() if ranks.is_first else contextlib.nullcontext() as on_epoch:
        path = fit_model(data, out, on_epoch=on_epoch, **how)
    if ranks.is_first:
        by = f", by {ranks.world} processes" if ranks.world > 1 else ""
        typer.echo(f"trained on all {len(data)} graphs of {data.name}{by}")
        typer.echo(f"model: {path}")
