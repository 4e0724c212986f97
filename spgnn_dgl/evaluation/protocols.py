"""Protocols: which graphs are trained on, judged on and tested, and which epoch is reported."""

from __future__ import annotations

import abc
import itertools
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np

from spgnn_dgl.data.folds import Fold, Folds, inner_split, stratified_folds
from spgnn_dgl.data.store import GraphDataset
from spgnn_dgl.evaluation.choices import Place, Record, best_average, epoch_accuracies
from spgnn_dgl.evaluation.units import FINAL, SELECT, Unit, derived_seed
from spgnn_dgl.methods import make_method
from spgnn_dgl.registry import Registry

PATIENCE = 50  # epochs without improvement after which the fair protocol stops a training
OPTIMISTIC, HONEST = "optimistic", "honest"


@dataclass(frozen=True, eq=False)
class Plan:
    """Everything that decides the results of an experiment on given data.

    Parameters
    ----------
    method, options
        Name of the method and the options that are set.
    search
        Options under search with their candidates, besides those that the method itself leaves to a search.
    epochs
        Candidate epochs, ascending; ``(0,)`` for a method without epochs.
    splits
        The folds of each repeat.
    groups
        (G,) codes of graphs that stay on one side of every split, where that is wanted.
    """

    method: str
    options: dict[str, Any]
    epochs: tuple[int, ...]
    seed: int
    splits: tuple[Folds, ...]
    search: dict[str, tuple[Any, ...]] = field(default_factory=dict)
    groups: np.ndarray | None = None

    def candidates(self, data: GraphDataset, train: np.ndarray) -> list[dict[str, Any]]:
        """Options to compare on inner validation of one training part; a single one when nothing is searched."""
        own = make_method(self.method, self.options).search_space(data.subset(train).info)
        left_open = {k: v for k, v in own.items() if self.options.get(k, "auto") == "auto"}
        space = {**left_open, **self.search}
        combinations = itertools.product(*space.values())
        return [{**self.options, **dict(zip(space, values))} for values in combinations]


class Protocol(abc.ABC):
    """A way to cross-validate.

    Class attributes: `default_repeats`, and `explanation` for the report.
    """

    default_repeats: ClassVar[int]
    explanation: ClassVar[str]

    @abc.abstractmethod
    def splits(
        self,
        data: GraphDataset,
        num_folds: int,
        repeats: int,
        seed: int,
        stored: Folds | None,
        groups: np.ndarray | None = None,
    ) -> tuple[Folds, ...]:
        """Folds of each repeat; `stored` ones where the user gave a file. Graphs of equal `groups` stay together."""

    @abc.abstractmethod
    def select_units(self, plan: Plan, data: GraphDataset) -> list[Unit]:
        """Trainings that decide between candidates; none where there is nothing to decide."""

    @abc.abstractmethod
    def final_units(self, plan: Plan, data: GraphDataset, chosen: Mapping[Place, dict[str, Any]]) -> list[Unit]:
        """Trainings whose test predictions are reported, with the options chosen for their place."""

    @abc.abstractmethod
    def views(self, finals: Sequence[Record]) -> dict[str, dict[Place, int]]:
        """Ways to choose the reported epoch: name → epoch of each place."""

    def method_options(self, options: dict[str, Any], has_epochs: bool, epochs: tuple[int, ...]) -> dict[str, Any]:
        """Options that the protocol itself sets."""
        return {**options, "epochs": max(epochs)} if has_epochs else dict(options)


PROTOCOLS: Registry[Protocol] = Registry("protocol")


def _register(name: str) -> Callable[[type[Protocol]], type[Protocol]]:
    """Make one instance known: protocols have no state."""

    def add(cls: type[Protocol]) -> type[Protocol]:
        PROTOCOLS.register(name)(cls())
        return cls

    return add


@_register("paper")
class PaperProtocol(Protocol):
    """Stratified folds; one training to the largest epoch, and the tested fold is watched at every candidate epoch.

    The epoch of the best average over the folds is reported: it is chosen on what it is reported on, hence
    *optimistic*. Beside it stands the *honest* number: for every fold the epoch that is best on the average of the
    *other* folds. It needs no further training.

    Options are searched on inner validation only: a stratified tenth of each training part.
    """

    default_repeats = 1
    explanation = (
        "Paper protocol: stratified folds, one training per fold to the largest candidate epoch, the tested fold "
        "predicted at every candidate epoch. *Optimistic*: the epoch with the best average accuracy over the tested "
        "folds, as the paper chooses; it is chosen on what it is reported on. *Honest*: for each fold the epoch with "
        "the best average over the other folds, so that no fold takes part in the choice of its own epoch; the same "
        "trainings, only the choice differs. (The models of the other folds were trained on graphs of this fold, as "
        "in every cross-validation; their epochs were judged on graphs that this fold does not contain.)"
    )

    def splits(
        self,
        data: GraphDataset,
        num_folds: int,
        repeats: int,
        seed: int,
        stored: Folds | None,
        groups: np.ndarray | None = None,
    ) -> tuple[Folds, ...]:
        if stored is not None:
            return (stored,) * repeats
        return tuple(
            stratified_folds(data.labels, num_folds, derived_seed(seed, repeat), groups=groups).of(data)
            for repeat in range(repeats)
        )

    def select_units(self, plan: Plan, data: GraphDataset) -> list[Unit]:
        units = []
        for repeat, number, fold in _places(plan.splits):
            train = _outer(fold)
            candidates = plan.candidates(data, train)
            if len(candidates) < 2:
                continue
            seed = derived_seed(plan.seed, repeat, number)
            if fold.validation is None:
                inner_seed = derived_seed(plan.seed, repeat, number, 1)
                inner, validation = inner_split(train, data.labels, inner_seed, groups=plan.groups)
            else:
                inner, validation = fold.train, fold.validation
            units += [
                Unit(SELECT, repeat, number, c, plan.method, options, inner, validation, None, plan.epochs, seed)
                for c, options in enumerate(candidates)
            ]
        return units

    def final_units(self, plan: Plan, data: GraphDataset, chosen: Mapping[Place, dict[str, Any]]) -> list[Unit]:
        units = []
        for repeat, number, fold in _places(plan.splits):
            options = chosen.get((repeat, number), plan.options)
            seed = derived_seed(plan.seed, repeat, number)
            parts = _outer(fold), None, fold.test
            units.append(Unit(FINAL, repeat, number, 0, plan.method, options, *parts, plan.epochs, seed))
        return units

    def views(self, finals: Sequence[Record]) -> dict[str, dict[Place, int]]:
        optimistic: dict[Place, int] = {}
        honest: dict[Place, int] = {}
        for repeat in sorted({r["repeat"] for r in finals}):
            curves = {r["fold"]: epoch_accuracies(r) for r in finals if r["repeat"] == repeat}
            for fold in curves:
                others = [curve for other, curve in curves.items() if other != fold]
                optimistic[repeat, fold] = best_average(list(curves.values()))
                # a single fold has no others; the last epoch is the one choice that looks at nothing
                honest[repeat, fold] = best_average(others) if others else max(curves[fold])
        return {OPTIMISTIC: optimistic, HONEST: honest}


@_register("fair")
class FairProtocol(Protocol):
    """Errica et al., *A Fair Comparison of Graph Neural Networks for Graph Classification*, ICLR 2020.

    Inside each outer training part a stratified tenth is held out: it chooses the options and stops the training.
    The final trainings, three per fold, stop on it too. The tested fold is predicted once, at the very end.

    The first final training of a fold is that of the chosen candidate, graph by graph and number by number: it is not
    done twice, and only the tested fold is predicted with it.
    """

    default_repeats = 3
    explanation = (
        "Fair protocol (Errica et al., ICLR 2020): inside each training part a stratified tenth is held out for "
        "validation; it chooses the options and, by early stopping on its loss, the epoch. Every fold is trained "
        "several times with different seeds, and its tested part is predicted once per training, at the end. The "
        "number under the paper's selection does not exist here: it would need to look at the tested fold."
    )

    def splits(
        self,
        data: GraphDataset,
        num_folds: int,
        repeats: int,
        seed: int,
        stored: Folds | None,
        groups: np.ndarray | None = None,
    ) -> tuple[Folds, ...]:
        folds = stored or stratified_folds(data.labels, num_folds, derived_seed(seed, 0), groups=groups).of(data)
        completed = []
        for number, fold in enumerate(folds):
            if fold.validation is None:
                inner_seed = derived_seed(seed, 0, number, 1)
                inner, validation = inner_split(fold.train, data.labels, inner_seed, groups=groups)
                fold = Fold(inner, fold.test, validation)
            completed.append(fold)
        return (replace(folds, folds=tuple(completed)),) * repeats

    def method_options(self, options: dict[str, Any], has_epochs: bool, epochs: tuple[int, ...]) -> dict[str, Any]:
        options = super().method_options(options, has_epochs, epochs)
        return {**options, "patience": options.get("patience") or PATIENCE} if has_epochs else options

    def select_units(self, plan: Plan, data: GraphDataset) -> list[Unit]:
        units = []
        for number, fold in enumerate(plan.splits[0]):  # the folds are shared, so one choice serves all repeats
            candidates = plan.candidates(data, _outer(fold))
            if len(candidates) < 2:
                continue
            seed = derived_seed(plan.seed, 0, number)
            units += [
                Unit(SELECT, 0, number, c, plan.method, options, fold.train, fold.validation, None, (), seed)
                for c, options in enumerate(candidates)
            ]
        return units

    def final_units(self, plan: Plan, data: GraphDataset, chosen: Mapping[Place, dict[str, Any]]) -> list[Unit]:
        units = []
        candidates = {(unit.fold, unit.seed, json.dumps(unit.options)): unit for unit in self.select_units(plan, data)}
        for repeat, number, fold in _places(plan.splits):
            options = chosen.get((0, number), plan.options)
            seed = derived_seed(plan.seed, repeat, number)
            parts = fold.train, fold.validation, fold.test
            candidate = candidates.get((number, seed, json.dumps(options)))  # None but for the first repeat
            same_as = None if candidate is None else candidate.name
            units.append(Unit(FINAL, repeat, number, 0, plan.method, options, *parts, (), seed, same_as))
        return units

    def views(self, finals: Sequence[Record]) -> dict[str, dict[Place, int]]:
        return {HONEST: {(r["repeat"], r["fold"]): int(next(iter(r["probabilities"]))) for r in finals}}


def _outer(fold: Fold) -> np.ndarray:
    """The whole training part of a fold, a stored validation part included."""
    return fold.train if fold.validation is None else np.sort(np.concatenate([fold.train, fold.validation]))


def _places(splits: Sequence[Folds]) -> Iterator[tuple[int, int, Fold]]:
    for repeat, folds in enumerate(splits):
        for number, fold in enumerate(folds):
            yield repeat, number, fold
