"""``spgnn new``: a starting file for a dataset, a conv, a readout or a method of the user's own."""

from __future__ import annotations

import re
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import TYPE_CHECKING, Annotated, Any

import typer

from spgnn_dgl.cli.app import app

if TYPE_CHECKING:
    from spgnn_dgl.registry import Registry

TRY = {
    "dataset": "train {name} --folds 3 --epochs 2",
    "conv": "train MOTIFS -o conv={name} --folds 3 --epochs 2",
    "readout": "train MOTIFS -o readout={name} --folds 3 --epochs 2",
    "method": "train MOTIFS --method {name} --folds 3 --epochs 2",
}
"""Kind of thing → how it is tried at once."""


@app.command()
def new(
    kind: Annotated[str, typer.Argument(metavar="KIND", help="dataset, conv, readout or method.")],
    name: Annotated[str, typer.Argument(metavar="NAME", help="The name it will be used by.")],
    out: Annotated[Path | None, typer.Option(help="File to write (default: NAME.py here).", show_default=False)] = None,
) -> None:
    """Write a commented starting file that already runs, and say how to run it."""
    path = write_template(kind, name, out)
    typer.echo(f"wrote {path}")
    typer.echo(f"try it: spgnn --plugin {path} {TRY[kind].format(name=name)}")


def write_template(kind: str, name: str, out: Path | None = None) -> Path:
    """Write the starting file and return its path; nothing that is there is overwritten."""
    from spgnn_dgl.errors import OptionError
    from spgnn_dgl.registry import did_you_mean

    if kind not in TRY:
        raise OptionError(f"unknown kind '{kind}'.{did_you_mean(kind, TRY)} Known: {', '.join(TRY)}.")
    if not re.fullmatch(r"[A-Za-z][\w-]*", name):
        raise OptionError(f"'{name}' cannot be a name; use letters, digits, '-' and '_', beginning with a letter.")
    if _is_taken(kind, name):
        raise OptionError(f"there is a {kind} called '{name}' already; choose another name.")
    # the file of a dataset keeps its spelling: in the data home, it is the name of the dataset
    path = out or Path(f"{name if kind == 'dataset' else name.lower().replace('-', '_')}.py")
    if path.exists():
        raise OptionError(f"{path} exists; it is not overwritten. Choose another name, or another file with --out.")
    class_name = "".join(part[:1].upper() + part[1:] for part in re.split(r"[-_]+", name))
    template = Template((files("spgnn_dgl") / "templates" / f"{kind}.py.txt").read_text(encoding="utf-8"))
    text = template.substitute(name=name, class_name=class_name, file=path.name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def _is_taken(kind: str, name: str) -> bool:
    from spgnn_dgl import CONVS, DATASETS, METHODS, READOUTS
    from spgnn_dgl.data.benchmarks import find_benchmark

    if kind == "dataset":
        return name in DATASETS or find_benchmark(name) is not None
    registries: dict[str, Registry[Any]] = {"conv": CONVS, "readout": READOUTS, "method": METHODS}
    return name in registries[kind]
