"""Graph classification on DGL: SPGNN, its ablations and every method it is compared with.

``import spgnn_dgl as sp`` gives the names below. They are imported when they are first used, so that
``import spgnn_dgl`` costs nothing and works where DGL does not. ``sp.dgl`` is DGL itself, imported in the way that
works with the installed PyTorch.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # for type checkers and editors; a test holds this list and the one below together
    from spgnn_dgl._dgl import dgl
    from spgnn_dgl.data.audit.report import audit
    from spgnn_dgl.data.building.conversion import convert_dataset
    from spgnn_dgl.data.builtin import DATASETS
    from spgnn_dgl.data.features import FeaturePolicy
    from spgnn_dgl.data.fold_files import load_folds
    from spgnn_dgl.data.folds import Fold, Folds, inner_split, stratified_folds
    from spgnn_dgl.data.load import load_dataset
    from spgnn_dgl.data.readers.csv_folder import from_csv_folder
    from spgnn_dgl.data.readers.graphs import from_graphs
    from spgnn_dgl.data.readers.smiles import from_smiles
    from spgnn_dgl.data.saved import open_store, save_store
    from spgnn_dgl.data.store import GraphDataset
    from spgnn_dgl.errors import (
        BudgetExceeded,
        DatasetError,
        DatasetNotFoundError,
        DownloadError,
        EnvironmentProblem,
        MissingExtraError,
        ModelFileError,
        OptionError,
        PluginError,
        RunError,
        SpgnnError,
        TrainingError,
        UnknownNameError,
    )
    from spgnn_dgl.estimator import GraphClassifier
    from spgnn_dgl.experiment import RunConfig, run
    from spgnn_dgl.methods import METHODS, make_method
    from spgnn_dgl.modelfile import load_model, save_model
    from spgnn_dgl.nn import CONVS, READOUTS, GraphNet
    from spgnn_dgl.plugins import load_plugin

_NAMES = {
    "_dgl": ["dgl"],
    "data.audit.report": ["audit"],
    "data.building.conversion": ["convert_dataset"],
    "data.builtin": ["DATASETS"],
    "data.features": ["FeaturePolicy"],
    "data.fold_files": ["load_folds"],
    "data.folds": ["Fold", "Folds", "inner_split", "stratified_folds"],
    "data.load": ["load_dataset"],
    "data.readers.csv_folder": ["from_csv_folder"],
    "data.readers.graphs": ["from_graphs"],
    "data.readers.smiles": ["from_smiles"],
    "data.saved": ["open_store", "save_store"],
    "data.store": ["GraphDataset"],
    "errors": [
        "BudgetExceeded",
        "DatasetError",
        "DatasetNotFoundError",
        "DownloadError",
        "EnvironmentProblem",
        "MissingExtraError",
        "ModelFileError",
        "OptionError",
        "PluginError",
        "RunError",
        "SpgnnError",
        "TrainingError",
        "UnknownNameError",
    ],
    "estimator": ["GraphClassifier"],
    "experiment": ["RunConfig", "run"],
    "methods": ["METHODS", "make_method"],
    "modelfile": ["load_model", "save_model"],
    "nn": ["CONVS", "READOUTS", "GraphNet"],
    "plugins": ["load_plugin"],
}
_HOME = {name: module for module, names in _NAMES.items() for name in names}

__all__ = sorted(_HOME)


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        from spgnn_dgl.registry import did_you_mean

        raise AttributeError(f"module 'spgnn_dgl' has no attribute '{name}'.{did_you_mean(name, _HOME)}")
    value = getattr(importlib.import_module(f"spgnn_dgl.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOME})
