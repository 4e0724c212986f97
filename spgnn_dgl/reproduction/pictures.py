"""Pictures of the records: SPGNN among the other methods, and the average ranks of all."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from matplotlib.figure import Figure

from spgnn_dgl.data.benchmarks import paper_datasets
from spgnn_dgl.evaluation.protocols import HONEST, OPTIMISTIC
from spgnn_dgl.paper import printed_anywhere
from spgnn_dgl.report.comparison import Cell, compare_cells
from spgnn_dgl.reproduction.plan import ABLATIONS
from spgnn_dgl.reproduction.records import Record, in_order_of_the_plan
from spgnn_dgl.reproduction.tables import cell_of
from spgnn_dgl.visual.accuracies import Strip, accuracy_strips
from spgnn_dgl.visual.critical_difference import critical_difference
from spgnn_dgl.visual.style import save_figure

OWN, FLOOR = "spgnn", "majority"
ACCURACIES, RANKS = "accuracies.svg", "ranks.svg"


def draw_pictures(records: Sequence[Record], folder: Path) -> list[Path]:
    """Write the pictures that the records suffice for; returns their paths."""
    figures = {ACCURACIES: accuracies(records), RANKS: ranks(records)}
    return [save_figure(figure, folder / name) for name, figure in figures.items() if figure is not None]


def accuracies(records: Sequence[Record]) -> Figure | None:
    """SPGNN among all rows of the tables, the epoch selected as printed; None where it has not been run."""
    strips, cells = [], _cells(records, OPTIMISTIC)
    for dataset in paper_datasets():
        row = {cell.method: cell for cell in cells if cell.dataset == dataset}
        if OWN in row and FLOOR in row:
            own, floor, printed = row.pop(OWN), row.pop(FLOOR), printed_anywhere(OWN, dataset)
            others = {method: cell.mean or 0.0 for method, cell in row.items()}
            printed_mean = printed.mean if printed is not None else None
            strips.append(Strip(dataset, own.mean or 0.0, own.std or 0.0, printed_mean, others, floor.mean or 0.0))
    return accuracy_strips(strips, OWN) if strips else None


def ranks(records: Sequence[Record]) -> Figure | None:
    """Average ranks of all rows but the ablations, the epoch chosen without the tested fold.

    Only datasets count that all of them have; None where there are fewer than two.
    """
    ranking = compare_cells([cell for cell in _cells(records, HONEST) if cell.method not in ABLATIONS]).ranking
    return critical_difference(ranking) if ranking is not None else None


def _cells(records: Sequence[Record], number: str) -> list[Cell]:
    """The finished runs of the paper's protocol."""
    cells = (cell_of(record, number) for record in in_order_of_the_plan(records) if record.protocol == "paper")
    return [cell for cell in cells if cell.mean is not None]
