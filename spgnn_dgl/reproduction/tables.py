"""Tables 1 to 3 out of the records: ours beside the printed number, the bold rule, and what else there is to know."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from spgnn_dgl.data.benchmarks import paper_datasets
from spgnn_dgl.evaluation.protocols import HONEST, OPTIMISTIC
from spgnn_dgl.evaluation.statistics import LEVEL, summary
from spgnn_dgl.evaluation.units import TIMEOUT
from spgnn_dgl.paper import (
    Remark,
    dataset_remarks,
    printed,
    printed_anywhere,
    table_columns,
    table_methods,
    table_remarks,
)
from spgnn_dgl.report.comparison import Cell, Comparison, compare_cells
from spgnn_dgl.report.text import markdown
from spgnn_dgl.reproduction.plan import BUDGET, FLOORS, PLAN, VARIANTS
from spgnn_dgl.reproduction.records import Record, find, in_order_of_the_plan

TITLES = {
    1: "Table 1: SPGNN and graph kernels",
    2: "Table 2: SPGNN and other methods that learn",
    3: "Table 3: the ablation",
}
FURTHER_ROWS: dict[int, tuple[str, ...]] = {1: ("sp", *FLOORS), 2: ("sagpool-global", *FLOORS), 3: ()}
FURTHER_COLUMNS: dict[int, tuple[str, ...]] = {1: (), 2: ("MUTAG",), 3: ()}
FAIR_GIN = {  # Errica et al., A Fair Comparison of Graph Neural Networks for Graph Classification, ICLR 2020, Table 3
    "NCI1": "80.0 ± 1.4", "PROTEINS": "73.3 ± 4.0", "DD": "75.3 ± 2.9", "IMDB-BINARY": "71.2 ± 3.9",
    "IMDB-MULTI": "48.5 ± 3.3",
}  # fmt: skip


def tables_text(records: Sequence[Record]) -> str:
    """All tables as Markdown."""
    parts = ["<!-- made by tools/reproduce_tables.py from the JSON files beside it; do not edit -->"]
    for table, title in TITLES.items():
        parts += [f"### {title}", _table(records, table), _remarks(table_remarks(table))]
    parts += ["### What to know of the datasets", _remarks(dataset_remarks())]
    parts += ["### The paper's selection and the honest one", _selection(records)]
    parts += ["### The fair protocol, on the folds of Errica et al.", _fair(records)]
    parts += ["### What the sentinels said", _sentinels(records)]
    parts += ["### Time", _time(records)]
    return _unbroken("\n\n".join(parts) + "\n")


def _unbroken(text: str) -> str:
    """Keep a deviation together where a narrow column breaks its cells."""
    return text.replace("± ", "±\N{NO-BREAK SPACE}")


def spgnn_row(records: Sequence[Record]) -> str:
    """SPGNN on all datasets beside the printed numbers, for a front page."""
    rows = [
        ["dataset", "printed", "ours, selected as printed", "ours, epoch chosen honestly", "always the largest class"]
    ]
    for dataset in paper_datasets():
        record = find(records, "spgnn", dataset, "paper")
        cell = printed_anywhere("spgnn", dataset)
        ours = [str(cell_of(record, number)) if record else "" for number in (OPTIMISTIC, HONEST)]
        largest = f"{100 * record.majority_rate:.2f}" if record and record.majority_rate is not None else ""
        rows.append([dataset, str(cell), *ours, largest])
    return _unbroken(markdown(rows))


def cell_of(record: Record, number: str) -> Cell:
    """Mean and deviation over all repeats; the scores of the first repeat, whose folds all runs of a dataset share."""
    scores = record.table(number)
    if scores is None:
        text = f"> {BUDGET}" if record.status == TIMEOUT else record.status
        return Cell(record.dataset, record.row, None, None, 0, text)
    shared = len(set(record.folds)) == 1
    how = {"num_train": record.sizes[0], "num_test": record.sizes[1], "tested": 0}
    spread = summary(scores, shared_folds=shared, **how)  # type: ignore[arg-type]
    return Cell(
        record.dataset,
        record.row,
        spread["mean"],
        spread["std_folds"],
        scores.shape[1],
        scores=scores[0],
        folds=record.folds[0],
        sizes=(record.sizes[0], record.sizes[1]),
    )


def _table(records: Sequence[Record], table: int) -> str:
    columns = (*FURTHER_COLUMNS[table], *table_columns(table))
    rows = (*table_methods(table), *FURTHER_ROWS[table])
    cells = [
        cell_of(record, OPTIMISTIC)
        for row in rows
        for dataset in columns
        if (record := find(records, row, dataset, "paper")) is not None
    ]
    comparison = compare_cells(cells)
    lines = [["method", *columns]]
    for row in rows:
        lines.append([f"`{row}`", *(_ours(comparison, dataset, row) for dataset in columns)])
        method = VARIANTS[row][0] if row in VARIANTS else row
        from_paper = [printed(table, method, dataset) for dataset in columns]
        if row not in VARIANTS and any(from_paper):
            lines.append(["*printed*", *(f"*{cell}*" if cell is not None else "" for cell in from_paper)])
    return "\n\n".join([markdown(lines), _significance(comparison)])


def _ours(comparison: Comparison, dataset: str, row: str) -> str:
    cell = comparison.cells.get((dataset, row))
    if cell is None:
        return ""
    return f"**{cell}**" if (dataset, row) in comparison.bold else str(cell)


def _significance(comparison: Comparison) -> str:
    worse: dict[str, list[str]] = {}
    for rival in comparison.rivals:
        if rival.p_holm < LEVEL:
            worse.setdefault(f"{rival.dataset} (best: {rival.best})", []).append(rival.method)
    told_apart = "; ".join(f"{dataset}: {', '.join(methods)}" for dataset, methods in worse.items())
    return (
        f"Significantly below the best one (Nadeau–Bengio, Holm, 5 %): {told_apart}."
        if told_apart
        else "No method is significantly below the best one (Nadeau–Bengio, Holm, 5 %)."
    )


def _remarks(remarks: Sequence[Remark]) -> str:
    """A line each: whose printed numbers it is about, and what."""
    lines = []
    for remark in remarks:
        methods, datasets = ", ".join(f"`{m}`" for m in remark.methods), ", ".join(remark.datasets)
        lines.append(f"* {' on '.join(filter(None, (methods, datasets)))}: {remark.text}")
    return "\n".join(lines)


def _selection(records: Sequence[Record]) -> str:
    lines = [["dataset", "printed", "selected as printed", "std_repeats", "honest", "difference", "repeats"]]
    for dataset in paper_datasets():
        record = find(records, "spgnn", dataset, "paper")
        if record is None or record.table(OPTIMISTIC) is None:
            continue
        reported, honest = cell_of(record, OPTIMISTIC), cell_of(record, HONEST)
        means = [np.mean(row) for row in record.accuracies[OPTIMISTIC]]
        spread = f"{100 * np.std(means, ddof=1):.2f}" if len(means) > 1 else ""
        cell = printed_anywhere("spgnn", dataset)
        difference = (reported.mean or 0) - (honest.mean or 0)
        lines.append(
            [dataset, str(cell), str(reported), spread, str(honest), f"{difference:+.2f}", str(record.repeats)]
        )
    return markdown(lines)


def _fair(records: Sequence[Record]) -> str:
    found = [r for r in records if r.protocol == "fair"]
    if not found:
        return "Not run yet."
    datasets = [d for d in paper_datasets() if d in {t.dataset for t in PLAN if t.protocol == "fair"}]
    lines = [["method", *datasets]]
    for row in dict.fromkeys(t.row for t in PLAN if t.protocol == "fair"):
        own = [find(found, row, dataset, "fair") for dataset in datasets]
        lines.append([f"`{row}`", *(str(cell_of(record, HONEST)) if record else "" for record in own)])
        if row == "gin":
            lines.append(["*GIN, published*", *(f"*{FAIR_GIN[dataset]}*" for dataset in datasets)])
    return markdown(lines)


def _sentinels(records: Sequence[Record]) -> str:
    lines = [
        f"* `{record.row}` on {record.dataset} ({record.protocol}): "
        + ", ".join(f"{name} in {where}" for name, where in sorted(record.sentinels.items()))
        for record in in_order_of_the_plan(records)
        if record.sentinels
    ]
    return "\n".join(lines) or "Nothing."


def _time(records: Sequence[Record]) -> str:
    lines = [["method", "dataset", "protocol", "repeats × folds", "seconds", "seed"]]
    for record in in_order_of_the_plan(records):
        shape = f"{record.repeats} × {len(next(iter(record.accuracies.values()))[0])}" if record.accuracies else "–"
        fields = [f"`{record.row}`", record.dataset, record.protocol, shape, f"{record.seconds:.0f}", str(record.seed)]
        lines.append(fields)
    caption = "Elapsed time of all trainings of a run, added up: one thread each, often beside other work."
    return f"{caption}\n\n{markdown(lines)}"
