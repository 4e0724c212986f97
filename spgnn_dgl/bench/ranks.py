"""One training on several ranks: graphs per second against one rank."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from spgnn_dgl.bench.timing import Row
from spgnn_dgl.data import GraphDataset, load_dataset
from spgnn_dgl.data.features import FeaturePolicy
from spgnn_dgl.distributed import ALONE, Ranks, joined
from spgnn_dgl.errors import SpgnnError
from spgnn_dgl.methods.spgnn import SPGNN
from spgnn_dgl.paper import preset
from spgnn_dgl.training import TrainingOptions, seeded, steady_memory
from spgnn_dgl.training.inference import batches
from spgnn_dgl.training.learner import Learner

DATASET = "DD"
BATCHES = (50, 100, 200, 400)  # graphs per step, of all ranks together
TARGET = 1.7  # times the graphs per second of one rank, by two


def measure(home: Path, *, rounds: int = 12, ranks: int = 2) -> Iterator[Row]:
    """Graphs per second of one rank and of several, with one thread each and the same global batch.

    They take turns, an epoch each, so that what else runs on the machine slows both; medians are compared. On a machine
    that is busy the clock says little, so there is a row by processor time too: what the busiest rank uses, waiting
    left out. A third turn has all ranks train on their shares without a word between them: what the machine itself
    allows, whatever carries the gradients.
    """
    for batch_size in BATCHES:
        alone, together, apart = np.median(turns(home, ranks, rounds, batch_size), axis=0)  # (clock or processor,) each
        words = f"{DATASET}, batches of {batch_size}: graphs per second{{}}, {ranks} ranks{{}} against 1"
        for by, one, several in zip(("", " of processor time"), alone, together):
            ratio = float(several / one)
            yield Row(words.format(by, ""), f"{several:.0f}/s", f"{one:.0f}/s", ratio, f"{TARGET:g}×", ratio >= TARGET)
        ratio = float(apart[0] / alone[0])
        yield Row(words.format("", " that exchange nothing"), f"{apart[0]:.0f}/s", f"{alone[0]:.0f}/s", ratio)


def turns(home: Path, ranks: int, rounds: int, batch_size: int) -> np.ndarray:
    """(rounds, 3, 2) graphs per second: alone, together or apart; by the clock and of processor time."""
    command = [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node", str(ranks)]
    command += ["--rdzv-backend", "c10d", "--rdzv-endpoint", "localhost:0"]  # any free port
    command += ["-m", "spgnn_dgl.bench.ranks", str(home), str(rounds), str(batch_size)]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    if done.returncode != 0:
        raise SpgnnError(f"measuring {ranks} ranks on {DATASET} failed:\n{done.stderr.strip()}")
    return np.array(json.loads(done.stdout.splitlines()[-1]))


def main(home: str, rounds: str, batch_size: str) -> None:
    """Train on this rank, in turns with one rank alone; the first one writes the rates as JSON."""
    with joined() as together, seeded(0, threads=1), steady_memory():
        rates = take_turns(together, load_dataset(DATASET, data_home=home), int(rounds), int(batch_size))
        if together.is_first:
            sys.stdout.write(json.dumps(rates.tolist()) + "\n")


def take_turns(ranks: Ranks, data: GraphDataset, rounds: int, batch_size: int) -> np.ndarray:
    """(rounds, 3, 2) as :func:`turns`, without a first round, in which the pages of the dataset are read."""
    alone, together = learner(data, batch_size, ALONE), learner(data, batch_size, ranks)
    apart = Apart(learner(data, batch_size, ALONE), ranks)
    rates = []
    for _ in range(rounds + 1):
        seconds = []
        for training in (alone, together, apart):
            ranks.barrier()
            used = np.zeros((ranks.world, 2))
            if training is not alone or ranks.is_first:
                used[ranks.rank] = _epoch(training)
            seconds.append(ranks.sum(used).max(axis=0))
        rates.append(len(data) / np.array(seconds))
    return np.array(rates)[1:]


class Apart:
    """One rank's part of the work of an epoch, without the others: its share of every batch."""

    def __init__(self, training: Learner, ranks: Ranks):
        self.training, self.ranks = training, ranks
        self._rng = np.random.default_rng(0)

    def run_epoch(self, at_pause: Callable[[], None]) -> None:
        data = self.training.train.data
        for indices in batches(len(data), self.training.options.batch_size, self._rng):
            self.training.learn(indices[self.ranks.share(data.subset(indices).node_counts)])


def learner(data: GraphDataset, batch_size: int, ranks: Ranks) -> Learner:
    """SPGNN with the paper's settings."""
    options = {**preset("spgnn", DATASET), "batch_size": batch_size}
    method = SPGNN(**options)
    method.resolved = method.resolve(data.info)
    policy = FeaturePolicy.fit(data)
    settings = TrainingOptions(**{name: v for name, v in options.items() if name in TrainingOptions.defaults()})
    return Learner(method.build(data.info, policy.spec), policy.encoder(data), settings, 0, ranks)


def _epoch(training: Learner | Apart) -> np.ndarray:
    """(2,) seconds of an epoch, by the clock and of processor time."""
    started, used = time.perf_counter(), time.process_time()
    training.run_epoch(lambda: None)
    return np.array([time.perf_counter() - started, time.process_time() - used])


if __name__ == "__main__":
    main(*sys.argv[1:])
