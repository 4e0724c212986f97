"""What the paper leaves open, settled on inner validation: the grid, what each candidate reached, and the winner.

A grid is an experiment with a search. Its tested folds take no part: a candidate is judged on a stratified tenth of
each training part, at its best epoch.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from spgnn_dgl.evaluation.choices import epoch_accuracies
from spgnn_dgl.evaluation.planning import RunConfig, prepare
from spgnn_dgl.evaluation.units import DONE, SELECT
from spgnn_dgl.report.text import markdown
from spgnn_dgl.reproduction.plan import RATES
from spgnn_dgl.runs import CONFIG, RunDir, write_whole

SIGMA_AND_RATE: Mapping[str, Sequence[Any]] = {"activation": ("relu", "tanh"), "lr": (0.01, 0.001, 0.0001)}


@dataclass(frozen=True)
class Grid:
    """Options under comparison on one dataset; `options` are set for all candidates."""

    name: str
    dataset: str
    search: Mapping[str, Sequence[Any]]
    folds: int = 3
    options: Mapping[str, Any] = field(default_factory=dict)
    method: str = "spgnn"

    @property
    def words(self) -> frozenset[str]:
        """What ``--only`` may name it by."""
        return frozenset((self.name, self.dataset, self.method))

    def config(self, out: Path, *, jobs: int = 1) -> RunConfig:
        return RunConfig(
            self.dataset,
            self.method,
            options=self.options,
            search=self.search,
            folds=self.folds,
            out=out,
            jobs=jobs,
            preset=False,
        )


GRIDS: tuple[Grid, ...] = (
    Grid("sigma and learning rate", "MUTAG", SIGMA_AND_RATE, folds=10),
    Grid("sigma and learning rate", "PROTEINS", SIGMA_AND_RATE, options={"k": 30}),
    Grid("sigma and learning rate", "IMDB-MULTI", SIGMA_AND_RATE),
    Grid("learning rate of ReLU", "COLLAB", {"lr": RATES}, options={"activation": "relu", "k": 50}),
    Grid("learning rate", "COLLAB", {"lr": RATES}, options={"k": 50}),
    Grid("learning rate", "PTC", {"lr": RATES}, folds=10),
    Grid("learning rate", "PROTEINS", {"lr": RATES}, folds=10, options={"k": 30}),
    Grid("learning rate", "IMDB-MULTI", {"lr": RATES}, folds=10),
    Grid("learning rate", "DD", {"lr": RATES}, options={"k": 242, "weight_decay": 0.05}),
    Grid("learning rate of dgcnn", "PTC", {"lr": RATES}, folds=10, method="dgcnn"),
    Grid("learning rate of dgcnn", "PROTEINS", {"lr": RATES}, folds=10, options={"k": 30}, method="dgcnn"),
    Grid("learning rate of dgcnn", "DD", {"lr": RATES}, options={"k": 242}, method="dgcnn"),
    Grid("batch size", "IMDB-MULTI", {"batch_size": (20, 50, 100)}, options={"activation": "relu"}),
    Grid("degree cap", "IMDB-MULTI", {"degree_cap": (None, 100, 30)}, options={"activation": "relu"}),
    Grid("weight decay of ReLU", "DD", {"weight_decay": (0.0, 0.0005, 0.05)}, options={"activation": "relu", "k": 242}),
    Grid("weight decay", "DD", {"weight_decay": (0.0005, 0.005, 0.05)}, options={"k": 242}),
    Grid("weight decay", "REDDIT-MULTI-5K", {"weight_decay": (0.0005, 0.005, 0.05)}, options={"epochs": 50}),
    Grid("weight decay", "PTC", {"weight_decay": (0.0, 0.0005, 0.005, 0.05)}, folds=10, options={"lr": 0.0003}),
    Grid("k", "PROTEINS", {"k": (30, 50)}, folds=10, options={"lr": 0.0001}),
    Grid("k", "COLLAB", {"k": (30, 50)}),
)


def collect_grids(runs: Path, records: Path) -> list[Path]:
    """Write what the candidates of finished grids reached, one small JSON file per grid."""
    written = []
    for grid in (grid for grid in GRIDS if (runs / grid.dataset).is_dir()):
        prepared = prepare(grid.config(runs))
        if (prepared.path / CONFIG).is_file():
            units = [u for u in RunDir.open(prepared.path).units() if u["stage"] == SELECT]
            if len(units) == len(prepared.protocol.select_units(prepared.plan, prepared.data)):
                path = records / "settling" / f"{grid.dataset}-{grid.name.replace(' ', '-')}.json"
                written.append(write_whole(path, json.dumps(_content(grid, units), indent=1) + "\n"))
    return written


def _content(grid: Grid, units: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    candidates: dict[int, dict[str, Any]] = {}
    for unit in sorted(units, key=lambda u: u["fold"]):
        of = candidates.setdefault(
            unit["candidate"],
            {"options": {k: unit["options"][k] for k in grid.search}, "accuracy": [], "loss": [], "epoch": []},
        )
        accuracies = epoch_accuracies(dict(unit)) if unit["status"] == DONE else {0: 0.0}
        best = max(accuracies, key=lambda epoch: (accuracies[epoch], -epoch))
        of["accuracy"].append(round(accuracies[best], 6))
        of["loss"].append(round(unit["losses"][str(best)], 6) if unit["status"] == DONE else None)
        of["epoch"].append(best)
    return {
        "grid": grid.name,
        "dataset": grid.dataset,
        "folds": grid.folds,
        "fixed": dict(grid.options),
        "candidates": [candidates[number] for number in sorted(candidates)],
    }


def settling_text(records: Path) -> str:
    """The grids as Markdown tables: mean accuracy on the held-out tenths, the best in bold."""
    parts = ["<!-- made by tools/reproduce_tables.py from docs/results/settling; do not edit -->"]
    for path in sorted((records / "settling").glob("*.json")):
        content = json.loads(path.read_text(encoding="utf-8"))
        names = list(content["candidates"][0]["options"])
        means = [100 * float(np.mean(c["accuracy"])) for c in content["candidates"]]
        rows = [[*names, "validation accuracy", "over the folds"]]
        for candidate, mean in zip(content["candidates"], means, strict=True):
            spread = 100 * float(np.std(candidate["accuracy"], ddof=1))
            shown = f"**{mean:.2f}**" if mean == max(means) else f"{mean:.2f}"
            rows.append([*(str(candidate["options"][n]) for n in names), shown, f"± {spread:.2f}"])
        fixed = "".join(f", {name} = {value}" for name, value in content["fixed"].items())
        parts += [f"**{content['dataset']}**, {content['grid']} ({content['folds']} folds{fixed}):", markdown(rows)]
    return "\n\n".join(parts) + "\n"
