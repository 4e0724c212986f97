"""TensorBoard event files of a run, by torch's own writer. Nothing is imported unless they are asked for."""

from __future__ import annotations

import shutil
from pathlib import Path

from spgnn_dgl.errors import missing_extra
from spgnn_dgl.evaluation.choices import epoch_accuracies
from spgnn_dgl.evaluation.units import DONE
from spgnn_dgl.runs import RunDir

FOLDER = "tensorboard"


def write_events(run: RunDir) -> Path:
    """Write one event folder per training; what stood there before is replaced."""
    try:
        from torch.utils.tensorboard import SummaryWriter
    except ImportError:
        raise missing_extra("tensorboard", "tensorboard", "--tensorboard") from None
    folder = run.path / FOLDER
    shutil.rmtree(folder, ignore_errors=True)
    for record in run.units():
        if record["status"] != DONE:
            continue
        with SummaryWriter(str(folder / record["unit"])) as writer:
            for line in record["history"]:
                for key in ("loss", "accuracy", "validation_loss", "validation_accuracy"):
                    if line.get(key) is not None:
                        writer.add_scalar(key, line[key], line["epoch"])
            for epoch, accuracy in epoch_accuracies(record).items():
                writer.add_scalar("judged_accuracy", accuracy, epoch)
    return folder
