"""``spgnn faithfulness``."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from spgnn_dgl.cli.app import app
from spgnn_dgl.cli.console import console
from spgnn_dgl.cli.subjects import Data, RunOrModel, TruthFile, opened, seen_note

if TYPE_CHECKING:
    from spgnn_dgl.explain.faithfulness import Faithfulness
    from spgnn_dgl.explain.ground_truth import Agreement


@app.command()
def faithfulness(
    run_or_model: RunOrModel,
    shares: Annotated[str, typer.Option(help="Percent of each graph's nodes.")] = "5,10,20,50",
    explainers: Annotated[str, typer.Option(help="What ranks the nodes.")] = "pooled,random,degree,saliency",
    truth_class: Annotated[
        str | None, typer.Option(help="Compare with ground truth on graphs of this class only.", show_default=False)
    ] = None,
    out: Annotated[Path | None, typer.Option(help="JSON file for all numbers.", show_default=False)] = None,
    seed: Annotated[int, typer.Option(help="Of random nodes, ties and intervals.")] = 0,
    data: Data = None,
    truth_file: TruthFile = None,
) -> None:
    """Measure whether the pooled nodes matter: remove them, keep them alone, compare them with ground truth."""
    from spgnn_dgl.cli.assignments import numbers
    from spgnn_dgl.explain.explainers import EXPLAINERS
    from spgnn_dgl.explain.faithfulness import faithfulness as measure
    from spgnn_dgl.explain.ground_truth import agreement

    names = [name.strip() for name in explainers.split(",")]
    for name in names:
        EXPLAINERS.get(name)
    percents = numbers(shares, "--shares") or ()
    subject = opened(run_or_model, data, truth_file)
    typer.echo(f"{subject.title}: {len(subject.graphs)} graphs, {seen_note(subject)}")
    found = measure(subject, shares=[percent / 100 for percent in percents], explainers=names, seed=seed)
    _print_faithfulness(found, names)
    content = {"faithfulness": dataclasses.asdict(found)}
    if subject.data.arrays.truth is not None:
        judged = subject if truth_class is None else subject.of_class(truth_class)
        agreements = agreement(judged, explainers=names, seed=seed)
        _print_agreement(agreements)
        content["agreement"] = [dataclasses.asdict(a) for a in agreements]  # type: ignore[assignment]
    if out is not None:
        from spgnn_dgl.runs import write_whole

        typer.echo(f"numbers: {write_whole(out, json.dumps(content, indent=1) + chr(10))}")


def _print_faithfulness(found: Faithfulness, names: list[str]) -> None:
    from rich.table import Table

    console().print(
        f"whole graphs: accuracy {found.accuracy}, probability of the true class {found.probability}", markup=False
    )
    for operation, title in (("removed", "highest nodes removed"), ("kept", "highest nodes alone kept")):
        table = Table(
            title=f"{title} (95 % bootstrap intervals over graphs)", title_justify="left", box=None, pad_edge=False
        )
        for column in ("nodes", "by", "accuracy", "against random", "probability"):
            table.add_column(column, justify="left" if column == "by" else "right")
        outcomes = sorted(
            (o for o in found.outcomes if o.operation == operation and o.explainer in {*names, "random"}),
            key=lambda o: (o.share, names.index(o.explainer) if o.explainer in names else -1),
        )
        for o in outcomes:
            against = "" if o.explainer == "random" else str(o.against_random)
            table.add_row(f"{o.share:.0%}", o.explainer, _plain(o.accuracy), _plain(against), _plain(o.probability))
        console().print(table)


def _print_agreement(agreements: tuple[Agreement, ...]) -> None:
    from rich.table import Table

    graphs = agreements[0].auc.n
    table = Table(title=f"against ground truth, {graphs} graphs", title_justify="left", box=None, pad_edge=False)
    for column in ("by", "ROC-AUC", *(f"precision@{k}" for k in agreements[0].precision), "precision@size"):
        table.add_column(column, justify="left" if column == "by" else "right")
    for a in agreements:
        table.add_row(a.explainer, *(_plain(value) for value in (a.auc, *a.precision.values(), a.precision_at_size)))
    console().print(table)


def _plain(value: object) -> str:
    return str(value).replace("[", "\\[")  # brackets mean styles to rich
