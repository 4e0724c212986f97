"""``spgnn audit``: what to know of a dataset before believing a number."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from spgnn_dgl.cli.app import app
from spgnn_dgl.cli.console import console

if TYPE_CHECKING:
    from rich.console import Console

    from spgnn_dgl.data.audit.findings import Finding
    from spgnn_dgl.data.audit.report import AuditReport, Spread
    from spgnn_dgl.data.audit.twins import TwinCounts
    from spgnn_dgl.data.folds import Folds
    from spgnn_dgl.data.store import GraphDataset

NUM_FOLDS = 10
SMALLEST_CHANCE = 0.0001  # below it, the approximation behind the number means nothing


@app.command()
def audit(
    datasets: Annotated[
        list[str], typer.Argument(metavar="DATASET…", help="Names or paths, or `paper` for the paper's nine sets.")
    ],
    layers: Annotated[int, typer.Option(help="Rounds of message passing for the ceiling.")] = 4,
    features: Annotated[str, typer.Option(help="What nodes are described by; as for the methods.")] = "auto",
    folds: Annotated[
        int | None,
        typer.Option(
            help="Number of stratified folds, those of `spgnn train` (default 10, or what the classes allow).",
            show_default=False,
        ),
    ] = None,
    folds_file: Annotated[Path | None, typer.Option(help="Stored folds (JSON) instead.", show_default=False)] = None,
    seed: Annotated[int, typer.Option(help="Of the folds.")] = 0,
    group_twins: Annotated[
        bool, typer.Option("--group-twins", help="Make folds that keep graphs that are alike together.")
    ] = False,
    save_folds: Annotated[
        Path | None, typer.Option(help="Write the folds, for `spgnn train --folds-file`.", show_default=False)
    ] = None,
    seconds: Annotated[float, typer.Option(help="Time for the search for isomorphic graphs.")] = 30.0,
    as_json: Annotated[bool, typer.Option("--json", help="Print everything as JSON.")] = False,
) -> None:
    """Count twins, contradictions and odd structure, and the best accuracy that message passing can reach."""
    from spgnn_dgl.data.audit.findings import findings
    from spgnn_dgl.data.audit.report import audit as make_audit
    from spgnn_dgl.data.benchmarks import paper_datasets
    from spgnn_dgl.data.load import load_dataset
    from spgnn_dgl.errors import OptionError

    names = [name for given in datasets for name in (paper_datasets() if given.lower() == "paper" else [given])]
    if len(names) > 1 and (folds_file is not None or save_folds is not None):
        raise OptionError("a file of folds belongs to one dataset, but several were given; audit that one by itself.")
    contents = []
    for number, name in enumerate(names):
        data = load_dataset(name, require_classes=False)
        parts = folds_of(data, folds, folds_file, seed, group_twins)
        report = make_audit(data, layers, parts, features=features, seconds=seconds)
        found = findings(report)
        contents.append({**report.to_json(), "findings": [{"name": f.name, "text": f.text} for f in found]})
        if save_folds is not None:
            if parts is None:
                raise OptionError(f"there are no folds to save: {data.name} needs two graphs of each class for that.")
            parts.save(save_folds)
        if not as_json:
            typer.echo("\n" if number else "", nl=False)
            show(report, found, console())
    if as_json:
        typer.echo(json.dumps(contents if len(names) > 1 else contents[0], indent=1))
    elif save_folds is not None:
        typer.echo(f"folds: {save_folds}")


def folds_of(data: GraphDataset, count: int | None, file: Path | None, seed: int, group_twins: bool) -> Folds | None:
    """The folds that `spgnn train` uses with the same options; None where classes are too few for any."""
    import numpy as np

    from spgnn_dgl.data.audit.twins import twin_groups
    from spgnn_dgl.data.fold_files import load_folds
    from spgnn_dgl.errors import OptionError
    from spgnn_dgl.evaluation.protocols import PROTOCOLS

    if file is not None:
        if group_twins:
            raise OptionError("--group-twins makes new folds, but --folds-file was given too; leave one out.")
        stored = load_folds(file, len(data), allow_missing=True)
        stored.check_dataset(data)
        return stored
    if count is None:
        smallest = int(np.unique(data.labels, return_counts=True)[1].min()) if data.has_labels else 0
        if smallest < 2:
            return None
        count = min(NUM_FOLDS, smallest)
    groups = twin_groups(data) if group_twins else None
    return PROTOCOLS.get("paper").splits(data, count, 1, seed, None, groups)[0]


# ---- on the screen ---------------------------------------------------------------------------------------------------


def show(report: AuditReport, found: list[Finding], out: Console) -> None:
    """Counts, the table of twins by depth, and what is worth knowing."""
    from spgnn_dgl.data.audit.findings import WORDS, percent

    out.print(f"{report.dataset}: {report.graphs} graphs, {WORDS[report.features]}", style="bold", markup=False)
    for title, text in facts(report).items():
        out.print(f"{title}: {text}", markup=False)
    out.print()
    out.print(twin_table(report))
    if report.edge_labels:
        out.print("Edge labels are not compared: no method here reads them.", style="dim")
    if report.across is not None:
        across = report.across
        shares = f"{percent(across.with_twin / across.tested)}, {percent(across.recalled / across.tested)}"
        out.print(
            f"\n{across.folds} folds ({across.source}): tested graphs with a twin in their training part, and those "
            f"that are right by recalling its class: {shares}",
            markup=False,
        )
    out.print("\nworth knowing" if found else "\nnothing else is worth knowing", style="bold")
    for finding in found:
        out.print(f"• {finding.text}", markup=False)


def facts(report: AuditReport) -> dict[str, str]:
    """What stands above the table, in words."""
    from spgnn_dgl.data.audit.findings import percent

    rare = report.rare
    sizes = ", ".join(f"{name}: {size}" for name, size in report.classes.items())
    once = ""
    if rare is not None:
        once = f"{rare.distinct} different, {len(rare.on_one_node)} on one node, {len(rare.in_one_graph)} in one graph"
    order = report.order
    mended = [f"{count} {what.replace('_', ' ')}" for what, count in report.mended.items() if count]
    found = {
        "nodes per graph": _spread(report.nodes),
        "degrees": _spread(report.degrees),
        "nodes without an edge": str(report.isolated_nodes),
        f"{rare.what}s" if rare is not None and rare.what != "degree" else "degree values": once,
        "graphs per class": sizes,
        "majority rate": "" if report.majority is None else percent(report.majority),
        "order of classes": ""
        if order is None
        else f"{order.runs} runs, {order.expected:.1f} expected by chance (p {_chance(order.p)})",
        "mended while reading": ", ".join(mended),
    }
    return {title: text for title, text in found.items() if text}


def _chance(p: float) -> str:
    return f"= {p:.2g}" if p >= SMALLEST_CHANCE else f"< {SMALLEST_CHANCE}"


def _spread(spread: Spread) -> str:
    return f"{spread.smallest} to {spread.largest}, median {spread.median:g}"


def twin_table(report: AuditReport) -> object:
    """A row per number of rounds, one for any number, and one for isomorphism."""
    from rich.table import Table

    from spgnn_dgl.data.audit.findings import percent

    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("rounds of message passing")
    for title in ("different graphs", "with a twin", "largest group", "twin of another class", "ceiling"):
        table.add_column(title, justify="right")

    def add(title: str, counts: TwinCounts, style: str | None = None) -> None:
        contradicting = "–" if counts.contradicting is None else str(counts.contradicting)
        ceiling = "–" if counts.ceiling is None else percent(counts.ceiling)
        numbers = (counts.distinct, counts.with_twin, counts.largest)
        table.add_row(title, *map(str, numbers), contradicting, ceiling, style=style)

    for depth, counts in enumerate(report.by_depth):
        add(str(depth), counts, "bold" if depth == report.layers else None)
    add("any number", report.refined)
    if report.exact is not None:
        add("isomorphic" + (f" ({report.undecided} undecided)" if report.undecided else ""), report.exact)
    return table
