"""``spgnn demo`` and ``spgnn figure``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from spgnn_dgl.cli.app import app


@app.command()
def demo(
    out: Annotated[Path, typer.Option(help="Folder for the run, the picture and the graphs.")] = Path("runs/demo"),
    seed: Annotated[int, typer.Option(help="Of folds and training.")] = 0,
) -> None:
    """Train SPGNN on generated graphs and draw what it pools beside what was planted. Needs no data."""
    from spgnn_dgl.cli.progress import progress_display
    from spgnn_dgl.cli.train import show
    from spgnn_dgl.demo import NODES, demonstrate

    typer.echo(f"SPGNN on MOTIFS: generated graphs of about {NODES} nodes, each with one of three planted motifs")
    found = demonstrate(out, seed=seed, progress=progress_display())
    show(found.run)
    typer.echo(f"held-out accuracy: {found.accuracy:.1%}")
    typer.echo(f"picture: {found.picture} (pooled nodes yellow, the planted motif ringed)")
    typer.echo(
        f"{found.in_motif} of the {found.marked} most pooled nodes ({found.in_motif / found.marked:.0%}) lie in the "
        f"planted motif; of all nodes it is {found.chance:.0%}"
    )
    typer.echo(f"to browse it: spgnn page {found.run.path} --data {found.data}")


@app.command()
def figure(
    out: Annotated[Path, typer.Option(help="The picture to write: .pdf, .png or .svg.")] = Path("figure.pdf"),
    dataset: Annotated[str, typer.Option(help="Name or path of the graphs.")] = "IMDB-MULTI",
    epochs: Annotated[int, typer.Option(help="Passes over the training graphs.")] = 100,
    top: Annotated[int, typer.Option(help="Nodes to mark per graph.")] = 10,
    seed: Annotated[int, typer.Option(help="Of split, weights and layouts.")] = 0,
) -> None:
    """Train with L = 3 and k = 10 and draw the paper's figure: graphs with communities, and complete ones."""
    from spgnn_dgl.figure import paper_figure

    made = paper_figure(out, dataset=dataset, epochs=epochs, top=top, seed=seed)
    typer.echo(f"accuracy on the {made.held_out} held-out graphs: {made.accuracy:.1%} after {epochs} epochs")
    typer.echo(f"model:   {made.model}")
    typer.echo(f"picture: {made.picture}")
