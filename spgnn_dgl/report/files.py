"""Everything in a run folder besides the records of its units, made from these records."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure

from spgnn_dgl.data.benchmarks import find_benchmark
from spgnn_dgl.evaluation.choices import epoch_accuracies
from spgnn_dgl.evaluation.protocols import HONEST, OPTIMISTIC
from spgnn_dgl.evaluation.results import COMPLETE, assemble, at_epoch
from spgnn_dgl.evaluation.units import DONE, FINAL, checkpoint_name, unit_name
from spgnn_dgl.paper import printed_anywhere
from spgnn_dgl.report.text import headline, report_text
from spgnn_dgl.runs import (
    CHECKPOINTS,
    ENVIRONMENT,
    FIGURES,
    HISTORY,
    PREDICTIONS,
    REPORT,
    RESULTS,
    TIMINGS,
    UNITS,
    RunDir,
    remove,
)
from spgnn_dgl.visual.curves import confusion_matrix, learning_curves
from spgnn_dgl.visual.style import save_figure

Record = dict[str, Any]
FOLDS_OF_THE_PAPER = 10


def write_report(run: RunDir) -> list[Path]:
    """Write results, predictions, history, figures and report; returns the paths of the figures."""
    config, records = run.config, list(run.units())
    finals = [r for r in records if r["stage"] == FINAL and r["status"] == DONE]
    results = assemble(config, records)
    results["paper"] = _printed(results, config)
    timings = {r["unit"]: r["seconds"] for r in records}
    run.write_json(RESULTS, results)
    run.write_json(TIMINGS, {"seconds": timings})
    run.write_text(HISTORY, history_csv(records))
    run.write_text(PREDICTIONS, predictions_csv(finals, results, config["class_names"]))
    figures = [
        save_figure(figure, run.path / FIGURES / name, dpi=150)
        for name, figure in _figures(results, finals, config["class_names"]).items()
    ]
    if results["status"] == COMPLETE:
        _prune_checkpoints(run, results)
    text = report_text(results, config, run.read_json(ENVIRONMENT) or {}, timings, [f.name for f in figures])
    run.write_text(REPORT, text)
    return figures


def _printed(results: dict[str, Any], config: dict[str, Any]) -> dict[str, Any] | None:
    """The paper's number for this method and dataset, with what makes the comparison limp."""
    cell = printed_anywhere(results["method"], results["dataset"])
    if cell is None:
        return None
    remarks = []
    if results["protocol"] != "paper":
        remarks.append("The paper chooses the epoch on the tested folds; this run does not.")
    if config["num_folds"] != FOLDS_OF_THE_PAPER:
        remarks.append(f"The paper has {FOLDS_OF_THE_PAPER} folds; this run has {config['num_folds']}.")
    benchmark = find_benchmark(results["dataset"])
    if benchmark is not None and benchmark.counted.graphs != config["num_graphs"]:
        remarks.append(f"The dataset has {benchmark.counted.graphs} graphs; this run has {config['num_graphs']}.")
    return {
        "table": cell.table,
        "mean": cell.mean,
        "std": cell.std,
        "remark": " ".join([*remarks, cell.remark]).strip(),
    }


def history_csv(records: Sequence[Record]) -> str:
    """One line per epoch of every training."""
    lines = [
        {"unit": r["unit"], "stage": r["stage"], "repeat": r["repeat"], "fold": r["fold"], **line}
        for r in records
        for line in r.get("history", ())
    ]
    keys = ("unit", "stage", "repeat", "fold", "epoch", "loss", "accuracy")
    return _csv((*keys, "validation_loss", "validation_accuracy", "seconds"), lines)


def predictions_csv(finals: Sequence[Record], results: dict[str, Any], class_names: Sequence[str]) -> str:
    """One line per tested graph and repeat: true class, predicted class, and the probability of each class.

    Under the paper's selection the prediction at the honestly chosen epoch stands beside it.
    """
    views = list(results["numbers"])
    done = [fold for fold in results["folds"] if fold["status"] == DONE]
    epochs = {(fold["repeat"], fold["fold"]): [fold[view]["epoch"] for view in views] for fold in done}
    columns = ["predicted", "predicted_honest"][: len(views)]
    lines = []
    for record in finals:
        chosen = [at_epoch(record, epoch) for epoch in epochs[record["repeat"], record["fold"]]]
        for i, (graph, label) in enumerate(zip(record["graphs"], record["labels"])):
            line = {"graph": graph, "repeat": record["repeat"], "fold": record["fold"], "true": class_names[label]}
            line |= {column: class_names[int(p[i].argmax())] for column, p in zip(columns, chosen)}
            line |= {f"p({name})": repr(float(p)) for name, p in zip(class_names, chosen[0][i])}
            lines.append(line)
    lines.sort(key=lambda line: (line["repeat"], line["graph"]))
    return _csv(("graph", "repeat", "fold", "true", *columns, *(f"p({c})" for c in class_names)), lines)


def _csv(keys: Sequence[str], lines: Sequence[dict[str, Any]]) -> str:
    text = io.StringIO()
    writer = csv.DictWriter(text, keys, lineterminator="\n")
    writer.writeheader()
    writer.writerows(lines)
    return text.getvalue()


def _figures(results: dict[str, Any], finals: Sequence[Record], class_names: Sequence[str]) -> dict[str, Figure]:
    name = headline(results)
    if name is None:
        return {}
    title = f"{results['method']} on {results['dataset']}"
    figures = {}
    histories = [r["history"] for r in finals if r["history"]]
    if histories:
        tested: dict[int, list[float]] = {}
        for record in finals:
            for epoch, accuracy in epoch_accuracies(record).items():
                tested.setdefault(epoch, []).append(accuracy)
        figures["curves.png"] = learning_curves(
            histories,
            {epoch: values for epoch, values in tested.items() if len(values) == len(finals)},
            title=title,
            majority=results["majority_rate"],
            chosen=results["epochs"]["chosen"].get(OPTIMISTIC, ()),
        )
    figures["confusion.png"] = confusion_matrix(results["numbers"][name]["confusion"], class_names, title=title)
    return figures


def _prune_checkpoints(run: RunDir, results: dict[str, Any]) -> None:
    """Keep the model of the reported epoch of each training; the others were kept only until it was known."""
    name = headline(results) or HONEST
    kept = {checkpoint_name(unit_name(FINAL, f["repeat"], f["fold"]), f[name]["epoch"]) for f in results["folds"]}
    for path in [*(run.path / CHECKPOINTS).glob("*.safetensors"), *(run.path / UNITS).glob("*.safetensors")]:
        if path.relative_to(run.path).as_posix() not in kept:
            remove(path)
