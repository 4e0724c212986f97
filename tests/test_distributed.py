"""Ranks: what they exchange, how a batch is shared, and that together they learn what one process learns."""

from __future__ import annotations

import numpy as np
import pytest

from spgnn_dgl.distributed import ALONE, balanced, joined, ranks
from spgnn_dgl.errors import EnvironmentProblem
from tests import ranks as programs


def test_without_torchrun_a_process_is_alone(monkeypatch):
    monkeypatch.delenv("WORLD_SIZE", raising=False)
    with joined() as together:
        assert together is ALONE
        assert together.is_first
        assert together.speaks()
        np.testing.assert_array_equal(together.sum(np.arange(3)), np.arange(3))
        assert together.from_first(b"x") == b"x"
        assert together.share(np.ones(4)).all()


def test_half_of_torchruns_environment_is_one_clear_error(monkeypatch):
    monkeypatch.setenv("WORLD_SIZE", "2")
    for name in ("RANK", "MASTER_ADDR", "MASTER_PORT"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(EnvironmentProblem, match="Start them with torchrun"), joined():
        pass
    assert ranks() is ALONE


@pytest.mark.parametrize("parts", [1, 2, 3, 7])
def test_a_batch_is_shared_evenly(parts):
    """No part is heavier than the mean by more than one item, the bound of the greedy rule."""
    rng = np.random.default_rng(parts)
    for _ in range(20):
        costs = rng.integers(1, 500, rng.integers(parts, 60))
        part = balanced(costs, parts)
        loads = np.bincount(part, weights=costs, minlength=parts)
        assert (loads > 0).all()
        assert loads.max() <= costs.sum() / parts + costs.max()


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Where one process has begun a training that two ranks have gone on with; they have found a few things too."""
    place = tmp_path_factory.mktemp("ranks")
    with pytest.raises(programs.Stopped):
        programs.train("spgnn", checkpoint=programs.checkpoint(place), on_epoch=programs.stop_at(2))
    return place


@pytest.fixture(scope="module")
def found(folder):
    return programs.run(folder)


@pytest.mark.slow
def test_ranks_exchange(found):
    first, second = found
    assert first["sum"] == second["sum"] == [2.0, 1.0]
    assert first["from first"] == second["from first"] == ["abc", "-"]
    assert sorted([first["speaks"], second["speaks"]]) == [False, True]
    assert (first["cached"], second["cached"]) == (False, True)


@pytest.mark.slow
@pytest.mark.parametrize("name", programs.CASES)
def test_two_ranks_learn_what_one_process_learns(found, name):
    """The same curves of loss and accuracy, the same early stopping and predictions."""
    first, second = (rank[name] for rank in found)
    assert first == second
    alone = programs.train(**programs.CASES[name])
    curve = [[r.loss, r.accuracy, r.validation_loss, r.validation_accuracy] for r in alone.history]
    np.testing.assert_allclose(first["curve"], curve, rtol=1e-4)
    np.testing.assert_allclose(first["watched"], alone.watched[2], rtol=1e-4)
    assert first["best"] == alone.best_epoch
    assert (len(curve) < programs.EPOCHS) == (name == "stopped early")


@pytest.mark.slow
def test_a_training_goes_on_with_another_number_of_ranks(found, folder):
    """Two epochs by one process, two by two ranks, two by one process again."""
    assert programs.checkpoint(folder).load()[1]["epoch"] == programs.STOP_AT + 1
    undisturbed, handed_on = programs.train("spgnn"), programs.train("spgnn", checkpoint=programs.checkpoint(folder))
    assert [r.epoch for r in handed_on.history] == list(range(1, programs.EPOCHS + 1))
    losses, expected = ([r.loss for r in result.history] for result in (handed_on, undisturbed))
    np.testing.assert_allclose(losses, expected, rtol=1e-4)
    assert losses[:2] == expected[:2]
