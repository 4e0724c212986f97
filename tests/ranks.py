"""Programs that a test runs on several ranks, each a process of its own, as torchrun would start them."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import torch

from spgnn_dgl.checkpoint import Checkpoint
from spgnn_dgl.data.features import FeaturePolicy
from spgnn_dgl.distributed import joined, ranks
from spgnn_dgl.methods import make_method
from spgnn_dgl.training import EpochRecord, TrainingOptions, TrainingResult, seeded, train_network
from tests.conftest import random_dataset

ROOT = Path(__file__).parents[1]
# 23 graphs in batches of 11: the last batch has one graph, fewer than there are ranks
CASES: dict[str, dict[str, Any]] = {
    "plain": {"method": "spgnn"},
    "weighted": {"method": "spgnn", "options": {"class_weights": True, "clip": 0.5, "schedule": "step"}},
    "stopped early": {"method": "spgnn", "options": {"patience": 1, "lr": 0.05}},
    "batch norm": {"method": "gin"},
    "idle parameters": {"method": "spgnn", "idle": True},
}
EPOCHS = 6
STOP_AT = 4  # the epoch after which :func:`program` leaves a training to others


class Stopped(Exception):
    """Stands for whatever ends a training."""


def train(method: str, options: dict[str, Any] | None = None, *, idle: bool = False, **how: Any) -> TrainingResult:
    """A training without dropout, the same wherever it runs."""
    data = random_dataset(33, 3, num_classes=3)
    train, validation = data.subset(np.arange(23)), data.subset(np.arange(23, 33))
    made = make_method(method, {"dropout": 0.0, **({"k": 10, "channels": 8} if method == "spgnn" else {})})
    made.resolved = made.resolve(train.info)
    policy = FeaturePolicy.fit(train)
    with seeded(1):
        net = made.build(train.info, policy.spec)
    if (
        method == "gin"
    ):  # before a batch norm the gradient of a bias is zero but for rounding, of which Adam makes steps
        net.double()
    if idle:
        net.idle = torch.nn.Linear(2, 2)
    settings = TrainingOptions(**{"epochs": EPOCHS, "batch_size": 11, "lr": 0.01, **(options or {})})
    encoded = policy.encoder(validation)
    return train_network(
        net, policy.encoder(train), settings, seed=7, validation=encoded, watch=encoded, watch_at=(2,), **how
    )


def checkpoint(folder: Path) -> Checkpoint:
    """Of :func:`train`, written at every epoch."""
    return Checkpoint(folder / "checkpoint", {"data": "random"}, every=0)


def stop_at(epoch: int) -> Any:
    def on_epoch(record: EpochRecord) -> None:
        if record.epoch > epoch:  # the checkpoint of an epoch is written after this is called
            raise Stopped

    return on_epoch


def program(folder: Path) -> None:
    """What ranks tell each other; every case; and the continuation of a training that another process has begun."""
    with joined() as together:
        assert ranks() is together
        found: dict[str, Any] = {
            "sum": together.sum(np.array([1.0, together.rank])).tolist(),
            "from first": [
                (together.from_first(content if together.is_first else None) or b"-").decode()
                for content in (b"abc", None)
            ],
            "speaks": together.speaks(),
        }
        with together.one_per_machine_first():
            found["cached"] = (folder / "cache").exists()
            (folder / "cache").touch()
        for name, case in CASES.items():
            result = train(**case)
            found[name] = {
                "curve": [[r.loss, r.accuracy, r.validation_loss, r.validation_accuracy] for r in result.history],
                "best": result.best_epoch,
                "watched": result.watched[2].tolist(),
            }
        (folder / f"found{together.rank}.json").write_text(json.dumps(found))
        try:
            train("spgnn", checkpoint=checkpoint(folder), on_epoch=stop_at(STOP_AT))
        except Stopped:
            together.barrier()
    assert ranks().world == 1


def start(arguments: list[str], world: int = 2, **environment: str) -> list[subprocess.Popen[str]]:
    """``python ARGUMENTS`` on each rank."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = str(probe.getsockname()[1])
    common = {**os.environ, "WORLD_SIZE": str(world), "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port, **environment}
    return [
        subprocess.Popen(
            [sys.executable, *arguments],
            env={**common, "RANK": str(rank), "LOCAL_RANK": str(rank)},
            cwd=ROOT,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for rank in range(world)
    ]


def finish(processes: list[subprocess.Popen[str]], timeout: float = 120) -> list[tuple[int, str, str]]:
    """Exit code, output and errors of each."""
    try:
        texts = [process.communicate(timeout=timeout) for process in processes]
    finally:
        for process in processes:
            process.kill()
    return [(process.returncode, *text) for process, text in zip(processes, texts)]


def run(folder: Path, world: int = 2) -> list[Any]:
    """What :func:`program` has found on each rank."""
    code = f"import pathlib; from tests.ranks import program; program(pathlib.Path({str(folder)!r}))"
    for status, _, errors in finish(start(["-W", "error", "-c", code], world)):
        assert status == 0, errors
    return [json.loads((folder / f"found{rank}.json").read_text()) for rank in range(world)]
