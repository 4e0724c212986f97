"""``spgnn datasets``: what there is, and what is known of one of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from spgnn_dgl.cli.app import app
from spgnn_dgl.cli.console import console

if TYPE_CHECKING:
    from rich.console import Console

    from spgnn_dgl.data.benchmarks import Counts
    from spgnn_dgl.data.store import GraphDataset


@app.command()
def datasets(
    name: Annotated[str | None, typer.Argument(help="A dataset's name or path; left out, all are listed.")] = None,
) -> None:
    """List the datasets, or show one: counted statistics beside the paper's, and a histogram of sizes."""
    from spgnn_dgl.data.load import load_dataset

    if name is None:
        list_all(console())
    else:
        show_one(load_dataset(name, require_classes=False), console())


# ---- all of them ----------------------------------------------------------------------------------------------------


def list_all(out: Console) -> None:
    """A table of every dataset that is here, and of the benchmarks that could be fetched."""
    from rich.table import Table
    from rich.text import Text

    from spgnn_dgl.data.benchmarks import BENCHMARKS, count
    from spgnn_dgl.data.load import known_datasets, load_dataset
    from spgnn_dgl.errors import SpgnnError

    table = Table("dataset", "where it is", box=None, pad_edge=False, header_style="bold")
    for title in ("graphs", "classes", "avg nodes", "avg edges"):
        table.add_column(title, justify="right", no_wrap=True)
    table.add_column("node features", no_wrap=True)

    here = known_datasets()
    with out.status("reading") as status:
        for name, place in here.items():
            status.update(f"reading {name}")
            try:
                data = load_dataset(name, require_classes=False)
            except SpgnnError as problem:
                table.add_row(name, Text(f"{place}: {problem}", style="red"))
                continue
            table.add_row(name, place, *_sizes(count(data)), features_of(data))
    for name, benchmark in BENCHMARKS:
        if name not in here:
            labels = f"labels ({benchmark.counted.node_labels})" if benchmark.counted.node_labels else "degree"
            table.add_row(name, f"spgnn fetch {name}", *_sizes(benchmark.counted), labels, style="dim")
    out.print(table)


def _sizes(counts: Counts) -> list[str]:
    return [str(counts.graphs), str(counts.classes), f"{counts.avg_nodes:.2f}", f"{counts.avg_edges:.2f}"]


def features_of(data: GraphDataset) -> str:
    """What the nodes carry, in words."""
    parts = []
    if data.num_node_labels:
        parts.append(f"labels ({data.num_node_labels})")
    if data.num_attributes:
        parts.append(f"attributes ({data.num_attributes})")
    return " + ".join(parts) or "degree"


# ---- one of them ----------------------------------------------------------------------------------------------------


def show_one(data: GraphDataset, out: Console) -> None:
    """Statistics, the paper's beside them where it has them, what was mended, and how large the graphs are."""
    from rich.table import Table

    from spgnn_dgl.cli.histogram import histogram_lines
    from spgnn_dgl.data.benchmarks import count, find_benchmark

    benchmark = find_benchmark(data.name)
    printed = benchmark.printed if benchmark else None
    counted = count(data)
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column(data.name)
    table.add_column("counted", justify="right")
    if printed:
        table.add_column("in the paper", justify="right")
    for what in ("graphs", "classes", "max_nodes", "avg_nodes", "avg_edges", "node_labels"):
        found, said = getattr(counted, what), getattr(printed, what, None)
        cells = [_number(found), *([_number(said)] if printed else [])]
        table.add_row(what.replace("_", " "), *cells, style="yellow" if printed and found != said else None)
    out.print(table)
    if printed and benchmark and benchmark.remark:
        out.print(f"\nRemark: {benchmark.remark}", markup=False)
    elif benchmark and benchmark.remark:
        out.print(f"\n{benchmark.remark}", markup=False)
    out.print()
    for title, text in facts(data).items():
        out.print(f"{title}: {text}", markup=False)
    out.print("\nnodes per graph", style="bold")
    for line in histogram_lines(data.node_counts, width=max(10, min(60, out.width - 30))):
        out.print(line, markup=False, no_wrap=True)


def _number(value: Any) -> str:
    return f"{value:.2f}" if isinstance(value, float) else str(value)


def facts(data: GraphDataset) -> dict[str, str]:
    """What a table of numbers does not say."""
    import numpy as np

    from spgnn_dgl.data.arrays import UNKNOWN_CLASS

    sizes = {str(name): int((data.labels == code).sum()) for code, name in enumerate(data.meta.class_names)}
    unknown = int(np.sum(data.labels == UNKNOWN_CLASS))
    classes = [f"{name}: {size}" for name, size in sizes.items()] + ([f"unknown: {unknown}"] if unknown else [])
    mended = [f"{count} {what.replace('_', ' ')}" for what, count in data.meta.mended.items() if count]
    found = {
        "graphs per class": ", ".join(classes),
        "node features": features_of(data),
        "edges": ("directed" if data.meta.directed else "undirected")
        + (f", {len(data.meta.edge_label_names)} labels" if data.arrays.edge_labels is not None else ""),
        "domain": data.meta.domain or "",
        "known motif nodes": f"{int(data.arrays.truth.sum())}" if data.arrays.truth is not None else "",
        "mended": ", ".join(mended),
        "source": data.meta.source,
        "fingerprint": data.fingerprint[:16],
    }
    return {title: text for title, text in found.items() if text}
