"""One final model on all of the data, with the settings that an experiment chose."""

from __future__ import annotations

import json
import logging
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from spgnn_dgl.checkpoint import SECONDS, SUFFIX, Checkpoint
from spgnn_dgl.data.store import GraphDataset
from spgnn_dgl.distributed import ranks
from spgnn_dgl.errors import OptionError, RunError
from spgnn_dgl.evaluation.planning import fingerprint_of
from spgnn_dgl.evaluation.protocols import HONEST, OPTIMISTIC
from spgnn_dgl.evaluation.units import DONE, model_notes
from spgnn_dgl.methods import METHODS, make_method
from spgnn_dgl.methods.base import GNNMethod
from spgnn_dgl.modelfile import save_model
from spgnn_dgl.paper import preset
from spgnn_dgl.registry import check_options
from spgnn_dgl.runs import RunDir, write_whole
from spgnn_dgl.training import OnEpoch

log = logging.getLogger("spgnn_dgl")


def chosen_settings(run: RunDir) -> tuple[str, dict[str, Any]]:
    """Method and options that a finished run speaks for, the number of epochs among them.

    Where folds chose different options, the choice of most folds counts. The epoch is the one of the best average
    over folds (``paper``), or the median of those at which the trainings stopped (``fair``).
    """
    results = run.results
    folds = [fold for fold in results["folds"] if fold["status"] == DONE]
    if not folds:
        raise RunError(f"'{run.path}' has no finished training to follow.")
    texts = Counter(json.dumps(fold["options"], sort_keys=True) for fold in folds)
    options: dict[str, Any] = json.loads(texts.most_common(1)[0][0])
    if "epochs" in options:
        if OPTIMISTIC in results["numbers"]:
            averages = results["epochs"]["mean_accuracy"]
            options["epochs"] = int(max(averages, key=lambda epoch: (averages[epoch], -int(epoch))))
        else:
            options["epochs"] = max(1, int(np.median([fold[HONEST]["epoch"] for fold in folds])))
    options.pop("patience", None)  # there is nothing held out to stop on
    return results["method"], options


def fit_model(
    data: GraphDataset,
    out: str | Path,
    *,
    method: str | None = None,
    options: Mapping[str, Any] | None = None,
    like: str | Path | RunDir | None = None,
    seed: int = 0,
    on_epoch: OnEpoch | None = None,
    checkpoint: str | Path | None = None,
    checkpoint_every: float = SECONDS,
) -> Path:
    """Train on all graphs of `data` and write a model file.

    Inside :func:`spgnn_dgl.distributed.joined` all ranks train together, and one of them writes.

    Parameters
    ----------
    out
        The model file.
    method, options
        What to train (default ``"spgnn"``); options win over those of `like` and over the paper's settings.
    like
        A run folder whose method, chosen options and epoch are followed.
    checkpoint, checkpoint_every
        The file in which a network's training is kept until it is over, and the seconds between two writings; a
        training that was stopped goes on from it. Default: `out` with ``.checkpoint`` behind its name.

    Returns
    -------
    Path
        Of the model file, for :func:`spgnn_dgl.predicting.load_predictor` and ``GraphClassifier.load``.
    """
    data.require_classes()
    options = dict(options or {})
    if like is not None:
        run = like if isinstance(like, RunDir) else RunDir.open(like)
        name, chosen = chosen_settings(run)
        if method is not None and METHODS.canonical(method) != name:
            raise OptionError(f"method '{method}' was given, but '{run.path}' is a run of '{name}'; leave one out.")
        if run.config["dataset"] != data.name:
            log.warning("the settings come from a run on %s, the data is %s", run.config["dataset"], data.name)
    else:
        METHODS.get(method or "spgnn")
        name = METHODS.canonical(method or "spgnn") or "spgnn"
        chosen = preset(name, data.name)
    check_options(f"method '{name}'", options, METHODS.get(name).options())
    settings = {**chosen, **options}
    fitted, together = make_method(name, settings), ranks()
    if isinstance(fitted, GNNMethod):
        identity = _identity(data, name, settings, seed)
        kept = Checkpoint(checkpoint or checkpoint_of(out), identity, every=checkpoint_every)
        fitted.fit(data, seed=seed, on_epoch=on_epoch, checkpoint=kept)
    elif together.world > 1 or checkpoint is not None:
        raise OptionError(
            f"method '{name}' trains no network, so it has no epochs to share among processes or to go on from. Leave "
            "out torchrun and --checkpoint, or choose a method of the kind gnn (`spgnn methods`)."
        )
    else:
        fitted.fit(data, seed=seed, on_epoch=on_epoch)
    if together.is_first:
        notes = model_notes(data, seed)
        write_whole(Path(out), lambda aside: save_model(aside, fitted, name, settings, notes))
        if isinstance(fitted, GNNMethod):
            kept.remove()
    together.barrier()  # none says that there is a model before there is
    return Path(out)


def checkpoint_of(out: str | Path) -> Path:
    """Where the training of a model file is kept, unless another place is named."""
    return Path(out).with_name(Path(out).name + SUFFIX)


def _identity(data: GraphDataset, method: str, settings: Mapping[str, Any], seed: int) -> dict[str, Any]:
    """What decides the course of a training, but for rounding."""
    options = {**METHODS.get(method).options(), **settings}
    return {
        "method": method,
        "options": {name: value for name, value in options.items() if name not in ("device", "threads")},
        "seed": seed,
        "dataset": data.name,
        "graphs": fingerprint_of(data),
    }
