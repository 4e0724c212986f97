"""Runs side by side: which method is best on each dataset, and what can be told apart."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from spgnn_dgl.data.benchmarks import paper_datasets
from spgnn_dgl.errors import OptionError, RunError
from spgnn_dgl.evaluation.protocols import HONEST
from spgnn_dgl.evaluation.results import COMPLETE
from spgnn_dgl.evaluation.statistics import LEVEL, Ranking, corrected_t_test, holm, rank_methods, welch
from spgnn_dgl.paper import TABLES
from spgnn_dgl.report.text import headline
from spgnn_dgl.runs import RunDir

WITHIN_POINTS = 0.2  # of the bold rule of the paper's tables
PRINTED = "printed"  # suffix of a row that comes from the paper
PRINTED_N = 10  # folds behind a printed deviation


@dataclass(frozen=True, eq=False)
class Cell:
    """One method on one dataset; accuracies in percent.

    `scores` are those of the folds, in their order, where the run is ours; `folds` tells which folds they are. A cell
    without a mean says why in `text`.
    """

    dataset: str
    method: str
    mean: float | None
    std: float | None
    n: int
    text: str = ""
    scores: np.ndarray | None = None
    folds: str = ""
    sizes: tuple[float, float] = (0.0, 0.0)  # average training and tested graphs of a fold
    where: str = ""

    def __str__(self) -> str:
        if self.mean is None:
            return self.text
        return f"{self.mean:.2f}" if self.std is None else f"{self.mean:.2f} ± {self.std:.2f}"


@dataclass(frozen=True)
class Rival:
    """A method against the best one of a dataset: the test, its p-value, and that after Holm's correction."""

    dataset: str
    best: str
    method: str
    difference: float  # points behind the best
    test: str
    p: float
    p_holm: float


@dataclass(frozen=True)
class Comparison:
    """A table of datasets × methods with what was tested."""

    datasets: tuple[str, ...]
    methods: tuple[str, ...]
    cells: dict[tuple[str, str], Cell]
    bold: frozenset[tuple[str, str]]
    rivals: tuple[Rival, ...]
    ranking: Ranking | None
    no_ranking: str  # why there is none
    notes: tuple[str, ...]


def compare_runs(
    runs: Sequence[RunDir], *, number: str = "reported", printed: bool = False, unpaired: bool = False
) -> Comparison:
    """Compare finished runs.

    Parameters
    ----------
    number
        ``"reported"``: each run's own number, optimistic under the paper protocol. ``"honest"``: the epoch chosen
        without the tested fold.
    printed
        Add the paper's rows for the datasets and methods of the runs.
    unpaired
        Use Welch's test where runs have different folds, instead of refusing.
    """
    if number not in ("reported", HONEST):
        raise OptionError(f"number '{number}' was given; known: reported, {HONEST}.")
    cells = _label([_cell(run, number) for run in runs])
    if printed:
        cells += _printed_cells(cells)
    return compare_cells(cells, unpaired=unpaired, notes=_notes(runs, number))


def compare_cells(cells: Sequence[Cell], *, unpaired: bool = False, notes: Sequence[str] = ()) -> Comparison:
    """Compare cells, one per dataset and method; see :func:`compare_runs`."""
    table = {(cell.dataset, cell.method): cell for cell in cells}
    datasets = tuple(sorted({c.dataset for c in cells}, key=_paper_order))
    methods = tuple(dict.fromkeys(c.method for c in cells))
    bold: set[tuple[str, str]] = set()
    rivals: list[Rival] = []
    for dataset in datasets:
        row = [c for c in cells if c.dataset == dataset and c.mean is not None]
        if row:
            found = _against_best(row, unpaired)
            rivals += found
            bold |= {(dataset, found[0].best if found else row[0].method)}
            bold |= {(dataset, r.method) for r in found if r.difference < WITHIN_POINTS and r.p_holm >= LEVEL}
    ranking, why = _ranking(datasets, methods, table)
    return Comparison(datasets, methods, table, frozenset(bold), tuple(rivals), ranking, why, tuple(notes))


def _cell(run: RunDir, number: str) -> Cell:
    config, results = run.config, run.results
    label, where = run.path.resolve().parent.name, str(run.path)
    if not label.startswith(config["method"]):  # the folder was moved or renamed
        label = config["method"]
    view = HONEST if number == HONEST else headline(results)
    if results["status"] != COMPLETE or view is None:
        return Cell(results["dataset"], label, None, None, 0, results["status"], where=where)
    numbers = results["numbers"][view]
    table = np.array(numbers["fold_accuracies"], dtype=np.float64) * 100  # (R, F)
    scores = table.mean(axis=0) if config["shared_folds"] else table.reshape(-1)
    accuracy = numbers["accuracy"]
    std = None if accuracy["std_folds"] is None else 100 * accuracy["std_folds"]
    return Cell(
        results["dataset"],
        label,
        100 * accuracy["mean"],
        std,
        len(scores),
        scores=scores,
        folds=f"{config['fingerprint']}/{config['folds']}",
        sizes=(results["graphs"]["train"], results["graphs"]["test"]),
        where=where,
    )


def _label(cells: Sequence[Cell]) -> list[Cell]:
    """Tell runs of one method apart by protocol and seed, where a dataset has several."""
    names = [(c.dataset, c.method) for c in cells]
    twice = {method for dataset, method in names if names.count((dataset, method)) > 1}
    labelled = []
    for cell in cells:
        name = f"{cell.method} {cell.where.rstrip('/').rpartition('/')[2]}" if cell.method in twice else cell.method
        labelled.append(Cell(**{**cell.__dict__, "method": name}))
    names = [(c.dataset, c.method) for c in labelled]
    same = next((cell for cell, name in zip(labelled, names) if names.count(name) > 1), None)
    if same is not None:
        places = ", ".join(c.where for c in labelled if (c.dataset, c.method) == (same.dataset, same.method))
        raise RunError(f"several runs of {same.method} on {same.dataset} were given: {places}. Give one of them.")
    return labelled


def _printed_cells(cells: Sequence[Cell]) -> list[Cell]:
    datasets, methods = {c.dataset for c in cells}, {c.method.partition("@")[0].split()[0] for c in cells}
    rows: dict[tuple[str, str], Cell] = {}
    for cell in TABLES.values():
        if cell.dataset in datasets and cell.method in methods:
            name = f"{cell.method} ({PRINTED})"
            if cell.mean is not None or (cell.dataset, name) not in rows:
                made = Cell(cell.dataset, name, cell.mean, cell.std, PRINTED_N, cell.text)
                rows.setdefault((cell.dataset, name), made)
    return list(rows.values())


def _against_best(row: Sequence[Cell], unpaired: bool) -> list[Rival]:
    """Every other method of a dataset against the best one, p-values corrected for their number."""
    best = max(row, key=lambda c: (c.mean or 0.0, c.method))
    found: list[tuple[Cell, str, float]] = []
    for cell in row:
        if cell is best:
            continue
        if best.scores is not None and cell.scores is not None and best.folds == cell.folds and best.n > 1:
            how = {"num_train": best.sizes[0], "num_test": best.sizes[1]}
            found.append((cell, "Nadeau–Bengio", corrected_t_test(best.scores, cell.scores, **how).p))
        elif best.scores is not None and cell.scores is not None and best.folds != cell.folds and not unpaired:
            raise RunError(
                f"'{best.where}' and '{cell.where}' were tested on different folds of {cell.dataset}: their results "
                "cannot be paired. Run them with the same --seed, --folds and --repeats, or the same --folds-file; "
                "--unpaired compares means and deviations only (Welch)."
            )
        elif best.std is None or cell.std is None:
            found.append((cell, "none: no deviation", float("nan")))
        else:
            result = welch(best.mean or 0.0, best.std, best.n, cell.mean or 0.0, cell.std, cell.n)
            found.append((cell, "Welch", result.p))
    tested = [p for _, _, p in found if not np.isnan(p)]
    adjusted = iter(holm(tested))
    return [
        Rival(
            cell.dataset,
            best.method,
            cell.method,
            difference=(best.mean or 0.0) - (cell.mean or 0.0),
            test=test,
            p=p,
            p_holm=p if np.isnan(p) else next(adjusted),
        )
        for cell, test, p in found
    ]


def _ranking(
    datasets: Sequence[str], methods: Sequence[str], table: dict[tuple[str, str], Cell]
) -> tuple[Ranking | None, str]:
    complete = [d for d in datasets if all((d, m) in table and table[d, m].mean is not None for m in methods)]
    if len(methods) < 2 or len(complete) < 2:
        return None, (
            f"average ranks need two methods on two datasets that all of them have; here are {len(methods)} methods "
            f"and {len(complete)} such datasets"
        )
    means = np.array([[table[d, m].mean for m in methods] for d in complete], dtype=np.float64)
    return rank_methods(methods, means), ""


def _paper_order(dataset: str) -> tuple[int, str]:
    known = paper_datasets()
    return (known.index(dataset) if dataset in known else len(known), dataset)


def _notes(runs: Sequence[RunDir], number: str) -> tuple[str, ...]:
    protocols = {run.config["protocol"] for run in runs}
    notes = []
    if number == "reported" and "paper" in protocols:
        notes.append("Runs of the paper protocol: the epoch was chosen on the tested folds (optimistic).")
        if len(protocols) > 1:
            notes.append("Protocols are mixed: optimistic and honest numbers stand side by side; see --number honest.")
    warned: dict[str, list[str]] = {}
    for run in runs:
        for found in run.results["sentinels"]:
            warned.setdefault(found["name"], []).append(f"{run.config['method']} on {run.config['dataset']}")
    notes += [f"{name}: {', '.join(dict.fromkeys(places))}." for name, places in sorted(warned.items())]
    return tuple(notes)
