"""SPGNN: the rule for k, what it can fit, what it reaches."""

from __future__ import annotations

import numpy as np
import pytest

from spgnn_dgl.data.folds import stratified_folds
from spgnn_dgl.data.load import load_dataset
from spgnn_dgl.errors import OptionError, UnknownNameError
from spgnn_dgl.methods import METHODS, make_method
from spgnn_dgl.methods.spgnn import choose_k
from spgnn_dgl.nn import CONVS, READOUTS, CatAggConv, GINConv, SortPool, WLSortPool
from spgnn_dgl.nn.norm import BatchNorm, NoNorm
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


@pytest.mark.parametrize(
    ("conv", "readout"), [("gin", "wlsortpool"), ("gcn", "sum"), ("gat", "sortpool"), ("Cat-Agg", "mean")]
)
def test_any_conv_goes_with_any_readout(conv, readout):
    data = random_dataset(10)
    method = make_method("spgnn", {"conv": conv, "readout": readout, "epochs": 1}).fit(data)
    assert {type(c) for c in method.net.convs} == {CONVS.get(conv)}
    assert type(method.net.readout) is READOUTS.get(readout)
    assert method.predict_proba(data).shape == (10, 2)
    assert ("k" in method.fitted_options()) == ("sortpool" in readout)
    medium = random_dataset(30, max_nodes=200).info  # between 30 and 200 nodes on average: k is searched
    assert ("k" in method.search_space(medium)) == ("sortpool" in readout)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"conv": "catag"}, "unknown conv 'catag'. Did you mean 'catagg'"),
        ({"readout": "wlsortpol"}, "unknown readout 'wlsortpol'. Did you mean 'wlsortpool'"),
        ({"conv": "gin", "pool": "mean"}, "the conv 'gin' has no option 'pool'"),
        ({"readout": "sum", "k": 30}, "the readout 'sum' keeps no k nodes"),
    ],
)
def test_parts_that_do_not_fit_are_refused_before_training(options, message):
    with pytest.raises((OptionError, UnknownNameError), match=message):
        make_method("spgnn", options)


def test_a_readout_that_needs_more_than_the_method_has():
    with pytest.raises(OptionError, match=r"the readout 'jumping' needs spec, num_classes"):
        make_method("spgnn", {"readout": "jumping", "epochs": 1}).fit(random_dataset(10))


def test_an_ablation_is_spgnn_with_other_defaults():
    changed = {"arch1": {"readout": "sortpool"}, "arch2": {"conv": "gin", "readout": "sortpool", "activation": "relu"}}
    further = {"arch1": {}, "arch2": {"batch_norm": False}}  # an option that spgnn does not have
    plain = METHODS.get("spgnn").options()
    for name, options in changed.items():
        assert METHODS.get(name).options() == {**plain, **options, **{option: True for option in further[name]}}
        own, same = (
            make_method(n, {"epochs": 1, **o}).fit(random_dataset(10))
            for n, o in ((name, further[name]), ("spgnn", options))
        )
        np.testing.assert_array_equal(own.predict_proba(random_dataset(4)), same.predict_proba(random_dataset(4)))


def test_architecture_2_has_the_batch_norm_of_gin_unless_told_otherwise():
    data = random_dataset(10)
    for options, expected in (({}, BatchNorm), ({"batch_norm": False}, NoNorm)):
        net = make_method("arch2", {"epochs": 1, **options}).fit(data).net
        assert {type(norm) for conv in net.convs for norm in (conv.norm1, conv.norm2)} == {expected}


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
