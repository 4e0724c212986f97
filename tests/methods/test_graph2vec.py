from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import networkx as nx
import numpy as np
import pytest
from scipy.optimize import minimize

from spgnn_dgl.data.builtin import motifs
from spgnn_dgl.data.readers.graphs import as_dataset
from spgnn_dgl.data.store import GraphDataset
from spgnn_dgl.data.substructures.wl import wl_colours
from spgnn_dgl.data.substructures.words import counts_in, vocabulary_of
from spgnn_dgl.errors import MissingExtraError, OptionError
from spgnn_dgl.methods import graph2vec, make_method
from spgnn_dgl.modelfile import load_model, save_model

pytest.importorskip("gensim")
QUICK = {"dimensions": 8, "epochs": 3}


@pytest.fixture
def data() -> GraphDataset:
    return motifs(num_graphs=60)


def test_documents_are_the_subtrees_of_the_nodes(tiny: GraphDataset) -> None:
    method = make_method("graph2vec", {"height": 1})
    method.labels_ = "labels"
    words = method.words(tiny)
    documents = graph2vec._documents(counts_in(vocabulary_of(words), words))
    rounds = wl_colours(tiny, 1)
    offsets = tiny.arrays.node_offsets
    for graph, document in enumerate(documents):
        own = slice(offsets[graph], offsets[graph + 1])
        expected = Counter((t, c) for t, colours in enumerate(rounds) for c in colours[own].tolist())
        assert sorted(Counter(document).values()) == sorted(expected.values())
    assert len({word for document in documents for word in document}) == sum(c.max() + 1 for c in rounds)


def test_an_inferred_vector_is_the_maximum_of_the_objective(data: GraphDataset) -> None:
    method = make_method("graph2vec", QUICK | {"epochs": 30}).fit(data)
    counts = counts_in(method._vocabulary, method.words(data[:3])).toarray()
    for row, vector in zip(counts, method.vectors(data[:3])):

        def loss(z: np.ndarray, row: np.ndarray = row) -> float:
            known = (row * np.logaddexp(0, -method._outputs @ z)).sum() / row.sum()
            noise = graph2vec.NEGATIVE * np.logaddexp(0, method._noise @ z).mean()
            return known + noise + 0.5 * graph2vec.SHRINKAGE * z @ z

        best = minimize(loss, np.zeros(8))
        assert loss(vector) == pytest.approx(best.fun, abs=1e-3)
        assert loss(vector) < loss(np.zeros(8)) - 0.01


def test_watched_graphs_have_no_influence_unless_asked(data: GraphDataset) -> None:
    alone = make_method("graph2vec", QUICK).fit(data[:40])
    watched = make_method("graph2vec", QUICK).fit(data[:40], watch=data[40:])
    np.testing.assert_array_equal(alone.predict_proba(data[40:]), watched.watched[0])
    assert watched.fitted_options()["transductive"] is False
    together = make_method("graph2vec", QUICK | {"transductive": True}).fit(data[:40], watch=data[40:])
    assert not np.allclose(together.watched[0], watched.watched[0])
    assert together.fitted_options()["transductive"] is True


def test_transductive_needs_the_tested_graphs(data: GraphDataset) -> None:
    with pytest.raises(OptionError, match="give them as watch"):
        make_method("graph2vec", {"transductive": True}).fit(data)


@pytest.mark.parametrize("transductive", [False, True])
def test_saved_and_loaded(data: GraphDataset, tmp_path: Path, transductive: bool) -> None:
    options = QUICK | {"transductive": transductive}
    method = make_method("graph2vec", options).fit(data[:40], watch=data[40:])
    save_model(tmp_path / "m.safetensors", method, "graph2vec", options, {})
    loaded, _ = load_model(tmp_path / "m.safetensors")
    np.testing.assert_array_equal(loaded.predict_proba(data[40:]), method.watched[0])
    np.testing.assert_array_equal(loaded.predict_proba(data[40:][::-1]), method.watched[0][::-1])
    assert loaded.fitted_options() == method.fitted_options()


def test_a_graph_of_unknown_words_has_the_zero_vector(tiny: GraphDataset) -> None:
    method = make_method("graph2vec", QUICK).fit(tiny)
    strange = nx.empty_graph(2)
    nx.set_node_attributes(strange, "never seen", "label")
    np.testing.assert_array_equal(method.vectors(as_dataset([strange], [0])), 0)


PROGRAM = """
from spgnn_dgl.data.builtin import motifs
from spgnn_dgl.methods import make_method
data = motifs(num_graphs=30)
for name in ("graph2vec", "dgk"):
    print(make_method(name, {"dimensions": 8, "epochs": 3}).fit(data[:20]).predict_proba(data[20:]).tolist())
"""


@pytest.mark.slow
def test_another_hash_seed_of_python_changes_nothing() -> None:
    runs = [
        subprocess.Popen(
            [sys.executable, "-c", PROGRAM],
            env=os.environ | {"PYTHONHASHSEED": seed},
            stdout=subprocess.PIPE,
            text=True,
        )
        for seed in ("1", "2")
    ]
    one, other = (run.communicate()[0] for run in runs)
    assert [run.returncode for run in runs] == [0, 0]
    assert one == other
    assert one.count("[[") == 2


def test_a_missing_package_is_told_with_the_command(tiny: GraphDataset, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "gensim", None)
    monkeypatch.setitem(sys.modules, "gensim.models", None)
    with pytest.raises(MissingExtraError, match=r"spgnn_dgl\[embeddings\]"):
        make_method("graph2vec").fit(tiny)


@pytest.mark.parametrize(
    "options", [{"height": -1}, {"dimensions": 0}, {"epochs": 0}, {"C": 0}, {"inner_folds": 1}, {"windw": 3}]
)
def test_wrong_options_are_refused(options: dict) -> None:
    with pytest.raises(OptionError):
        make_method("graph2vec", options)
