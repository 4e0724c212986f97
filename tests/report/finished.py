"""Run folders with the results that a test gives them."""

from __future__ import annotations

import numpy as np

from spgnn_dgl.runs import RunDir


def finished(root, dataset, method, scores, *, folds="f", protocol="paper", status="complete", repeats=1, seed=0):
    """A run folder with the given fold accuracies, as `spgnn train` leaves it."""
    table = np.reshape(scores, (repeats, -1))
    accuracy = {"mean": float(table.mean()), "std_folds": float(np.std(table, ddof=1)), "num_folds": table.shape[1]}
    view = {"accuracy": accuracy, "fold_accuracies": table.tolist()}
    config = {
        "dataset": dataset, "method": method.partition("@")[0], "protocol": protocol, "folds": folds,
        "fingerprint": f"print of {dataset}", "shared_folds": repeats == 1,
    }  # fmt: skip
    run = RunDir.start(root / dataset / method / f"{protocol}-seed{seed}", config)
    run.close()
    numbers = {"optimistic": view, "honest": view} if protocol == "paper" else {"honest": view}
    results = {
        "status": status,
        "numbers": numbers,
        "graphs": {"train": 90.0, "test": 10.0, "tested": 100},
        "sentinels": [],
    }
    run.write_json("results.json", {**config, **results})
    return run
