"""Which graphs are trained on and which are tested: stratified folds, and what is known of them."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from spgnn_dgl.data.arrays import UNKNOWN_CLASS
from spgnn_dgl.data.store import GraphDataset
from spgnn_dgl.errors import DatasetError, OptionError

SPELLED_OUT = 1_000_000  # graphs up to which a file of folds lists training parts too


@dataclass(frozen=True, eq=False)
class Fold:
    """Positions of the graphs of one fold, ascending."""

    train: np.ndarray  # (n,) int64
    test: np.ndarray  # (m,) int64
    validation: np.ndarray | None = None  # (v,) int64, where the publisher of the folds fixed it


@dataclass(frozen=True, eq=False)
class Folds(Sequence[Fold]):
    """The folds of a cross-validation over `num_graphs` graphs.

    Made by :func:`stratified_folds`, or read by :func:`spgnn_dgl.data.fold_files.load_folds`, which refuses folds that
    overlap.
    """

    num_graphs: int
    folds: tuple[Fold, ...]
    source: str = ""  # how they were made, for reports
    dataset: str = ""  # name and fingerprint of the data they belong to, where known
    fingerprint: str = ""

    def __len__(self) -> int:
        return len(self.folds)

    def __getitem__(self, index: Any) -> Any:
        return self.folds[index]

    def __iter__(self) -> Iterator[Fold]:
        return iter(self.folds)

    @property
    def never_tested(self) -> np.ndarray:
        """Positions of graphs that are in no test part."""
        tested = np.zeros(self.num_graphs, dtype=bool)
        for fold in self.folds:
            tested[fold.test] = True
        return np.flatnonzero(~tested)

    def same_as(self, other: Folds) -> bool:
        """Whether both test and train on the same graphs, fold by fold: only then may their results be paired."""
        return len(self) == len(other) and all(
            _equal(mine.train, theirs.train)
            and _equal(mine.test, theirs.test)
            and _equal(mine.validation, theirs.validation)
            for mine, theirs in zip(self, other)
        )

    def of(self, data: GraphDataset) -> Folds:
        """The same folds with the name and fingerprint of their dataset."""
        self.check_dataset(data)
        return replace(self, dataset=data.name, fingerprint=data.fingerprint)

    def check_dataset(self, data: GraphDataset) -> None:
        """Refuse data that the folds were not made for."""
        if self.num_graphs != len(data):
            raise DatasetError(
                f"the folds{_from(self.source)} are for {self.num_graphs} graphs, but {data.name} has {len(data)}: "
                "they belong to another dataset."
            )
        if self.fingerprint and self.fingerprint != data.fingerprint:
            raise DatasetError(
                f"the folds{_from(self.source)} were made for other data ({self.dataset}, {self.fingerprint[:12]}) "
                f"than {data.name} ({data.fingerprint[:12]}). Make new ones, or use the data they belong to."
            )

    # ---- JSON -------------------------------------------------------------------------------------------------

    def to_json(self) -> dict[str, Any]:
        """Plain lists in the published form, with both parts of each fold spelled out.

        Of more than a million graphs (``SPELLED_OUT``), training parts that are all of the rest are left out.
        """
        return {
            "num_graphs": self.num_graphs,
            "source": self.source,
            "dataset": self.dataset,
            "fingerprint": self.fingerprint,
            **self._parts(),
        }

    def _parts(self) -> dict[str, list[list[int]]]:
        parts = {"test": [fold.test.tolist() for fold in self.folds]}
        rest = all(len(fold.train) + len(fold.test) == self.num_graphs for fold in self.folds)
        if self.num_graphs <= SPELLED_OUT or not rest:
            parts["train"] = [fold.train.tolist() for fold in self.folds]
        if all(fold.validation is not None for fold in self.folds):
            parts["validation"] = [fold.validation.tolist() for fold in self.folds]  # type: ignore[union-attr]
        return parts

    def save(self, path: str | Path) -> None:
        """Write a JSON file, whole or not at all."""
        path = Path(path)
        aside = path.with_name(f".{path.name}.{os.getpid()}")
        aside.write_text(json.dumps(self.to_json()) + "\n", encoding="utf-8")
        aside.replace(path)


def stratified_folds(
    labels: np.ndarray, num_folds: int = 10, seed: int = 0, *, groups: np.ndarray | None = None
) -> Folds:
    """Folds with the class shares of the whole, shuffled by `seed`.

    Parameters
    ----------
    labels
        (G,) class codes.
    groups
        (G,) codes; graphs of equal code, such as isomorphic twins, come into the same fold.

    Examples
    --------
    >>> folds = stratified_folds(np.array([0, 0, 0, 1, 1, 1]), num_folds=3)
    >>> [len(fold.test) for fold in folds]
    [2, 2, 2]
    """
    from sklearn.model_selection import StratifiedKFold

    labels = np.asarray(labels)
    _check_labels(labels)
    _check_num_folds(labels, num_folds)
    positions = np.arange(len(labels))
    if groups is None:
        parts = StratifiedKFold(num_folds, shuffle=True, random_state=seed).split(positions, labels)
        source = f"stratified, seed {seed}"
    else:
        if len(groups) != len(labels):
            raise OptionError(f"{len(groups)} group codes were given for {len(labels)} graphs; give one per graph.")
        num_groups = len(np.unique(groups))
        if num_groups < num_folds:
            raise OptionError(f"{num_groups} groups cannot fill {num_folds} folds. Ask for fewer folds.")
        parts = _grouped_split(labels, groups, num_folds, seed)
        source = f"stratified, twins together, seed {seed}"
    folds = Folds(len(labels), tuple(Fold(train, test) for train, test in parts), source)
    if any(len(fold.test) == 0 for fold in folds):
        raise OptionError(f"with these groups one of the {num_folds} folds stays empty. Ask for fewer folds.")
    return folds


def inner_split(
    train: np.ndarray, labels: np.ndarray, seed: int, share: float = 0.1, *, groups: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Hold a stratified share of a training part out for validation.

    Parameters
    ----------
    train
        (n,) positions of the training graphs.
    labels, groups
        (G,) codes of *all* graphs.

    Returns
    -------
    inner_train, validation
        Positions, ascending; together they are `train`.
    """
    from sklearn.model_selection import StratifiedShuffleSplit

    if not 0 < share < 1:
        raise OptionError(f"share={share} is not between 0 and 1.")
    train = np.sort(np.asarray(train))
    classes = np.asarray(labels)[train]
    _check_labels(classes)
    counts = np.unique(classes, return_counts=True)[1]
    held_out = max(round(share * len(train)), len(counts))  # at least one of each class
    if counts.min() < 2 or len(train) - held_out < len(counts):
        raise OptionError(
            f"a training part of {len(train)} graphs, {counts.min()} of them in the smallest class, cannot be split "
            f"into training and validation with every class in both. Use fewer folds or more graphs."
        )
    if groups is None:
        splitter = StratifiedShuffleSplit(1, test_size=held_out, random_state=seed)
        inner, validation = next(splitter.split(train, classes))
    else:
        own_groups = np.asarray(groups)[train]
        num_groups = len(np.unique(own_groups))
        if num_groups < 2:
            raise OptionError("all training graphs are in one group, so that none can be held out for validation.")
        pieces = max(2, min(round(1 / share), num_groups, int(counts.min())))
        inner, validation = next(_grouped_split(classes, own_groups, pieces, seed))
    return np.sort(train[inner]), np.sort(train[validation])


def _grouped_split(
    labels: np.ndarray, groups: np.ndarray, num_folds: int, seed: int
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Stratified folds that keep groups whole, shuffled by `seed`.

    The groups are shuffled here: with ``shuffle=True``, scikit-learn before 1.8 (the newest for Python 3.10 is 1.7)
    mixes up the class counts of the groups, and a fold may end with a single class.
    """
    from sklearn.model_selection import StratifiedGroupKFold

    distinct, codes = np.unique(groups, return_inverse=True)
    shuffled = np.random.default_rng(seed).permutation(len(distinct))[codes]
    return StratifiedGroupKFold(num_folds).split(labels, labels, shuffled)


def _check_labels(labels: np.ndarray) -> None:
    if (labels == UNKNOWN_CLASS).any():
        raise DatasetError(
            f"graph {np.flatnonzero(labels == UNKNOWN_CLASS)[0]} has no class; folds need a class for each."
        )


def _check_num_folds(labels: np.ndarray, num_folds: int) -> None:
    if num_folds < 2:
        raise OptionError(f"{num_folds} folds were asked for; a cross-validation needs at least 2.")
    classes, counts = np.unique(labels, return_counts=True)
    if len(counts) == 0 or counts.min() < num_folds:
        smallest = f"class {classes[counts.argmin()]} has {counts.min()}" if len(counts) else "there are no"
        raise OptionError(f"{num_folds} folds were asked for, but {smallest} graphs; ask for at most as many folds.")


def _equal(one: np.ndarray | None, other: np.ndarray | None) -> bool:
    return one is other if one is None or other is None else np.array_equal(one, other)


def _from(source: str) -> str:
    return f" ({source})" if source else ""
