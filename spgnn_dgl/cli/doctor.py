"""``spgnn doctor``."""

from __future__ import annotations

import typer

from spgnn_dgl.cli.app import app
from spgnn_dgl.cli.console import console


@app.command()
def doctor() -> None:
    """Check the install: versions, DGL, device, data home, extras. Exits with 1 when something is broken."""
    from rich.table import Table
    from rich.text import Text

    from spgnn_dgl.doctor import Health, examine

    marks = {
        Health.GOOD: Text("ok", style="green"),
        Health.NOTE: Text("note", style="yellow"),
        Health.BROKEN: Text("broken", style="bold red"),
    }
    findings = examine()
    table = Table(box=None, pad_edge=False, show_header=False)
    for finding in findings:
        text = Text(finding.text)
        if finding.remedy:
            text.append(f"\n→ {finding.remedy}", style="cyan")
        table.add_row(marks[finding.health], Text(finding.topic, style="bold"), text)
    console().print(table)
    if any(finding.health is Health.BROKEN for finding in findings):
        raise typer.Exit(1)
