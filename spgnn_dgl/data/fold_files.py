"""Fold files: our own JSON, and the three forms in which folds are published."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from spgnn_dgl.data.folds import Fold, Folds
from spgnn_dgl.errors import DatasetError, DatasetNotFoundError


def load_folds(path: str | Path, num_graphs: int, *, allow_missing: bool = False) -> Folds:
    """Read folds from a JSON file: our own, or published ones.

    Published forms: ``{"test": [[…], …]}``, where the rest of the graphs is trained on; ``{"train": …,
    "validation": …, "test": …}`` with a list per fold each; and the one of Errica et al., a list of ``{"test": […],
    "model_selection": [{"train": […], "validation": […]}]}``. Positions count from 0.

    Parameters
    ----------
    num_graphs
        Graphs of the dataset the folds are to be used with.
    allow_missing
        Whether graphs may be in no test part, as in the folds published with DGCNN.
    """
    path = Path(path)
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as problem:
        raise DatasetNotFoundError(f"there is no fold file {path}.") from problem
    except (json.JSONDecodeError, UnicodeDecodeError) as problem:
        raise DatasetError(f"{path} is not a JSON file ({problem}).") from problem
    if isinstance(content, list):
        content = _part_by_part(content, path)
    if not isinstance(content, dict) or "test" not in content:
        raise DatasetError(f"{path} has no 'test': a list of positions for each fold is expected under that name.")

    said = content.get("num_graphs", content.get("n_graphs", num_graphs))
    if said != num_graphs:
        raise DatasetError(
            f"{path} is for {said} graphs, but the dataset has {num_graphs}: it belongs to another dataset."
        )
    tests = _lists(content["test"], "test", path, num_graphs)
    trains = _lists(content["train"], "train", path, num_graphs) if "train" in content else None
    validations = _lists(content["validation"], "validation", path, num_graphs) if "validation" in content else None
    for name, part in (("train", trains), ("validation", validations)):
        if part is not None and len(part) != len(tests):
            raise DatasetError(
                f"{path} has {len(part)} lists in '{name}', but {len(tests)} in 'test'; give one per fold."
            )

    folds = []
    for number, test in enumerate(tests):
        validation = validations[number] if validations else None
        if trains is None:
            other = test if validation is None else np.concatenate([test, validation])
            train = np.setdiff1d(np.arange(num_graphs), other)
        else:
            train = trains[number]
        folds.append(Fold(train, test, validation))
    result = Folds(
        num_graphs,
        tuple(folds),
        source=str(content.get("source") or path.name),
        dataset=str(content.get("dataset", "")),
        fingerprint=str(content.get("fingerprint", "")),
    )
    _check_folds(result, path, allow_missing)
    return result


def _part_by_part(folds: list[Any], path: Path) -> dict[str, list[Any]]:
    """A list of folds, as Errica et al. publish them, as one list per part."""
    parts: dict[str, list[Any]] = {"train": [], "validation": [], "test": []}
    for number, fold in enumerate(folds):
        match fold:
            case {"test": test, "model_selection": [{"train": train, "validation": validation}]}:
                for name, positions in zip(parts, (train, validation, test)):
                    parts[name].append(positions)
            case _:
                raise DatasetError(
                    f"{path} is a list of folds, but fold {number} has no 'test' beside a 'model_selection' of one "
                    "'train' and one 'validation'."
                )
    return parts


def _lists(part: Any, name: str, path: Path, num_graphs: int) -> list[np.ndarray]:
    """One ascending array of positions per fold; a single flat list is one fold."""
    if isinstance(part, list) and part and not isinstance(part[0], list):
        part = [part]
    if not isinstance(part, list) or not part:
        raise DatasetError(f"{path}: '{name}' must be a list of positions for each fold.")
    lists = []
    for number, positions in enumerate(part):
        if not isinstance(positions, list) or not positions:
            raise DatasetError(f"{path}: the {name} part of fold {number} is empty or not a list.")
        wrong = [p for p in positions if not isinstance(p, int) or isinstance(p, bool)]
        if wrong:
            raise DatasetError(
                f"{path}: {wrong[0]!r} in the {name} part of fold {number} is not the position of a graph."
            )
        array = np.sort(np.array(positions, dtype=np.int64))
        if array[0] < 0 or array[-1] >= num_graphs:
            bad = array[0] if array[0] < 0 else array[-1]
            raise DatasetError(
                f"{path} names graph {bad} in fold {number}, but the dataset has the graphs 0 … {num_graphs - 1}: "
                "the file belongs to another dataset, or counts from 1."
            )
        twice = array[1:][array[1:] == array[:-1]]
        if len(twice):
            raise DatasetError(f"{path} names graph {twice[0]} twice in the {name} part of fold {number}.")
        lists.append(array)
    return lists


def _check_folds(folds: Folds, path: Path, allow_missing: bool) -> None:
    tested_in = np.full(folds.num_graphs, -1)
    for number, fold in enumerate(folds):
        role = np.full(folds.num_graphs, "", dtype="<U10")
        for name, positions in (("train", fold.train), ("validation", fold.validation), ("test", fold.test)):
            if positions is None:
                continue
            shared = positions[role[positions] != ""]
            if len(shared):
                raise DatasetError(f"{path}: graph {shared[0]} is in {role[shared[0]]} and {name} of fold {number}.")
            role[positions] = name
        again = fold.test[tested_in[fold.test] >= 0]
        if len(again):
            raise DatasetError(
                f"{path}: graph {again[0]} is tested in fold {tested_in[again[0]]} and in fold {number}."
            )
        tested_in[fold.test] = number
    if len(folds.never_tested) and not allow_missing:
        raise DatasetError(
            f"{path}: {len(folds.never_tested)} of {folds.num_graphs} graphs are in no test part, the first is graph "
            f"{folds.never_tested[0]}. Where that is meant (the folds published with DGCNN are such), allow it."
        )
