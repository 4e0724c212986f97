"""Training of networks: options, optimiser, steps and the epoch loop. Knows networks, not methods."""

from spgnn_dgl.training.inference import batches, evaluate, probabilities, scores
from spgnn_dgl.training.loop import (
    EpochRecord,
    OnEpoch,
    TrainingResult,
    TrainingStore,
    history_rows,
    train_network,
)
from spgnn_dgl.training.optimiser import FlatAdam
from spgnn_dgl.training.options import TrainingOptions
from spgnn_dgl.training.surroundings import resolve_device, seeded, steady_memory

__all__ = [
    "EpochRecord",
    "FlatAdam",
    "OnEpoch",
    "TrainingOptions",
    "TrainingResult",
    "TrainingStore",
    "batches",
    "evaluate",
    "history_rows",
    "probabilities",
    "resolve_device",
    "scores",
    "seeded",
    "steady_memory",
    "train_network",
]
