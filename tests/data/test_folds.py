"""Folds: every graph tested once, classes shared out evenly, twins together, and refusal of what cannot be folded."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spgnn_dgl.data.folds import Fold, Folds, inner_split, stratified_folds
from spgnn_dgl.errors import DatasetError, OptionError


@st.composite
def labels_and_folds(draw):
    counts = draw(st.lists(st.integers(3, 20), min_size=1, max_size=4))
    labels = np.repeat(np.arange(len(counts)), counts)
    labels = np.random.default_rng(draw(st.integers(0, 99))).permutation(labels)
    return labels, draw(st.integers(2, min(counts)))


@settings(max_examples=40, deadline=None)
@given(labels_and_folds(), st.integers(0, 1000))
def test_every_graph_is_tested_once_and_classes_are_shared_evenly(case, seed):
    labels, num_folds = case
    folds = stratified_folds(labels, num_folds, seed)
    assert sorted(i for fold in folds for i in fold.test.tolist()) == list(range(len(labels)))
    for fold in folds:
        assert sorted([*fold.train.tolist(), *fold.test.tolist()]) == list(range(len(labels)))
        for value, total in Counter(labels.tolist()).items():
            assert abs(int((labels[fold.test] == value).sum()) - total / num_folds) < 1 + 1e-9
    assert len(folds.never_tested) == 0


def test_the_seed_decides():
    labels = np.arange(60) % 3
    assert stratified_folds(labels, 5, seed=1).same_as(stratified_folds(labels, 5, seed=1))
    assert not stratified_folds(labels, 5, seed=1).same_as(stratified_folds(labels, 5, seed=2))


def test_groups_stay_together():
    labels = np.arange(60) % 3
    groups = np.repeat(np.arange(30), 2)
    folds = stratified_folds(labels, 5, seed=0, groups=groups)
    assert sorted(i for fold in folds for i in fold.test.tolist()) == list(range(60))
    for fold in folds:
        assert not set(groups[fold.test]) & set(groups[fold.train])


@pytest.mark.parametrize("seed", range(5))
def test_grouped_folds_have_the_class_shares_of_the_whole(seed):
    sizes = [20, 12, 8] + [5] * 10 + [1] * 310  # few large groups, each of one class, and many single graphs
    groups = np.repeat(np.arange(len(sizes)), sizes)
    labels = np.where(groups < 13, groups % 3, np.arange(len(groups)) % 3)
    shares = np.bincount(labels) / len(labels)
    for fold in stratified_folds(labels, 10, seed, groups=groups):
        assert np.abs(np.bincount(labels[fold.test], minlength=3) / len(fold.test) - shares).max() < 0.1


def test_the_seed_decides_grouped_folds_too():
    labels, groups = np.arange(60) % 3, np.arange(60) // 2
    first = stratified_folds(labels, 5, seed=1, groups=groups)
    assert first.same_as(stratified_folds(labels, 5, seed=1, groups=groups))
    assert not first.same_as(stratified_folds(labels, 5, seed=2, groups=groups))


def test_groups_that_fill_no_fold_are_refused():
    labels = np.array([0] * 10 + [1] * 10)
    with pytest.raises(OptionError, match="fewer folds"):
        stratified_folds(labels, 5, groups=np.repeat([0, 1], 10))
    with pytest.raises(OptionError, match="one per graph"):
        stratified_folds(labels, 5, groups=np.zeros(3))


@pytest.mark.parametrize(
    ("labels", "num_folds", "message"),
    [
        ([0] * 9 + [1] * 3, 4, "class 1 has 3 graphs"),
        ([0, 1] * 5, 1, "at least 2"),
        ([], 2, "there are no graphs"),
    ],
)
def test_folds_that_cannot_be_made(labels, num_folds, message):
    with pytest.raises(OptionError, match=message):
        stratified_folds(np.array(labels, dtype=int), num_folds)


def test_a_graph_without_a_class_is_refused():
    with pytest.raises(DatasetError, match="graph 2 has no class"):
        stratified_folds(np.array([0, 1, -1, 0]), 2)


@settings(max_examples=40, deadline=None)
@given(labels_and_folds(), st.integers(0, 1000), st.sampled_from([0.1, 0.25, 0.5]))
def test_inner_split_is_a_stratified_partition(case, seed, share):
    labels, num_folds = case
    train = stratified_folds(labels, num_folds, seed)[0].train
    counts = Counter(labels[train].tolist())
    if min(counts.values()) < 2:
        with pytest.raises(OptionError, match="every class in both"):
            inner_split(train, labels, seed, share)
        return
    inner, validation = inner_split(train, labels, seed, share)
    assert sorted([*inner.tolist(), *validation.tolist()]) == sorted(train.tolist())
    assert len(validation) == max(round(share * len(train)), len(counts))
    assert set(labels[inner]) == set(counts)
    assert inner.tolist() == sorted(inner.tolist())
    again = inner_split(train[::-1], labels, seed, share)  # the order of the positions does not matter
    assert np.array_equal(validation, again[1])


def test_inner_split_keeps_groups_together():
    labels, groups = np.arange(80) % 2, np.arange(80) // 4
    train = np.arange(0, 60)
    inner, validation = inner_split(train, labels, seed=1, share=0.2, groups=groups)
    assert not set(groups[inner]) & set(groups[validation])
    assert sorted([*inner, *validation]) == train.tolist()
    assert 8 <= len(validation) <= 16
    with pytest.raises(OptionError, match="one group"):
        inner_split(train, labels, seed=1, groups=np.zeros(80))


@pytest.mark.parametrize("share", [0, 1, -0.1, float("nan")])
def test_a_share_must_be_a_share(share):
    with pytest.raises(OptionError, match="between 0 and 1"):
        inner_split(np.arange(10), np.arange(10) % 2, 0, share)


def test_folds_of_other_data_are_refused(tiny):
    folds = stratified_folds(tiny.labels, 3).of(tiny)
    folds.check_dataset(tiny)
    with pytest.raises(DatasetError, match="12 graphs, but random0 has 5"):
        folds.check_dataset(tiny.subset(range(5)))
    foreign = Folds(folds.num_graphs, folds.folds, dataset="OTHER", fingerprint="0" * 64)
    with pytest.raises(DatasetError, match="other data"):
        foreign.check_dataset(tiny)


def test_a_fold_is_taken_by_position():
    folds = stratified_folds(np.arange(12) % 2, 3)
    assert len(folds) == 3
    assert isinstance(folds[1], Fold)
    assert [fold.test.tolist() for fold in folds] == [folds[k].test.tolist() for k in range(3)]
