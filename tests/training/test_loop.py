"""The epoch loop: learning, options, odd batches, determinism, failures."""

from __future__ import annotations

import gc

import numpy as np
import pytest
import torch

from spgnn_dgl.data.features import FeaturePolicy
from spgnn_dgl.errors import EnvironmentProblem, TrainingError
from spgnn_dgl.training import TrainingOptions, evaluate, probabilities, train_network
from tests.conftest import random_dataset
from tests.training.networks import small_net, weights_of


def test_history_records_every_epoch_and_the_loss_falls():
    net, train = small_net(random_dataset(30, 0))
    seen = []
    result = train_network(net, train, TrainingOptions(epochs=30, lr=0.01), on_epoch=seen.append)
    assert [r.epoch for r in result.history] == list(range(1, 31))
    assert seen == result.history
    assert result.history[-1].loss < result.history[0].loss
    assert all(r.seconds > 0 for r in result.history)
    assert result.best_epoch == 30


def test_watched_graphs_are_predicted_at_the_asked_epochs_only_and_change_nothing():
    data = random_dataset(20, 1)
    net, train = small_net(data)
    watched = train_network(net, train, TrainingOptions(epochs=4), watch=train, watch_at=(2, 4))
    assert sorted(watched.watched) == [2, 4]
    np.testing.assert_array_equal(watched.watched[4], probabilities(net, train))
    alone, train = small_net(data)
    train_network(alone, train, TrainingOptions(epochs=4))
    assert torch.equal(weights_of(net), weights_of(alone))


def test_early_stopping_keeps_the_best_weights():
    data = random_dataset(40, 2)
    net, train = small_net(data)
    validation = train.policy.encoder(data.subset(range(20, 40)))
    train = train.policy.encoder(data.subset(range(20)))
    result = train_network(net, train, TrainingOptions(epochs=300, lr=0.02, patience=5), validation=validation)
    losses = [r.validation_loss for r in result.history]
    assert len(losses) < 300
    assert result.best_epoch == int(np.argmin(losses)) + 1
    assert len(losses) == result.best_epoch + 5
    assert evaluate(net, validation)[0] == pytest.approx(min(losses), rel=1e-5)


@pytest.mark.parametrize("threads", [1, 2])
def test_the_same_seed_gives_the_same_bits(threads):
    weights = []
    for _ in range(2):
        net, train = small_net(random_dataset(30, 3), seed=5)
        train_network(net, train, TrainingOptions(epochs=3, threads=threads), seed=5)
        weights.append(weights_of(net))
    assert torch.equal(*weights)


def test_another_seed_gives_other_weights_and_the_global_generator_is_left_alone():
    torch.manual_seed(0)
    before = torch.get_rng_state()
    weights = []
    for seed in (1, 2):
        net, train = small_net(random_dataset(30, 3), seed=0)
        train_network(net, train, TrainingOptions(epochs=2), seed=seed)
        weights.append(weights_of(net))
    assert not torch.equal(*weights)
    assert torch.equal(before, torch.get_rng_state())


@pytest.mark.parametrize(
    "options", [{"schedule": "cosine"}, {"schedule": "step"}, {"clip": 0.1}, {"class_weights": True}]
)
def test_options_change_the_training(options):
    plain, train = small_net(random_dataset(31, 5))
    train_network(plain, train, TrainingOptions(epochs=60, batch_size=31))
    changed, train = small_net(random_dataset(31, 5))
    train_network(changed, train, TrainingOptions(epochs=60, batch_size=31, **options))
    assert not torch.equal(weights_of(plain), weights_of(changed))


def test_class_weights_are_inverse_frequencies():
    """A weighted loss on one batch equals the plain loss on a batch where the rare class is repeated."""
    data = random_dataset(30, 6, num_classes=2).subset([*range(0, 30, 2), 1, 3, 5])  # 15 of class 0, 3 of class 1
    repeated = data.subset([*range(15), *[15, 16, 17] * 5])
    losses = []
    for source, weighted in ((data, True), (repeated, False)):
        net, _ = small_net(data, dropout=0.0)
        encoder = FeaturePolicy.fit(data).encoder(source)
        options = TrainingOptions(epochs=1, batch_size=100, class_weights=weighted)
        losses.append(train_network(net, encoder, options).history[0].loss)
    assert losses[0] == pytest.approx(losses[1], rel=1e-4)


@pytest.mark.parametrize("batch_size", [1, 7, 1000])
def test_batches_of_odd_sizes_train(batch_size):
    """Single graphs, graphs without edges, graphs smaller than k."""
    data = random_dataset(12, 7)
    assert (data.edge_counts == 0).any()
    assert (data.node_counts < 10).all()
    net, train = small_net(data)
    result = train_network(net, train, TrainingOptions(epochs=2, batch_size=batch_size))
    assert np.isfinite(result.history[-1].loss)


def test_a_loss_that_is_not_finite_says_what_to_try():
    net, train = small_net(random_dataset(12, 8))
    with torch.no_grad():
        net.head.out.bias.fill_(float("nan"))
    with pytest.raises(TrainingError, match=r"epoch 1.*smaller learning rate \(lr=0\.0001\).*clip=1\.0"):
        train_network(net, train, TrainingOptions(epochs=2))


@pytest.mark.skipif(torch.cuda.is_available(), reason="this machine has CUDA")
def test_cuda_without_cuda_names_the_remedy():
    net, train = small_net(random_dataset(12, 9))
    with pytest.raises(EnvironmentProblem, match=r"no CUDA device.*device='cpu'"):
        train_network(net, train, TrainingOptions(epochs=1, device="cuda"))


def test_training_leaves_threads_and_garbage_collection_as_they_were():
    threads, frozen, enabled = torch.get_num_threads(), gc.get_freeze_count(), gc.isenabled()
    net, train = small_net(random_dataset(12, 10))
    train_network(net, train, TrainingOptions(epochs=1, threads=1))
    assert (torch.get_num_threads(), gc.get_freeze_count(), gc.isenabled()) == (threads, frozen, enabled)
