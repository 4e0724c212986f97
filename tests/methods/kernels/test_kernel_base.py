"""What all kernels share, shown on the WL kernel."""

from __future__ import annotations

from pathlib import Path

import networkx as nx
import numpy as np
import pytest

from spgnn_dgl.data.builtin import motifs
from spgnn_dgl.data.readers.graphs import as_dataset
from spgnn_dgl.data.saved import open_store, save_store
from spgnn_dgl.data.store import GraphDataset
from spgnn_dgl.errors import BudgetExceeded, DatasetError, OptionError
from spgnn_dgl.methods import make_method
from spgnn_dgl.methods.kernels import base
from spgnn_dgl.methods.kernels.wl import WLKernel
from spgnn_dgl.modelfile import load_model, save_model


@pytest.fixture
def data() -> GraphDataset:
    return motifs(num_graphs=120)[:100]


@pytest.fixture
def store(data: GraphDataset, tmp_path: Path) -> GraphDataset:
    """The same graphs as a store of their own."""
    return open_store(save_store(tmp_path / "store", data))


def count_calls(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, int]]:
    """Sizes of all kernels that are computed from now on."""
    calls, plain = [], WLKernel.kernels

    def counted(self, rows, columns, values, deadline):
        calls.append((len(rows), len(columns)))
        return plain(self, rows, columns, values, deadline)

    monkeypatch.setattr(WLKernel, "kernels", counted)
    return calls


def test_folds_slice_one_matrix(store: GraphDataset, monkeypatch: pytest.MonkeyPatch, cache_folder: Path) -> None:
    calls = count_calls(monkeypatch)
    for start in range(3):
        test = np.arange(start, len(store), 3)
        method = make_method("wl").fit(store[np.setdiff1d(np.arange(len(store)), test)], watch=store[test])
        assert method.watched[0].shape == (len(test), 3)
    assert calls == [(len(store), len(store))]
    assert len(list((cache_folder / "derived").glob("*.npy"))) == 5  # one per height


def test_sliced_and_directly_computed_predictions_are_equal(store: GraphDataset, data: GraphDataset) -> None:
    method = make_method("wl").fit(store[:70], seed=1)
    assert np.array_equal(method.predict_proba(store[70:]), method.predict_proba(data[70:]))


def test_a_small_part_of_a_store_is_computed_alone(
    store: GraphDataset, monkeypatch: pytest.MonkeyPatch, cache_folder: Path
) -> None:
    calls = count_calls(monkeypatch)
    method = make_method("wl", {"height": 2}).fit(store[:40])
    method.predict(store[40:45])
    support = len(method.svm.support)
    assert calls == [(40, 40), (5, support)]
    assert not cache_folder.exists()


def test_options_are_chosen_without_a_look_at_the_test_graphs(store: GraphDataset) -> None:
    """Other classes of the test graphs change nothing."""
    train, test = np.arange(0, 80), np.arange(80, 100)
    arrays = store.arrays
    labels = arrays.labels.copy()
    labels[test] = (labels[test] + 1) % 3
    turned = GraphDataset(type(arrays)(**{**arrays.present(), "labels": labels}), store.meta)
    one, other = make_method("wl").fit(store[train]), make_method("wl").fit(turned[train])
    assert one.fitted_options() == other.fitted_options()
    np.testing.assert_array_equal(one.predict_proba(store[test]), other.predict_proba(turned[test]))


def test_validation_graphs_choose(store: GraphDataset, data: GraphDataset) -> None:
    inside = make_method("wl").fit(store[:60], validation=store[60:80])
    outside = make_method("wl").fit(store[:60], validation=data[60:80])  # the same graphs from another store
    assert inside.fitted_options() == outside.fitted_options()
    given = make_method("wl", {"C": 1.0, "height": 1}).fit(store[:60], validation=store[60:80])
    assert given.fitted_options() == {"C": 1.0, "height": 1, "features": "degree"}


def test_saved_with_support_graphs_alone(store: GraphDataset, data: GraphDataset, tmp_path: Path) -> None:
    method = make_method("wl").fit(store[:70])
    save_model(tmp_path / "m.safetensors", method, "wl", {}, {})
    loaded, _ = load_model(tmp_path / "m.safetensors")
    np.testing.assert_array_equal(loaded.predict_proba(data[70:]), method.predict_proba(store[70:]))
    assert loaded.fitted_options() == method.fitted_options()
    arrays, _ = method.state()
    assert len(arrays["support.labels"]) == len(method.svm.support)


def test_a_budget_ends_the_fit(store: GraphDataset) -> None:
    with pytest.raises(BudgetExceeded, match=f"the wl kernel on {store.name}"):
        make_method("wl", {"budget": 1e-9}).fit(store)


def test_a_matrix_beyond_the_memory_is_refused(store: GraphDataset, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(base, "physical_memory", lambda: 1000.0)
    with pytest.raises(DatasetError, match="kernel matrix of 100 graphs"):
        make_method("wl").fit(store)


def test_wrong_options_are_told_at_once() -> None:
    with pytest.raises(OptionError, match="Did you mean 'height'"):
        make_method("wl", {"heigth": 3})
    with pytest.raises(OptionError, match="Did you mean 'budget'"):
        WLKernel(budgt=3)
    for options in ({"height": -1}, {"height": "tall"}, {"C": 0}, {"inner_folds": 1}, {"budget": "long"}):
        with pytest.raises(OptionError):
            make_method("wl", options)


def test_labels_are_required_where_the_model_reads_them(tiny: GraphDataset) -> None:
    method = make_method("wl").fit(tiny)
    with pytest.raises(DatasetError, match="have none"):
        method.predict(as_dataset([nx.path_graph(3)], [0]))


def test_graphs_without_any_word_have_kernel_zero() -> None:
    kernel = base.normalised(np.zeros((2, 2)), np.array([0.0, 4.0]), np.array([1.0, -1.0]))
    np.testing.assert_array_equal(kernel, 0)
    assert kernel.dtype == np.float32
