"""The ``spgnn`` command: its global options, and how errors reach the user."""

from __future__ import annotations

import logging
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from spgnn_dgl.errors import SpgnnError

USER_ERROR = 2
"""Exit code for a mistake the user can mend; click uses the same for wrong options."""
INTERRUPTED = 130
"""Exit code after Ctrl-C, as a shell gives it."""

app = typer.Typer(
    name="spgnn",
    help="Graph classification on DGL: SPGNN and every method it is compared with.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@dataclass
class Session:
    """What the global options of this call say."""

    debug: bool = False


session = Session()


def _version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        typer.echo(f"spgnn_dgl {version('spgnn_dgl')}")
        raise typer.Exit


@app.callback()
def options(
    debug: Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")] = False,
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="Show what the library logs.")] = False,
    data_home: Annotated[
        Path | None,
        typer.Option(help="Folder of the datasets (default: $SPGNN_DATASETS, else datasets/).", show_default=False),
    ] = None,
    plugin: Annotated[
        list[str] | None,
        typer.Option(
            metavar="FILE.py",
            help="Python file (or module) of your own that registers datasets, convs, readouts or methods.",
            show_default=False,
        ),
    ] = None,
    version: Annotated[
        bool, typer.Option("--version", help="Show the version and leave.", callback=_version, is_eager=True)
    ] = False,
) -> None:
    session.debug = debug
    if data_home is not None:
        # the environment, because worker processes must look in the same place
        os.environ["SPGNN_DATASETS"] = str(data_home.expanduser())
    _show_logs(logging.INFO if verbose else logging.WARNING)
    for name in plugin or ():
        from spgnn_dgl.plugins import load_plugin

        load_plugin(name)


def _show_logs(level: int) -> None:
    from rich.console import Console
    from rich.logging import RichHandler

    logger = logging.getLogger("spgnn_dgl")
    logger.setLevel(level)
    logger.handlers = [RichHandler(console=Console(stderr=True), show_time=False, show_path=False)]
    logger.propagate = False


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line; a user's mistake becomes one message on stderr and exit code 2."""
    session.debug = False
    logger = logging.getLogger("spgnn_dgl")
    before = logger.level, logger.handlers, logger.propagate
    try:
        app(args=arguments, prog_name="spgnn")
    except SpgnnError as error:
        if session.debug:
            raise
        typer.echo(f"{typer.style('error:', fg='red', bold=True)} {error}", err=True)
        raise SystemExit(USER_ERROR) from None
    finally:  # whoever calls this from Python keeps the logging they had
        logger.level, logger.handlers, logger.propagate = before
