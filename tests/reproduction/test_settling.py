"""A grid's page says what its candidates reached on held-out tenths."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from spgnn_dgl.experiment import search
from spgnn_dgl.reproduction import settling
from spgnn_dgl.reproduction.settling import Grid, collect_grids, settling_text

RESULTS = Path(__file__).parents[2] / "docs" / "results"


def test_the_page_is_made_of_the_records_beside_it():
    assert settling_text(RESULTS) == (RESULTS / "settling.md").read_text(encoding="utf-8")


def test_candidates_are_judged_on_validation_at_their_best_epoch(tmp_path, monkeypatch):
    small = {"epochs": 2, "layers": 1, "channels": 4, "k": 10}
    grid = Grid("learning rate", "MOTIFS", {"lr": (0.01, 0.001)}, folds=2, options=small)
    monkeypatch.setattr(settling, "GRIDS", (grid,))
    assert collect_grids(tmp_path / "runs", tmp_path) == []
    folder = search(grid.config(tmp_path / "runs"))
    assert not list(folder.glob("units/final-*"))
    (path,) = collect_grids(tmp_path / "runs", tmp_path)
    content = json.loads(path.read_text())
    assert [c["options"] for c in content["candidates"]] == [{"lr": 0.01}, {"lr": 0.001}]
    for number, candidate in enumerate(content["candidates"]):
        for fold in range(2):
            unit = json.loads((folder / "units" / f"select-r00-f{fold:02d}-c{number:03d}.json").read_text())
            right = {e: np.mean(np.argmax(p, axis=1) == unit["labels"]) for e, p in unit["probabilities"].items()}
            assert candidate["accuracy"][fold] == round(max(right.values()), 6)
    best = max(content["candidates"], key=lambda c: np.mean(c["accuracy"]))
    assert f"**{100 * np.mean(best['accuracy']):.2f}**" in settling_text(tmp_path)
