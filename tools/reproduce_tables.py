"""Run and render the paper's tables: ``python tools/reproduce_tables.py``. The logic is ``spgnn_dgl/reproduction``.

Without an option it runs the whole plan, finished parts excepted, and renders. ``--dry-run`` says how long that takes,
``--tables`` only renders.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated

import typer

ROOT = Path(__file__).parents[1]
RECORDS, README = ROOT / "docs" / "results", ROOT / "README.md"


def main(
    only: Annotated[
        list[str] | None,
        typer.Option(help="Methods, datasets, protocols or grids: spgnn,gin; several options must all hold."),
    ] = None,
    runs: Annotated[Path, typer.Option(help="Folder of the run folders.")] = Path("runs/paper"),
    folds: Annotated[
        Path | None, typer.Option(help="Folder of stored folds, DATASET.json, for the fair protocol.")
    ] = None,
    jobs: Annotated[int, typer.Option("--jobs", "-j", help="Trainings at a time.")] = 1,
    settle: Annotated[
        bool, typer.Option("--settle", help="Search what the paper leaves open, on inner validation, instead.")
    ] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what each run is expected to take.")] = False,
    tables: Annotated[bool, typer.Option("--tables", help="Only render, from finished runs and records.")] = False,
    records: Annotated[Path, typer.Option(help="Where records and tables are written.")] = RECORDS,
) -> None:
    """Reproduce Tables 1, 2 and 3."""
    from spgnn_dgl.experiment import search
    from spgnn_dgl.reproduction import PLAN, matching
    from spgnn_dgl.reproduction.running import expect, run_tasks
    from spgnn_dgl.reproduction.settling import GRIDS

    if settle:
        for grid in matching(only or [], GRIDS):
            typer.echo(f"{grid.name} on {grid.dataset}")
            search(grid.config(runs / "settling", jobs=jobs))
        return render(PLAN, runs, records)
    tasks = matching(only or [], PLAN)
    if dry_run:
        total = 0.0
        for expected in expect(tasks, runs, folds):
            total += 0 if expected.done else expected.seconds
            typer.echo(f"{expected.task!s:50} {expected.seconds:9.0f} s  {expected.how}")
        typer.echo(f"{'still to do':50} {total:9.0f} s of one core, {total / 3600 / jobs:.1f} h with {jobs} jobs")
        return
    if not tables:
        for task, problem in run_tasks(tasks, runs, jobs=jobs, folds=folds, say=typer.echo):
            typer.echo(f"failed: {task}: {problem}", err=True)
    render(PLAN, runs, records)


def render(plan, runs: Path, records: Path) -> None:  # type: ignore[no-untyped-def]
    """Write the records of finished runs, then the tables and pictures of all records that are there."""
    from spgnn_dgl.reproduction import collect, draw_pictures, read_records, spgnn_row, tables_text
    from spgnn_dgl.reproduction.settling import collect_grids, settling_text
    from spgnn_dgl.runs import write_whole

    written, missing = collect(plan, runs, records)
    written += collect_grids(runs / "settling", records)
    if (records / "settling").is_dir():
        write_whole(records / "settling.md", settling_text(records))
    typer.echo(f"{len(written)} records written, {len(missing)} runs of the plan are not finished")
    found = read_records(records)
    typer.echo(f"tables: {write_whole(records / 'tables.md', tables_text(found))}")
    for picture in draw_pictures(found, records):
        typer.echo(f"picture: {picture}")
    if records == RECORDS:
        front, _, back = re.split(
            r"(?<=<!-- results -->\n\n)(.*?)(?=\n\n<!-- end of results -->)", README.read_text(), flags=re.S
        )
        write_whole(README, front + spgnn_row(found) + back)


if __name__ == "__main__":
    typer.run(main)
