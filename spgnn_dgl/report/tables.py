"""A comparison as a table in Markdown, LaTeX or CSV."""

from __future__ import annotations

import csv
import io
import math

from spgnn_dgl.errors import OptionError
from spgnn_dgl.report.comparison import Comparison, Rival
from spgnn_dgl.report.text import markdown

FORMATS = ("md", "latex", "csv")


def render(comparison: Comparison, format_: str = "md") -> str:
    """The table with its tests and ranks; ``"csv"`` is one line per cell."""
    writers = {"md": _markdown, "latex": _latex, "csv": _csv}
    if format_ not in writers:
        raise OptionError(f"format '{format_}' was given; known: {', '.join(FORMATS)}.")
    return writers[format_](comparison)


def _markdown(comparison: Comparison) -> str:
    rows = [["method", *comparison.datasets]]
    for method in comparison.methods:
        cells = []
        for dataset in comparison.datasets:
            cell = comparison.cells.get((dataset, method))
            text = "–" if cell is None else str(cell)
            cells.append(f"**{text}**" if (dataset, method) in comparison.bold else text)
        rows.append([method, *cells])
    parts = [markdown(rows), "Accuracy in percent ± deviation over folds. " + _rule()]
    if comparison.rivals:
        tests = [["dataset", "best", "rival", "points behind", "test", "p", "p (Holm)"]]
        tests += [
            [r.dataset, r.best, r.method, f"{r.difference:.2f}", r.test, _p(r.p), _p(r.p_holm)]
            for r in comparison.rivals
        ]
        parts.append(markdown(tests))
    parts.append(_ranks(comparison))
    parts += [f"* {note}" for note in comparison.notes]
    return "\n\n".join(parts) + "\n"


def _rule() -> str:
    return "Bold: the best, and what is within 0.2 points of it and cannot be told apart at 5 %."


def _ranks(comparison: Comparison) -> str:
    ranking = comparison.ranking
    if ranking is None:
        return f"No average ranks: {comparison.no_ranking}."
    order = sorted(zip(ranking.ranks, ranking.methods))
    friedman = "" if ranking.friedman_p is None else f", Friedman p = {_p(ranking.friedman_p)}"
    return (
        f"Average ranks over {ranking.num_datasets} datasets: {', '.join(f'{m} {r:.2f}' for r, m in order)} (critical "
        f"difference {ranking.critical_difference:.2f}, Nemenyi at 5 %{friedman})."
    )


def _p(value: float) -> str:
    return "–" if math.isnan(value) else "< 0.001" if value < 0.001 else f"{value:.3f}"


def _latex(comparison: Comparison) -> str:
    lines = [
        r"\begin{tabular}{l" + "c" * len(comparison.datasets) + "}",
        r"\toprule",
        " & ".join(["Method", *map(_tex, comparison.datasets)]) + r" \\",
        r"\midrule",
    ]
    for method in comparison.methods:
        cells = [_tex(method)]
        for dataset in comparison.datasets:
            cell = comparison.cells.get((dataset, method))
            if cell is None or cell.mean is None:
                cells.append(_tex(cell.text) if cell is not None else "--")
                continue
            bold = (dataset, method) in comparison.bold
            numbers = [f"{cell.mean:.2f}"] + ([] if cell.std is None else [f"{cell.std:.2f}"])
            cells.append(r" $\pm$ ".join(rf"\textbf{{{n}}}" if bold else n for n in numbers))
        lines.append(" & ".join(cells) + r" \\")
    lines += [r"\bottomrule", r"\end{tabular}"]
    notes = [_rule(), _ranks(comparison), *(_test(r) for r in comparison.rivals), *comparison.notes]
    return "\n".join([*lines, *(f"% {note}" for note in notes)]) + "\n"


def _test(rival: Rival) -> str:
    return (
        f"{rival.dataset}: {rival.method} is {rival.difference:.2f} points behind {rival.best}, {rival.test}, "
        f"p = {_p(rival.p)}, p (Holm) = {_p(rival.p_holm)}"
    )


def _tex(text: str) -> str:
    special = {"&": r"\&", "%": r"\%", "_": r"\_", "#": r"\#", "–": "--", "±": r"$\pm$", ">": "$>$", "<": "$<$"}
    return "".join(special.get(c, c) for c in text)


def _csv(comparison: Comparison) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(
        ["dataset", "method", "mean", "std_folds", "n", "bold", "best", "points_behind", "test", "p", "p_holm"]
    )
    tested = {(r.dataset, r.method): r for r in comparison.rivals}
    for (dataset, method), cell in comparison.cells.items():
        rival = tested.get((dataset, method))
        outcome = [rival.best, rival.difference, rival.test, rival.p, rival.p_holm] if rival else [""] * 5
        mean = cell.text if cell.mean is None else cell.mean
        bold = int((dataset, method) in comparison.bold)
        writer.writerow([dataset, method, mean, "" if cell.std is None else cell.std, cell.n, bold, *outcome])
    return text.getvalue()
