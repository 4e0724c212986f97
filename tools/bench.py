"""Measure against other libraries: ``python tools/bench.py data``. The logic lives in ``spgnn_dgl/bench``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

app = typer.Typer(add_completion=False, no_args_is_help=True, help=__doc__)

Home = Annotated[Path | None, typer.Option(help="where the benchmark archives are")]
Only = Annotated[list[str] | None, typer.Option(help="only these datasets")]


@app.callback()
def subcommands() -> None:
    """Each subcommand prints one table, measured in one run."""


@app.command()
def data(
    data_home: Home = None,
    rounds: Annotated[int, typer.Option(help="repetitions of the slow loads")] = 3,
    batch_rounds: Annotated[int, typer.Option(help="batches drawn from each dataset")] = 60,
) -> None:
    """First load, cached load, memory and batches, against PyG and DGL."""
    from spgnn_dgl.bench.data import measure
    from spgnn_dgl.data import data_home as find_home

    report(measure(find_home(data_home), rounds=rounds, batch_rounds=batch_rounds))


@app.command()
def train(
    data_home: Home = None,
    rounds: Annotated[int, typer.Option(help="rounds in which all candidates take their turn")] = 15,
    only: Only = None,
) -> None:
    """The training step, against DGL's and PyG's own parts and against its bare products."""
    from spgnn_dgl.bench.train import DATASETS, measure
    from spgnn_dgl.data import data_home as find_home

    report(measure(find_home(data_home), rounds=rounds, names=tuple(only or DATASETS)))


@app.command()
def fold(
    data_home: Home = None,
    rounds: Annotated[int, typer.Option(help="rounds in which both take their turn")] = 9,
    only: Only = None,
) -> None:
    """The training step on folded graphs, against that on the graphs as they are."""
    from spgnn_dgl.bench.fold import DATASETS, measure
    from spgnn_dgl.data import data_home as find_home

    report(measure(find_home(data_home), rounds=rounds, names=tuple(only or DATASETS)))


@app.command()
def sums(
    data_home: Home = None,
    rounds: Annotated[int, typer.Option(help="rounds in which both take their turn")] = 15,
    only: Only = None,
) -> None:
    """Sums over neighbours and over graphs, forwards and backwards, against DGL's."""
    from spgnn_dgl.bench.sums import DATASETS, measure
    from spgnn_dgl.data import data_home as find_home

    report(measure(find_home(data_home), rounds=rounds, names=tuple(only or DATASETS)))


@app.command()
def kernels(
    data_home: Home = None,
    rounds: Annotated[int, typer.Option(help="rounds in which both take their turn")] = 3,
    only: Only = None,
) -> None:
    """The matrices of graph kernels, against GraKeL's."""
    from spgnn_dgl.bench.kernels import DATASETS, measure
    from spgnn_dgl.data import data_home as find_home

    report(measure(find_home(data_home), rounds=rounds, names=tuple(only or DATASETS)))


@app.command()
def scale(
    scratch: Annotated[Path | None, typer.Option(help="folder with 8 GB of room (default: a temporary one)")] = None,
    data_home: Annotated[
        Path | None, typer.Option(help="where the benchmark archives are, for the ranks on DD")
    ] = None,
    sizes: Annotated[list[int] | None, typer.Option("--size", help="numbers of graphs")] = None,
    rounds: Annotated[int, typer.Option(help="rounds in which all sizes take their turn")] = 40,
    plots: Annotated[Path | None, typer.Option(help="folder to draw the curves into")] = None,
) -> None:
    """Up to ten million graphs: build, bytes, memory, and the training step as data grows; then more ranks."""
    import tempfile

    from spgnn_dgl.bench.scale import SIZES, measure
    from spgnn_dgl.data import data_home as find_home

    place = Path(tempfile.gettempdir()) if scratch is None else scratch
    report(measure(place, find_home(data_home), sizes=tuple(sizes or SIZES), rounds=rounds, plots=plots))


def report(rows) -> None:  # type: ignore[no-untyped-def]
    """Show progress on the error stream, then the table; exit with 1 when a target was missed."""
    from spgnn_dgl.bench.timing import table

    done = []
    for row in rows:
        done.append(row)
        typer.echo(f"{row.what}: {row.ours} {row.theirs}", err=True)
    typer.echo(table(done))
    raise typer.Exit(1 if any(row.holds is False for row in done) else 0)


if __name__ == "__main__":
    app()
