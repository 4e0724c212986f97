"""Arguments that the commands on fitted models share."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from spgnn_dgl.explain.subject import Subject

RunOrModel = Annotated[Path, typer.Argument(metavar="RUN_OR_MODEL", help="A run folder or a model file.")]
Data = Annotated[
    str | None,
    typer.Option("--data", help="Name or path of the graphs (default: those of the run or model).", show_default=False),
]
TruthFile = Annotated[
    Path | None,
    typer.Option(
        "--truth-file",
        help="Text file with one 0 or 1 per line of NAME_A.txt: edges that are known to decide the class.",
        show_default=False,
    ),
]


def opened(path: Path, data: str | None, truth_file: Path | None = None) -> Subject:
    """The subject of a command, with ground truth where a file of it is given."""
    from spgnn_dgl.explain.ground_truth import with_edge_truth
    from spgnn_dgl.explain.subject import open_subject

    subject = open_subject(path, data)
    if truth_file is None:
        return subject
    return dataclasses.replace(subject, data=with_edge_truth(subject.data, truth_file))


def seen_note(subject: Subject) -> str:
    """Whether the models know the graphs, in words."""
    return {
        True: "every graph by a model that was not trained on it",
        False: "graphs that the model was trained on are among them",
        None: "a model file does not say which graphs it was trained on; some of these may be among them",
    }[subject.held_out]
