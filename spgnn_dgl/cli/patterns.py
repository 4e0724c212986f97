"""``spgnn patterns``."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from spgnn_dgl.cli.app import app
from spgnn_dgl.cli.console import console
from spgnn_dgl.cli.subjects import Data, RunOrModel, opened, seen_note

if TYPE_CHECKING:
    from spgnn_dgl.explain.patterns import PatternTable

LONGEST = 60


@app.command()
def patterns(
    run_or_model: RunOrModel,
    top: Annotated[
        int | None,
        typer.Option(
            help="Ranks of each layer that count as pooled (default: k, or 5 where k keeps half of all nodes).",
            show_default=False,
        ),
    ] = None,
    rows: Annotated[int, typer.Option(help="Patterns to print per class.")] = 10,
    fewest_graphs: Annotated[int, typer.Option(help="Graphs of a class that must pool a pattern to test it.")] = 5,
    find: Annotated[
        list[str] | None,
        typer.Option(help="A group to look for, for example 'N(O, O)'; can be repeated.", show_default=False),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="Picture of the first ones: .pdf, .png, .svg.", show_default=False)
    ] = None,
    csv: Annotated[Path | None, typer.Option(help="Table of all patterns.", show_default=False)] = None,
    per_class: Annotated[int, typer.Option(help="Patterns in the picture per class.")] = 4,
    data: Data = None,
) -> None:
    """List the subtree patterns that a model pools, per class, with exact tests."""
    from spgnn_dgl.explain.patterns import GROUPS, find_patterns
    from spgnn_dgl.explain.trees import parse_query
    from spgnn_dgl.visual.patterns import draw_patterns
    from spgnn_dgl.visual.style import check_picture_path, save_figure

    if out is not None:
        check_picture_path(out)
    for query in find or ():
        parse_query(query)  # a mistake is told before anything is counted
    subject = opened(run_or_model, data)
    table = find_patterns(subject, top=top, fewest_graphs=fewest_graphs)
    console().print(
        f"{subject.title}: {len(subject.graphs)} graphs, {seen_note(subject)}. Pooled: the first {table.top} nodes of "
        f"each layer, {table.pooled_share:.0%} of all nodes. {len(table.patterns)} patterns tested.",
        markup=False,
    )
    for label, name in enumerate(subject.class_names):
        if table.of_class(label):
            _print_class(table, label, name, rows)
    wanted: dict[str, tuple[str, ...]] = {query: (query,) for query in find or ()}
    if {"N", "O"} <= set(subject.data.meta.node_symbols):
        wanted = {**GROUPS, **wanted}
    for group, queries in wanted.items():
        _print_ranks(table, group, queries)
    if csv is not None:
        from spgnn_dgl.runs import write_whole

        typer.echo(f"table: {write_whole(csv, _csv(table))}")
    if out is not None:
        typer.echo(f"picture: {save_figure(draw_patterns(table, per_class=per_class), out)}")


def _print_class(table: PatternTable, label: int, name: str, rows: int) -> None:
    from rich.table import Table
    from rich.text import Text

    from spgnn_dgl.visual.patterns import scientific

    listed = table.of_class(label)
    printed = Table(title=f"class {name}: {len(listed)} patterns", title_justify="left", box=None, pad_edge=False)
    for column in (
        "rank",
        "layer",
        "pattern",
        "pooled/all nodes",
        "enriched",
        "in class",
        "elsewhere",
        "q enriched",
        "q typical",
        "q",
    ):
        printed.add_column(column, justify="left" if column == "pattern" else "right", no_wrap=column != "pattern")
    for rank, pattern in enumerate(listed[:rows], start=1):
        printed.add_row(
            str(rank),
            str(pattern.layer),
            Text(_short(str(table.tree(pattern)))),
            f"{pattern.pooled}/{pattern.nodes}",
            f"{pattern.enrichment:.2f}×",
            f"{pattern.graph_share:.0%}",
            f"{pattern.share_elsewhere:.0%}",
            *(scientific(q) for q in (pattern.q_enriched, pattern.q_typical, pattern.q)),
        )
    console().print(printed)


def _short(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"


def _print_ranks(table: PatternTable, group: str, queries: tuple[str, ...]) -> None:
    for label, name in enumerate(table.subject.class_names):
        listed = len(table.of_class(label))
        if not listed:
            continue
        found = table.ranks(label, queries)
        if not found:
            typer.echo(f"{group} in class {name}: at no root of its {listed} patterns")
            continue
        rank, best = found[0]
        typer.echo(
            f"{group} in class {name}: first at rank {rank} of {listed} ({_short(str(table.tree(best)))}, layer "
            f"{best.layer}, q = {best.q:.2g}), at the root of {len(found)} patterns"
        )


def _csv(table: PatternTable) -> str:
    import csv
    import io

    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    fields = [f.name for f in dataclasses.fields(table.patterns[0])] if table.patterns else []
    writer.writerow(
        ["class", "rank", "pattern", *(name for name in fields if name not in ("label", "example")), "graph", "node"]
    )
    for label, name in enumerate(table.subject.class_names):
        for rank, pattern in enumerate(table.of_class(label), start=1):
            values = [getattr(pattern, field) for field in fields if field not in ("label", "example")]
            graph = int(table.subject.graphs[pattern.example[0]])
            writer.writerow([name, rank, str(table.tree(pattern)), *values, graph, pattern.example[1]])
    return text.getvalue()
