"""One training on several ranks: graphs per second against one rank."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from spgnn_dgl.bench.timing import Row
from spgnn_dgl.data import load_dataset
from spgnn_dgl.distributed import joined
from spgnn_dgl.errors import SpgnnError
from spgnn_dgl.methods import make_method
from spgnn_dgl.paper import preset

DATASET = "DD"
BATCHES = (50, 100)  # graphs per step, of all ranks together
TARGET = 1.7  # times the graphs per second of one rank, by two
Rates = list[tuple[float, float]]


def measure(home: Path, *, rounds: int = 3, epochs: int = 4, ranks: int = 2) -> Iterator[Row]:
    """Graphs per second of one rank and of several, with one thread each and the same global batch.

    The two take turns, so that what else runs on the machine slows both; the medians over all epochs are compared. The
    first epoch of each training is left out: in it the pages of the dataset are read. On a machine that is busy the
    clock says little, so there is a row by processor time too: what the busiest rank uses, waiting left out.
    """
    for batch_size in BATCHES:
        rates: dict[int, Rates] = {1: [], ranks: []}
        for _ in range(rounds):
            for count, found in rates.items():
                found += rates_of_epochs(home, count, epochs + 1, batch_size)[1:]
        one, several = (np.median(found, axis=0).tolist() for found in rates.values())
        words = f"{DATASET}, batches of {batch_size}: graphs per second{{}}, {ranks} ranks against 1, one thread each"
        for by, theirs, ours in zip(("", " of processor time"), one, several):
            yield Row(
                words.format(by),
                f"{ours:.0f}/s",
                f"{theirs:.0f}/s",
                ours / theirs,
                f"{TARGET:g}×",
                ours / theirs >= TARGET,
            )


def rates_of_epochs(home: Path, ranks: int, epochs: int, batch_size: int) -> Rates:
    """Graphs per second, by the clock and of processor time, in each epoch of a training; see :func:`main`."""
    command = [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node", str(ranks)]
    command += ["--rdzv-backend", "c10d", "--rdzv-endpoint", "localhost:0"]  # any free port
    command += ["-m", "spgnn_dgl.bench.ranks", str(home), str(epochs), str(batch_size)]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    if done.returncode != 0:
        raise SpgnnError(f"measuring {ranks} ranks on {DATASET} failed:\n{done.stderr.strip()}")
    return [(by_clock, by_processor) for by_clock, by_processor in json.loads(done.stdout.splitlines()[-1])]


def main(home: str, epochs: str, batch_size: str) -> None:
    """Train on this rank; the first one writes the rates as JSON."""
    with joined() as together:
        data = load_dataset(DATASET, data_home=home)
        options = {**preset("spgnn", DATASET), "epochs": int(epochs), "batch_size": int(batch_size), "threads": 1}
        ends = [time.process_time()]
        method = make_method("spgnn", options).fit(data, on_epoch=lambda record: ends.append(time.process_time()))
        used = np.zeros((together.world, int(epochs)))
        used[together.rank] = np.diff(ends)
        busiest = together.sum(used).max(axis=0)  # (epochs,) seconds
        if together.is_first:
            rates = [(len(data) / r.seconds, len(data) / s) for r, s in zip(method.history, busiest)]
            sys.stdout.write(json.dumps(rates) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
