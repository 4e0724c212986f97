from __future__ import annotations

import sys
from pathlib import Path

import networkx as nx
import numpy as np
import pytest

from spgnn_dgl.data.builtin import motifs
from spgnn_dgl.data.readers.graphs import as_dataset
from spgnn_dgl.data.store import GraphDataset
from spgnn_dgl.data.substructures.corpus import BASES
from spgnn_dgl.data.substructures.words import counts_in
from spgnn_dgl.errors import DatasetError, MissingExtraError, OptionError
from spgnn_dgl.methods import make_method
from spgnn_dgl.modelfile import load_model, save_model

pytest.importorskip("gensim")
QUICK = {"dimensions": 8, "epochs": 2}


@pytest.fixture
def data() -> GraphDataset:
    return motifs(num_graphs=60)


@pytest.mark.parametrize("base", list(BASES))
def test_the_kernel_is_counts_times_similarities_times_counts(data: GraphDataset, base: str) -> None:
    method = make_method("dgk", QUICK | {"base": base}).fit(data[:40])
    P = counts_in(method._vocabulary, BASES[base].words(data, "degree", 2)).toarray()  # (G, V)
    M = np.array([[a @ b for b in method._vectors] for a in method._vectors])  # (V, V)
    K = P @ M @ P.T
    scale = np.sqrt(np.diag(K))
    vectors = method.vectors(data)
    np.testing.assert_allclose(method.compare(vectors, vectors, "cosine"), K / np.outer(scale, scale), atol=1e-9)


def test_words_that_occur_together_become_similar() -> None:
    """Graphs of one class have only the labels a and b, of the other only c and d."""
    rng = np.random.default_rng(0)
    graphs = []
    for i in range(80):
        graph = nx.gnp_random_graph(12, 0.2, seed=i)
        nx.set_node_attributes(graph, {v: str(rng.choice(["a", "b"] if i % 2 else ["c", "d"])) for v in graph}, "label")
        graphs.append(graph)
    data = as_dataset(graphs, [i % 2 for i in range(80)])
    method = make_method("dgk", {"dimensions": 8, "epochs": 30, "height": 0}).fit(data)
    first, second = method.vectors(data[[0]]), method.vectors(data[[1]])
    vectors = method._vectors / np.linalg.norm(method._vectors, axis=1, keepdims=True)
    similarity = vectors @ vectors.T  # of the four labels, in an order of its own
    partner = np.argsort(-similarity, axis=1)[:, 1]
    assert (partner[partner] == np.arange(4)).all()  # two pairs
    assert method.compare(first, second, "cosine") < 0.9


def test_watched_graphs_have_no_influence_unless_asked(data: GraphDataset) -> None:
    alone = make_method("dgk", QUICK).fit(data[:40])
    watched = make_method("dgk", QUICK).fit(data[:40], watch=data[40:])
    np.testing.assert_array_equal(alone.predict_proba(data[40:]), watched.watched[0])
    together = make_method("dgk", QUICK | {"transductive": True}).fit(data[:40], watch=data[40:])
    assert together.fitted_options()["words"] > watched.fitted_options()["words"]
    with pytest.raises(OptionError, match="give them as watch"):
        make_method("dgk", {"transductive": True}).fit(data)


@pytest.mark.parametrize("base", list(BASES))
def test_saved_and_loaded(data: GraphDataset, tmp_path: Path, base: str) -> None:
    options = QUICK | {"base": base, "C": 10.0}
    method = make_method("dgk", options).fit(data[:40], watch=data[40:])
    save_model(tmp_path / "m.safetensors", method, "dgk", options, {})
    loaded, _ = load_model(tmp_path / "m.safetensors")
    np.testing.assert_array_equal(loaded.predict_proba(data[40:]), method.watched[0])
    assert loaded.fitted_options() == method.fitted_options()


def test_graphs_without_any_substructure_are_refused() -> None:
    with pytest.raises(DatasetError, match="no substructure of base='graphlet'"):
        make_method("dgk", {"base": "graphlet"}).fit(as_dataset([nx.path_graph(2), nx.empty_graph(3)], [0, 1]))


@pytest.mark.parametrize("options", [{"base": "tree"}, {"window": 0}, {"height": -1}, {"dimension": 3}])
def test_wrong_options_are_refused(options: dict) -> None:
    with pytest.raises(OptionError):
        make_method("dgk", options)


def test_a_missing_package_is_told_with_the_command(tiny: GraphDataset, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "gensim", None)
    monkeypatch.setitem(sys.modules, "gensim.models", None)
    with pytest.raises(MissingExtraError, match=r"spgnn_dgl\[embeddings\]"):
        make_method("dgk").fit(tiny)
