"""``report.md``: the honesty card, the warnings, the folds, and how the run was made."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from spgnn_dgl.evaluation.metrics import NAMES
from spgnn_dgl.evaluation.protocols import HONEST, OPTIMISTIC, PROTOCOLS
from spgnn_dgl.evaluation.results import COMPLETE
from spgnn_dgl.evaluation.sentinels import SENTINELS
from spgnn_dgl.evaluation.units import DONE
from spgnn_dgl.runs import FIGURES

Results = Mapping[str, Any]
TITLES = {OPTIMISTIC: "paper's selection (optimistic)", HONEST: "epoch chosen without the tested fold"}
METRICS = dict(zip(NAMES, ("mean accuracy", "balanced accuracy", "macro F1", "ROC-AUC")))


def headline(results: Results) -> str | None:
    """Name of the number that a run stands for: the paper's selection where it was made, else the honest one."""
    return next((name for name in (OPTIMISTIC, HONEST) if name in results["numbers"]), None)


def percent(value: float | None) -> str:
    """A share as a percentage with two digits.

    >>> percent(0.84394), percent(None)
    ('84.39', '–')
    """
    return "–" if value is None else f"{100 * value:.2f}"


def markdown(rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table; the first row is its head."""
    head, *body = ["| " + " | ".join(row) + " |" for row in rows]
    return "\n".join([head, "|" + "---|" * len(rows[0]), *body])


def headline_lines(results: Results) -> list[str]:
    """The card in a few lines, for a terminal."""
    lines = [f"{results['method']} on {results['dataset']}, {results['protocol']} protocol: {results['status']}"]
    for name, numbers in results["numbers"].items():
        accuracy = numbers["accuracy"]
        spreads = [
            f", {key} {percent(accuracy[key])} (n = {accuracy[count]})"
            for key, count in (("std_folds", "num_folds"), ("std_repeats", "num_repeats"))
            if accuracy[key] is not None
        ]
        lines.append(f"  {TITLES[name]}: {percent(accuracy['mean'])} %{''.join(spreads)}")
    lines.append(f"  majority rate: {percent(results['majority_rate'])} %")
    if results["paper"] is not None:
        lines.append(f"  printed in the paper: {results['paper']['mean']:.2f} ± {results['paper']['std']:.2f} %")
    return lines + [
        f"  warning: {found['name']} in {found['trainings']} of {found['of']} trainings: {found['message']}"
        for found in results["sentinels"]
    ]


def report_text(
    results: Results, config: Results, environment: Results, timings: Mapping[str, float], figures: Sequence[str]
) -> str:
    """The whole report.

    Parameters
    ----------
    results, config, environment
        Contents of the JSON files of a run folder.
    timings
        Unit → seconds.
    figures
        Names of files in the folder's ``figures``.
    """
    parts = [
        f"# {results['method']} on {results['dataset']}: {results['protocol']} protocol, seed {results['seed']}",
        _status(results, config),
        "## Honesty card",
        _card(results),
        PROTOCOLS.get(results["protocol"]).explanation,
        "## Sentinels",
        _sentinels(results),
        _data(environment),
        "## Pictures" if figures else "",
        "\n\n".join(f"![{name}]({FIGURES}/{name})" for name in figures),
        "## Confusion matrix",
        _confusion(results, config["class_names"]),
        "## Folds",
        _folds(results),
        "## How it was made",
        _making(results, config, environment, timings),
    ]
    return "\n\n".join(filter(None, parts)) + "\n"


def _data(environment: Results) -> str:
    """What the audit said before the training."""
    remarks = environment.get("dataset", {}).get("remarks", [])
    return "\n".join(["## The data", "", *(f"* {remark}" for remark in remarks)]) if remarks else ""


def _status(results: Results, config: Results) -> str:
    if results["status"] == COMPLETE:
        return ""
    finished = sum(fold["status"] == DONE for fold in results["folds"])
    reasons = sorted({fold["message"] for fold in results["folds"] if fold["status"] != DONE})
    return (
        f"**Status: {results['status']}.** {finished} of {config['repeats'] * config['num_folds']} trainings finished; "
        f"the numbers are those of the finished ones. {' '.join(reasons)}"
    ).strip()


def _card(results: Results) -> str:
    numbers = results["numbers"]
    if not numbers:
        return "No training has finished."
    rows = [["percent", *(TITLES[name] for name in numbers)]]
    for metric, title in METRICS.items():
        rows.append([title, *(percent(n[metric]["mean"]) for n in numbers.values())])
        if metric == "accuracy":
            rows += _spreads([n[metric] for n in numbers.values()])
    rows.append(["majority rate", *[percent(results["majority_rate"])] * len(numbers)])
    kind = next(iter(numbers.values()))["accuracy"]["interval_kind"]
    return "\n\n".join([markdown(rows), f"Interval: {kind}.", _difference(results), _beside_the_paper(results)])


def _spreads(columns: Sequence[Results]) -> list[list[str]]:
    first = columns[0]
    return [
        [f"std_folds (n = {first['num_folds']})", *(percent(c["std_folds"]) for c in columns)],
        [f"std_repeats (n = {first['num_repeats']})", *(percent(c["std_repeats"]) for c in columns)],
        ["95 % interval", *(" to ".join(map(percent, c["interval"])) if c["interval"] else "–" for c in columns)],
    ]


def _difference(results: Results) -> str:
    points = results["difference_points"]
    if points is None:
        return "The number under the paper's selection is not known: this protocol looks at a tested fold once."
    return f"Difference: the paper's selection is worth **{points:+.2f} points** here."


def _beside_the_paper(results: Results) -> str:
    cell = results["paper"]
    if cell is None:
        return "The paper prints no number for this method on this dataset."
    ours = results["numbers"][headline(results)]["accuracy"]["mean"]
    return (
        f"The paper's Table {cell['table']} prints **{cell['mean']:.2f} ± {cell['std']:.2f}**; ours is "
        f"{100 * ours - cell['mean']:+.2f} points from it. {cell['remark']}"
    )


def _sentinels(results: Results) -> str:
    found = results["sentinels"]
    silent = [s.name for s in SENTINELS if s.name not in {f["name"] for f in found}]
    lines = [
        f"* **{f['name']}** in {f['trainings']} of {f['of']} trainings (worst value {f['worst']:.4g}): {f['message']}."
        for f in found
    ]
    return "\n".join([*lines, f"* silent: {', '.join(silent)}"] if silent else lines)


def _confusion(results: Results, class_names: Sequence[str]) -> str:
    name = headline(results)
    if name is None:
        return "–"
    counts = results["numbers"][name]["confusion"]
    body = [[true, *map(str, row)] for true, row in zip(class_names, counts)]
    return markdown([["true \\ predicted", *class_names], *body])


def _folds(results: Results) -> str:
    names, folds = list(results["numbers"]), results["folds"]
    searched = sorted({k for f in folds for k, v in f["options"].items() if v != results["options"].get(k)})
    rows = [["repeat", "fold", "trained on", "tested on", *searched, *(f"{n}: epoch, accuracy" for n in names)]]
    for fold in folds:
        shown = [f"{fold[n]['epoch']}, {percent(fold[n]['accuracy'])}" if n in fold else fold["status"] for n in names]
        options = [str(fold["options"].get(k)) for k in searched]
        rows.append([str(fold[k]) for k in ("repeat", "fold", "num_train", "num_test")] + options + shown)
    averages = results["epochs"]["mean_accuracy"]
    curve = ", ".join(f"{epoch}: {percent(value)}" for epoch, value in averages.items())
    note = f"\n\nMean accuracy of the tested folds at each candidate epoch: {curve}." if len(averages) > 1 else ""
    return markdown(rows) + note


def _making(results: Results, config: Results, environment: Results, timings: Mapping[str, float]) -> str:
    untested = config["num_graphs"] - results["graphs"]["tested"]
    missing = f"; {untested} graphs are in no finished tested part" if untested else ""
    search = ", ".join(f"{k} in {v}" for k, v in config["search"].items())
    settings = ", ".join(f"{k}={v}" for k, v in config["options"].items())
    lines = [
        f"data: {config['dataset']}, {config['num_graphs']} graphs, fingerprint {config['fingerprint'][:16]}",
        f"folds: {config['num_folds']}, {config['folds_source']}{missing}",
        f"options: {settings or 'defaults'}",
        f"searched on inner validation: {search or 'nothing but what the method leaves open on this data'}",
        f"trainings: {len(timings)}, {sum(timings.values()):.0f} s in all, one thread each",
        f"versions: {', '.join(f'{k} {v}' for k, v in environment.get('versions', {}).items())}",
        f"machine: {', '.join(f'{k} {v}' for k, v in environment.get('machine', {}).items())}",
        f"command: `{' '.join(environment.get('command', []))}`",
    ]
    return "\n".join(f"* {line}" for line in lines)
