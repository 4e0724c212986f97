"""``spgnn methods``: every method with its options, or one of them in full."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated, Any

import typer

from spgnn_dgl.cli.app import app
from spgnn_dgl.cli.console import console

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

    from spgnn_dgl.methods import Method

KINDS = {
    "gnn": "graph neural networks",
    "two-phase": "two-phase methods",
    "kernel": "graph kernels",
    "floor": "structure-blind floor",
}


@app.command()
def methods(
    name: Annotated[str | None, typer.Argument(help="A method's name; left out, all are listed.")] = None,
) -> None:
    """List the methods with their papers and options, or show one: what it does and what each option means."""
    if name is None:
        list_all(console())
    else:
        show_one(name, console())


def list_all(out: Console) -> None:
    """A table of every method; what all methods of a kind take stands below it, unless their own default differs."""
    from rich.table import Table

    from spgnn_dgl.methods import METHODS

    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("method", no_wrap=True, style="bold")
    table.add_column("kind", no_wrap=True)
    table.add_column("paper", ratio=2)
    table.add_column("options", ratio=5)
    table.add_column("extra needed", no_wrap=True)
    shared: dict[str, dict[str, Any]] = {}
    for kind in sorted({method.kind for _, method in METHODS}, key=_place):
        of_kind = sorted((name, method) for name, method in METHODS if method.kind == kind)
        shared[kind] = common_options(method for _, method in of_kind)
        for name, method in of_kind:
            own = {o: d for o, d in method.options().items() if o not in shared[kind] or shared[kind][o] != d}
            table.add_row(name, kind, method.reference, assignments(own), _extra(method.extra))
    out.print(table)
    for kind, options in shared.items():
        if options:
            out.print(f"\nall {KINDS.get(kind, kind)} also take: {assignments(options)}", markup=False)
    out.print("\nspgnn methods NAME explains one of them; spgnn train DATASET --method NAME -o option=value uses it.")


def show_one(name: str, out: Console) -> None:
    """What a method is, the paper it is from, and a table of its options."""
    from rich.table import Table

    from spgnn_dgl.cli.docstrings import description, parameters
    from spgnn_dgl.methods import METHODS, GNNMethod
    from spgnn_dgl.training import TrainingOptions

    method = METHODS.get(name)
    out.print(f"{METHODS.canonical(name)} ({method.kind})", style="bold", markup=False)
    out.print(description(method), markup=False)
    if method.extra:
        out.print("\nextra needed:", _extra(method.extra))
    documented = [*method.__mro__, *([TrainingOptions] if issubclass(method, GNNMethod) else [])]
    meaning = parameters(*documented)
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("option", no_wrap=True, style="bold")
    table.add_column("default", no_wrap=True)
    table.add_column("meaning")
    for option, default in method.options().items():
        table.add_row(option, repr(default), meaning.get(option, ""))
    out.print()
    out.print(table)


def common_options(methods: Iterable[type[Method]]) -> dict[str, Any]:
    """Options that several methods all have, with the default of most of them; nothing for a single method."""
    first, *others = (method.options() for method in methods)
    if not others:
        return {}
    common = {}
    for option in first:
        if all(option in other for other in others):
            defaults = [options[option] for options in (first, *others)]
            common[option] = max(defaults, key=defaults.count)
    return common


def assignments(options: dict[str, Any]) -> str:
    """``a=1, b='x'``."""
    return ", ".join(f"{option}={default!r}" for option, default in options.items())


def _place(kind: str) -> tuple[int, str]:
    """Known kinds in the order of the table above, others after them."""
    return (list(KINDS).index(kind) if kind in KINDS else len(KINDS), kind)


def _extra(extra: str | None) -> Text:
    """The extra, and the command that installs it where it is missing."""
    from rich.text import Text

    from spgnn_dgl.doctor import Health, check_extras

    if extra is None:
        return Text("")
    finding = next((found for found in check_extras() if found.topic == f"extra {extra}"), None)
    if finding is None or finding.health is Health.GOOD:
        return Text(extra)
    return Text(f"{extra}: {finding.remedy}", style="yellow")
