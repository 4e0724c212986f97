"""What workers see: a dataset travels as a path, a run folder is known by a mark."""

from __future__ import annotations

import os
import pickle
from dataclasses import replace

import numpy as np
import pytest

from spgnn_dgl.data.readers.graphs import with_labels
from spgnn_dgl.data.saved import open_store, save_store
from spgnn_dgl.errors import DatasetNotFoundError
from spgnn_dgl.evaluation.sharing import marked, shared, store_of
from tests.conftest import random_dataset


def test_a_stored_dataset_travels_as_its_path(tmp_path):
    save_store(tmp_path / "store", random_dataset(400, max_nodes=40))
    data = open_store(tmp_path / "store")[5:300]
    with shared(data) as sent:
        text = pickle.dumps(sent)
        received = pickle.loads(text).open()
    assert sent.folder == str(tmp_path / "store")
    assert len(text) < 10_000 < data.arrays.neighbours.nbytes
    assert store_of(received) == tmp_path / "store"  # mapped, not copied
    np.testing.assert_array_equal(received.labels, data.labels)
    np.testing.assert_array_equal(received.members, data.members)
    assert received.meta == data.meta


def test_a_dataset_in_memory_gets_a_store_for_the_time_being():
    data = random_dataset(20)[3:15]
    with shared(data) as sent:
        received = sent.open()
        np.testing.assert_array_equal(received.labels, data.labels)
        assert received.batch([2]).num_edges() == data.batch([2]).num_edges()
    assert not os.path.exists(sent.folder)


def test_changed_labels_are_not_taken_from_the_store(tmp_path):
    save_store(tmp_path / "store", random_dataset(8))
    changed = with_labels(open_store(tmp_path / "store"), ["a", "b"] * 3 + ["c", "c"])
    assert store_of(changed) is None
    with shared(changed) as sent:
        np.testing.assert_array_equal(sent.open().labels, changed.labels)


def test_other_data_at_the_same_place_is_not_taken_for_it(tmp_path):
    save_store(tmp_path / "store", random_dataset(8))
    with shared(open_store(tmp_path / "store")) as sent:
        pass
    save_store(tmp_path / "store", random_dataset(8, 1))
    with pytest.raises(DatasetNotFoundError, match=r"does not see the dataset.*--backend ray"):
        sent.open()
    with pytest.raises(DatasetNotFoundError):
        replace(sent, folder=str(tmp_path / "nowhere")).open()


def test_a_mark_is_there_for_the_time_being(tmp_path):
    with marked(tmp_path / "run") as mark:
        assert mark.exists()
        assert mark.parent == tmp_path / "run"
    assert list((tmp_path / "run").iterdir()) == []
