"""``spgnn train``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from spgnn_dgl.cli.app import INTERRUPTED, app
from spgnn_dgl.cli.assignments import ManyAssignments, assignments, candidates, numbers

if TYPE_CHECKING:
    from spgnn_dgl.experiment import Run


@app.command(cls=ManyAssignments)
def train(
    dataset: Annotated[str, typer.Argument(help="Name or path of a dataset.")],
    method: Annotated[str, typer.Option("--method", "-m", help="A name from `spgnn methods`.")] = "spgnn",
    option: Annotated[
        list[str] | None, typer.Option("-o", "--option", metavar="KEY=VALUE …", help="Options of the method.")
    ] = None,
    protocol: Annotated[str, typer.Option(help="paper or fair.")] = "paper",
    folds: Annotated[int, typer.Option(help="Number of stratified folds.")] = 10,
    folds_file: Annotated[Path | None, typer.Option(help="Stored folds (JSON) instead.", show_default=False)] = None,
    group_twins: Annotated[
        bool, typer.Option("--group-twins", help="Keep graphs that are alike in the same fold; see `spgnn audit`.")
    ] = False,
    repeats: Annotated[
        int | None,
        typer.Option(
            help="paper: whole cross-validations (default 1); fair: final trainings per fold (default 3).",
            show_default=False,
        ),
    ] = None,
    epochs: Annotated[
        str | None, typer.Option(help="Candidate epochs, for example 50,100.", show_default=False)
    ] = None,
    search: Annotated[
        list[str] | None,
        typer.Option(metavar="KEY=VALUE,VALUE …", help="Options to search on inner validation.", show_default=False),
    ] = None,
    seed: Annotated[int, typer.Option(help="Of folds, weights, shuffling and dropout.")] = 0,
    jobs: Annotated[int, typer.Option("--jobs", "-j", help="Trainings at a time.")] = 1,
    backend: Annotated[str, typer.Option(help="loky, ray or dask.")] = "loky",
    address: Annotated[
        str | None,
        typer.Option(help="Of the Ray or Dask cluster, for example auto or tcp://host:8786.", show_default=False),
    ] = None,
    budget: Annotated[
        str | None, typer.Option(help="Time for a training, for example 30m, where the method can keep to it.")
    ] = None,
    preset: Annotated[bool, typer.Option(help="Use the paper's settings for this dataset.")] = True,
    out: Annotated[Path, typer.Option(help="Folder of the runs.")] = Path("runs"),
    force: Annotated[bool, typer.Option("--force", help="Start over; the old folder is moved aside.")] = False,
    checkpoints: Annotated[bool, typer.Option(help="Keep the models of the folds.")] = True,
    tensorboard: Annotated[bool, typer.Option("--tensorboard", help="Write TensorBoard event files too.")] = False,
) -> None:
    """Run a cross-validation; end with a report, a picture and the paths to both. A rerun resumes."""
    from spgnn_dgl.cli.progress import progress_display
    from spgnn_dgl.experiment import RunConfig, run

    config = RunConfig(
        dataset,
        method,
        options=assignments(option or []),
        protocol=protocol,
        folds=folds,
        folds_file=folds_file,
        group_twins=group_twins,
        repeats=repeats,
        epochs=numbers(epochs, "--epochs"),
        search=candidates(search or []),
        seed=seed,
        preset=preset,
        budget=budget,
        out=out,
        jobs=jobs,
        backend=backend,
        address=address,
        force=force,
        checkpoints=checkpoints,
        tensorboard=tensorboard,
    )
    progress = progress_display()
    try:
        result = run(config, progress)
    except KeyboardInterrupt:
        typer.echo(f"\nstopped{_kept(progress.path, force)}", err=True)
        raise typer.Exit(INTERRUPTED) from None
    show(result)


def _kept(path: Path | None, force: bool) -> str:
    """What an interrupted run leaves, and how to go on."""
    from spgnn_dgl.runs import UNITS

    if path is None:
        return " before anything was trained."
    finished = len(list((path / UNITS).glob("[!.]*.json")))
    again = "the same command without --force" if force else "the same command"
    return f". {finished} finished trainings are kept in {path}; {again} goes on from there."


def show(result: Run) -> None:
    """Print the card of a run and the paths to report and pictures."""
    from spgnn_dgl.cli.console import console
    from spgnn_dgl.report import headline_lines

    for line in headline_lines(result.results):
        console().print(line, markup=False)
    console().print(f"report:  {result.report}", markup=False, soft_wrap=True)
    for figure in result.figures:
        console().print(f"picture: {figure}", markup=False, soft_wrap=True)
