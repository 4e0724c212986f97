"""``spgnn draw``: the paper's figure, and the layer view."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from spgnn_dgl.cli.app import app
from spgnn_dgl.cli.assignments import numbers
from spgnn_dgl.cli.subjects import Data, RunOrModel, TruthFile, opened

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from spgnn_dgl.explain.subject import Subject

POOLED, LAYERS = "pooled", "layers"


@app.command()
def draw(
    run_or_model: RunOrModel,
    graphs: Annotated[
        str | None, typer.Option(help="Numbers of graphs, for example 3,17, counted from 0.", show_default=False)
    ] = None,
    per_class: Annotated[int, typer.Option(help="Graphs of each class, where none are named.")] = 3,
    top: Annotated[int, typer.Option(help="Nodes to mark per graph.")] = 10,
    out: Annotated[Path, typer.Option(help="The picture to write: .pdf, .png or .svg.")] = Path("pooled.pdf"),
    view: Annotated[str, typer.Option(help="pooled: rows of graphs. layers: one graph, a panel per layer.")] = POOLED,
    texts: Annotated[str, typer.Option(help="In the nodes: none, ids or symbols (atoms, labels).")] = "none",
    truth: Annotated[
        bool, typer.Option("--truth", help="Ring around nodes that are known to decide the class.")
    ] = False,
    title: Annotated[str, typer.Option(help="Over the picture.", show_default=False)] = "",
    seed: Annotated[int, typer.Option(help="Of the layouts.")] = 0,
    data: Data = None,
    truth_file: TruthFile = None,
) -> None:
    """Draw graphs of every class with the nodes that the model pools."""
    from spgnn_dgl.errors import OptionError
    from spgnn_dgl.visual.pooled import PooledStyle, draw_pooled
    from spgnn_dgl.visual.style import check_picture_path, save_figure

    check_picture_path(out)
    if view not in (POOLED, LAYERS):
        raise OptionError(f"--view {view} was given; known: {POOLED}, {LAYERS}.")
    subject = opened(run_or_model, data, truth_file)
    chosen = numbers(graphs, "--graphs")
    if view == LAYERS:
        figure = _layers(subject, chosen, seed, title)
    else:
        style = PooledStyle(top=top, texts=texts, truth=truth or truth_file is not None, title=title, seed=seed)
        figure = draw_pooled(subject, _rows(subject, chosen, per_class), style)
    typer.echo(f"picture: {save_figure(figure, out)}")


def _layers(subject: Subject, chosen: tuple[int, ...] | None, seed: int, title: str) -> Figure:
    from spgnn_dgl.errors import OptionError
    from spgnn_dgl.explain.choice import graph_with_changing_leaders
    from spgnn_dgl.visual.layers import draw_layers

    if chosen is not None and len(chosen) != 1:
        raise OptionError(f"--view layers draws one graph, but {len(chosen)} were named with --graphs.")
    graph = chosen[0] if chosen else graph_with_changing_leaders(subject)
    return draw_layers(subject, graph, seed=seed, title=title)


def _rows(subject: Subject, chosen: tuple[int, ...] | None, per_class: int) -> list[list[int]]:
    from spgnn_dgl.explain.choice import by_class, graphs_per_class

    return graphs_per_class(subject, per_class) if chosen is None else by_class(subject.of(chosen))
