"""SPGNN: the rule for k, what it can fit, what it reaches."""

from __future__ import annotations

import numpy as np
import pytest

from spgnn_dgl.data.folds import stratified_folds
from spgnn_dgl.data.load import load_dataset
from spgnn_dgl.methods import make_method
from spgnn_dgl.methods.spgnn import choose_k
from spgnn_dgl.nn import CatAggConv, GINConv, SortPool, WLSortPool
from tests.conftest import random_dataset


def test_rule_for_k():
    rng = np.random.default_rng(0)
    assert choose_k(rng.integers(5, 40, 100)) == (30,)
    assert choose_k(rng.integers(40, 100, 100)) == (30, 50)
    large = rng.integers(100, 900, 101)
    for domain, share in (("bioinformatics", 0.5), ("social", 0.9), (None, 0.5)):
        (k,) = choose_k(large, domain)
        assert np.mean(large < k) >= share
        assert np.mean(large < k - 1) < share, "the smallest such k"


@pytest.mark.real_data
def test_rule_for_k_on_the_papers_large_sets(real_dataset):
    (dd,) = choose_k(real_dataset("DD").node_counts, "bioinformatics")
    (reddit,) = choose_k(real_dataset("REDDIT-MULTI-5K").node_counts, "social")
    assert abs(dd - 241) <= 2
    assert abs(reddit - 1081) <= 2


def test_variants_differ_in_conv_and_readout_only():
    parts = {"spgnn": (CatAggConv, WLSortPool), "arch1": (CatAggConv, SortPool), "arch2": (GINConv, SortPool)}
    data = random_dataset(10)
    for name, (conv, readout) in parts.items():
        net = make_method(name, {"epochs": 1}).fit(data).net
        assert [type(c) for c in net.convs] == [conv] * 4
        assert isinstance(net.readout, readout)
        assert net.readout.k == 30


@pytest.mark.slow
@pytest.mark.real_data
def test_spgnn_fits_32_random_mutag_graphs(real_dataset):
    mutag = real_dataset("MUTAG")
    some = mutag.subset(np.random.default_rng(0).permutation(len(mutag))[:32])
    method = make_method("spgnn", {"epochs": 300, "lr": 0.003, "dropout": 0.0}).fit(some)
    assert np.mean(method.predict(some) == some.labels) == 1.0


@pytest.mark.slow
def test_motifs_are_learnt_within_the_demos_budget():
    data = load_dataset("MOTIFS")
    fold = next(iter(stratified_folds(data.labels, 5, seed=0)))
    method = make_method("spgnn", DEMO_OPTIONS).fit(data.subset(fold.train), seed=0)
    assert np.mean(method.predict(data.subset(fold.test)) == data.labels[fold.test]) >= 0.95


DEMO_OPTIONS = {"epochs": 60, "lr": 0.003}
