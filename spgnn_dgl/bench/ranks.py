"""One training on several ranks: graphs per second against one rank."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from spgnn_dgl.bench.timing import Row
from spgnn_dgl.data import load_dataset
from spgnn_dgl.distributed import joined
from spgnn_dgl.errors import SpgnnError
from spgnn_dgl.methods import make_method
from spgnn_dgl.paper import preset

DATASET = "DD"
TARGET = 1.7  # times the graphs per second of one rank, by two


def measure(home: Path, *, rounds: int = 3, epochs: int = 4, ranks: int = 2) -> Iterator[Row]:
    """Graphs per second of one rank and of several, with one thread each and the same global batch.

    The two take turns, so that what else runs on the machine slows both; the medians over all epochs are compared. The
    first epoch of each training is left out: in it the pages of the dataset are read.
    """
    rates: dict[int, list[float]] = {1: [], ranks: []}
    for _ in range(rounds):
        for count, found in rates.items():
            found += rates_of_epochs(home, count, epochs + 1)[1:]
    one, several = (statistics.median(found) for found in rates.values())
    yield Row(
        f"{DATASET}: graphs per second, {ranks} ranks against 1, one thread each",
        f"{several:.0f}/s",
        f"{one:.0f}/s",
        several / one,
        f"{TARGET:g}×",
        several / one >= TARGET,
    )


def rates_of_epochs(home: Path, ranks: int, epochs: int) -> list[float]:
    """Graphs per second in each epoch of a training on so many ranks, which ``torchrun`` starts; see :func:`main`."""
    command = [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node", str(ranks)]
    command += ["--rdzv-backend", "c10d", "--rdzv-endpoint", "localhost:0"]  # any free port
    command += ["-m", "spgnn_dgl.bench.ranks", str(home), str(epochs)]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    if done.returncode != 0:
        raise SpgnnError(f"measuring {ranks} ranks on {DATASET} failed:\n{done.stderr.strip()}")
    return list(json.loads(done.stdout.splitlines()[-1]))


def main(home: str, epochs: str) -> None:
    """Train on this rank; the first one writes the rates as JSON."""
    with joined() as together:
        data = load_dataset(DATASET, data_home=home)
        options = {**preset("spgnn", DATASET), "epochs": int(epochs), "threads": 1}
        method = make_method("spgnn", options).fit(data)
        if together.is_first:
            sys.stdout.write(json.dumps([len(data) / record.seconds for record in method.history]) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
