"""Checkpoints: a training that goes on from one is the undisturbed one, bit for bit; another one is refused."""

from __future__ import annotations

import json

import numpy as np
import pytest
import torch
from safetensors.numpy import save_file

from spgnn_dgl.checkpoint import Checkpoint, how_to_go_on
from spgnn_dgl.errors import RunError
from spgnn_dgl.training import TrainingOptions, learner, train_network
from tests.conftest import random_dataset
from tests.training.networks import small_net, weights_of


class Stopped(Exception):
    """Stands for whatever ends a training."""


class StopsAfter(Checkpoint):
    """Ends the training once it has been written so many times."""

    def __init__(self, *args, times: int, **how):
        super().__init__(*args, **how)
        self.times = times

    def save(self, arrays, values):
        super().save(arrays, values)
        self.times -= 1
        if self.times == 0:
            raise Stopped


def train(checkpoint=None, *, seed=2, dropout=0.5, **options):
    data = random_dataset(50, 3)
    net, _ = small_net(data, dropout=dropout)
    encoder = _.policy.encoder
    settings = TrainingOptions(**{"epochs": 6, "batch_size": 5, "lr": 0.02, **options})
    watched = encoder(data.subset(range(40, 50)))
    how = {"validation": watched, "watch": watched, "watch_at": (1, 4), "seed": seed, "checkpoint": checkpoint}
    return net, train_network(net, encoder(data.subset(range(40))), settings, **how)


def same(found, expected):
    assert torch.equal(weights_of(found[0]), weights_of(expected[0]))
    for ours, theirs in zip(found[1].history, expected[1].history, strict=True):
        assert (ours.epoch, ours.loss, ours.accuracy) == (theirs.epoch, theirs.loss, theirs.accuracy)
        assert (ours.validation_loss, ours.validation_accuracy) == (theirs.validation_loss, theirs.validation_accuracy)
        assert ours.seconds > 0
    assert found[1].best_epoch == expected[1].best_epoch
    assert found[1].watched.keys() == expected[1].watched.keys()
    for epoch, probabilities in expected[1].watched.items():
        np.testing.assert_array_equal(found[1].watched[epoch], probabilities)


@pytest.mark.parametrize("options", [{}, {"schedule": "cosine"}, {"patience": 2}], ids=str)
@pytest.mark.parametrize("writings", [1, 2])
def test_a_training_that_was_stopped_after_an_epoch_ends_with_the_same_bits(tmp_path, options, writings):
    path = tmp_path / "model.checkpoint"
    with pytest.raises(Stopped):
        train(StopsAfter(path, {}, every=0, times=writings), **options)
    same(train(Checkpoint(path, {}), **options), train(**options))


@pytest.mark.parametrize("writings", [1, 2, 3, 8])
def test_a_training_that_was_stopped_within_an_epoch_ends_with_the_same_bits(tmp_path, monkeypatch, writings):
    """An epoch has eight steps; with a pause after every third it is written twice within each and once after it."""
    monkeypatch.setattr(learner, "PAUSE", 3)
    path = tmp_path / "model.checkpoint"
    with pytest.raises(Stopped):
        train(StopsAfter(path, {}, every=0, times=writings))
    same(train(Checkpoint(path, {})), train())


def test_one_that_died_again_and_again_still_ends_the_same(tmp_path, monkeypatch):
    monkeypatch.setattr(learner, "PAUSE", 3)
    path = tmp_path / "model.checkpoint"
    for _ in range(4):
        with pytest.raises(Stopped):
            train(StopsAfter(path, {}, every=0, times=4))
    same(train(Checkpoint(path, {})), train())


def test_a_training_that_had_stalled_stays_so(tmp_path):
    """It was stopped after its last epoch, before anything was made of it."""
    path = tmp_path / "model.checkpoint"
    options = {"patience": 1, "lr": 0.5, "epochs": 40}
    ended = train(Checkpoint(path, {}, every=0), **options)
    assert len(ended[1].history) < 40
    same(train(Checkpoint(path, {}), **options), ended)


def test_it_is_written_no_more_often_than_asked_for(tmp_path):
    path = tmp_path / "deeper" / "model.checkpoint"
    train(Checkpoint(path, {}, every=3600))
    assert not path.exists()
    train(Checkpoint(path, {}, every=0))
    assert [place.name for place in path.parent.iterdir()] == [path.name]  # nothing half-written beside it


def test_the_checkpoint_of_another_training_is_refused_with_the_keys_that_differ(tmp_path):
    identity = {"method": "spgnn", "options": {"lr": 0.02, "epochs": 6, "dims": (3, 4)}, "seed": 2}
    train(Checkpoint(tmp_path / "c", identity, every=0))
    assert Checkpoint(tmp_path / "c", identity).load() is not None
    other = {"method": "spgnn", "options": {"lr": 0.01, "epochs": 6, "dims": (3, 4), "clip": 1.0}, "seed": 2}
    with pytest.raises(RunError, match="another training") as caught:
        Checkpoint(tmp_path / "c", other).load()
    text = str(caught.value)
    assert "options.lr: 0.02 there, 0.01 now" in text
    assert "options.clip: None there, 1.0 now" in text
    assert "seed" not in text
    assert "epochs" not in text


@pytest.mark.parametrize("content", [b"", b"no checkpoint", None])
def test_a_file_that_is_no_checkpoint_is_one_clear_error(tmp_path, content):
    path = tmp_path / "c"
    if content is None:
        save_file({"x": np.zeros(2)}, path, metadata={"spgnn_dgl": json.dumps({"format": "else", "version": 1})})
    else:
        path.write_bytes(content)
    with pytest.raises(RunError, match=r"no checkpoint that this program can read.*remove the file to start over"):
        Checkpoint(path, {}).load()


def test_a_stopped_training_says_how_to_go_on(tmp_path):
    path = tmp_path / "c"
    assert "starts over" in how_to_go_on(path)
    with pytest.raises(Stopped):
        train(StopsAfter(path, {}, every=0, times=3))
    assert f"The last checkpoint is '{path}', written in epoch 4" in how_to_go_on(path)
    Checkpoint(path, {}).remove()
    assert not path.exists()
