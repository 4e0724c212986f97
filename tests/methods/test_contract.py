"""What every registered method promises, whatever it is: tests over the whole registry."""

from __future__ import annotations

import functools
import importlib.metadata
import re
import sys
from importlib.util import find_spec

import networkx as nx
import numpy as np
import pytest
from torch import nn

from spgnn_dgl.data.arrays import DatasetMeta, assemble
from spgnn_dgl.data.features import InputSpec
from spgnn_dgl.data.readers.graphs import as_dataset
from spgnn_dgl.data.store import DatasetInfo, GraphDataset
from spgnn_dgl.errors import MissingExtraError, OptionError
from spgnn_dgl.methods import METHODS, GNNMethod, Method, make_method
from spgnn_dgl.modelfile import load_model, save_model
from spgnn_dgl.training import TrainingOptions
from tests.conftest import random_dataset

KINDS = {"gnn", "two-phase", "kernel", "floor"}
NETWORKS = [name for name, method in METHODS if issubclass(method, GNNMethod)]
every_method = pytest.mark.parametrize("name", METHODS.names())
NONE = np.zeros(0, int)
every_network = pytest.mark.parametrize("name", NETWORKS)


@pytest.fixture(scope="module", autouse=True)
def own_cache(tmp_path_factory):
    """What methods keep on disk stays out of the data home."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SPGNN_CACHE", str(tmp_path_factory.mktemp("cache")))
        yield


# ---- what the methods meet ---------------------------------------------------------------------------------------


def training_graphs() -> GraphDataset:
    return random_dataset(24, seed=0)


def unseen_graphs() -> GraphDataset:
    """A single node, five nodes without an edge, a triangle of labels never seen, and some ordinary graphs.

    The labels have the names of the training labels, but other codes.
    """
    ordinary = random_dataset(5, seed=7).arrays
    counts = np.concatenate([[1, 5, 3], np.diff(ordinary.node_offsets)])
    ends = [(6, 7), (7, 8), (8, 6)]
    for g in range(ordinary.num_graphs):
        ends.extend((a + counts[: 3 + g].sum(), b + counts[: 3 + g].sum()) for a, b in edges_of(ordinary, g))
    names = ("never seen", "label 3", "label 2", "label 1", "label 0")
    node_labels = np.concatenate([[4], [1, 2, 3, 4, 1], [0, 0, 0], 4 - ordinary.node_labels])
    arrays, _ = assemble(counts, *np.transpose(ends), labels=np.zeros(len(counts), int), node_labels=node_labels)
    return GraphDataset(arrays, DatasetMeta("unseen", ("class 0", "class 1"), names))


def symmetric_graphs() -> GraphDataset:
    """Rings, a clique, a star and a grid of equal labels: many nodes that nothing tells apart."""
    graphs = [nx.cycle_graph(4), nx.cycle_graph(7), nx.complete_graph(5), nx.star_graph(5), nx.grid_2d_graph(3, 3)]
    graphs = [nx.convert_node_labels_to_integers(graph) for graph in graphs]
    counts = np.array([len(graph) for graph in graphs])
    starts = np.cumsum(counts) - counts
    ends = np.concatenate([np.array(graph.edges()) + start for graph, start in zip(graphs, starts)])
    arrays, _ = assemble(counts, *ends.T, labels=np.zeros(5, int), node_labels=np.zeros(counts.sum(), int))
    return GraphDataset(arrays, DatasetMeta("symmetric", ("class 0", "class 1"), ("label 1",)))


def edges_of(arrays, g) -> list[tuple[int, int]]:
    """Edges (source, target) of graph g, node numbers inside the graph."""
    nodes = slice(arrays.node_offsets[g], arrays.node_offsets[g + 1])
    targets = np.repeat(np.arange(nodes.stop - nodes.start), arrays.in_degrees[nodes])
    sources = arrays.neighbours[arrays.edge_offsets[g] : arrays.edge_offsets[g + 1]]
    return list(zip(sources.tolist(), targets.tolist()))


def renumbered(data: GraphDataset, seed: int = 0) -> GraphDataset:
    """The same graphs with their nodes in another order."""
    rng, arrays = np.random.default_rng(seed), data.arrays
    node_labels, ends = arrays.node_labels.copy(), []
    for g in range(arrays.num_graphs):
        start, stop = arrays.node_offsets[g : g + 2]
        new = rng.permutation(stop - start)
        node_labels[start + new] = arrays.node_labels[start:stop]
        ends.extend((start + new[a], start + new[b]) for a, b in edges_of(arrays, g))
    arrays, _ = assemble(np.diff(arrays.node_offsets), *np.transpose(ends), labels=data.labels, node_labels=node_labels)
    return GraphDataset(arrays, data.meta)


def quick(name: str) -> dict[str, object]:
    """Options for a short training."""
    return {"epochs": 2} if "epochs" in METHODS.get(name).options() else {}


def packages_of(extra: str) -> list[str]:
    """The packages of an extra, as the project's own metadata lists them."""
    wanted = (r for r in importlib.metadata.requires("spgnn_dgl") or () if f'extra == "{extra}"' in r.replace("'", '"'))
    return [re.split(r"[^\w.-]", requirement)[0] for requirement in wanted]


def need_extra(name: str) -> None:
    extra = METHODS.get(name).extra
    missing = [package for package in packages_of(extra) if find_spec(package) is None] if extra else []
    if missing:
        pytest.skip(f"{name} needs {', '.join(missing)}: pip install 'spgnn_dgl[{extra}]'")


@functools.cache
def fitted(name: str, seed: int = 0) -> Method:
    return make_method(name, quick(name)).fit(training_graphs(), seed=seed)


# ---- what is registered ------------------------------------------------------------------------------------------


@every_method
def test_it_says_what_it_is_and_cites_its_paper(name):
    method = METHODS.get(name)
    assert method.kind in KINDS
    text = method.__dict__.get("__doc__") or ""
    assert text, f"'{name}' has no docstring of its own"
    assert re.search(r"\*[^*]+\*", text), f"the docstring of '{name}' gives no *title* of a paper"
    authors = re.findall(r"[^\W\d_]{2,}", method.reference)
    assert any(author in text for author in authors), f"the docstring of '{name}' does not cite '{method.reference}'"


@every_method
def test_every_option_is_described(name):
    method = METHODS.get(name)
    texts = " ".join(base.__doc__ or "" for base in method.__mro__ if issubclass(base, Method))
    described = texts + (TrainingOptions.__doc__ or "" if issubclass(method, GNNMethod) else "")
    silent = [option for option in method.options() if not re.search(rf"\b{option}\b", described)]
    assert not silent, f"options of '{name}' that no docstring describes: {silent}"


@every_method
def test_a_wrong_option_is_answered_with_the_right_ones(name):
    with pytest.raises(OptionError, match="is not an option of method"):
        make_method(name, {"no_such_option": 1})


@every_network
def test_a_network_is_built_from_dataset_info_alone(name):
    info = DatasetInfo("described", 3, 4, 0, np.array([10, 40, 25]), "social")
    method = make_method(name)
    method.resolved = method.resolve(info)
    assert isinstance(method.build(info, InputSpec(num_codes=5, num_dense=0)), nn.Module)


@pytest.mark.parametrize("name", [name for name, method in METHODS if method.extra])
def test_a_missing_extra_gives_the_command_that_installs_it(name, monkeypatch):
    extra = METHODS.get(name).extra
    for package in packages_of(extra):
        module = package.replace("-", "_")
        for loaded in [m for m in sys.modules if m == module or m.startswith(f"{module}.")]:
            monkeypatch.setitem(sys.modules, loaded, None)
        monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(MissingExtraError, match=re.escape(f"pip install 'spgnn_dgl[{extra}]'")):
        make_method(name, quick(name)).fit(random_dataset(10, seed=99))


# ---- what it predicts --------------------------------------------------------------------------------------------


@every_method
def test_probabilities_of_graphs_it_has_never_seen(name):
    need_extra(name)
    unseen = unseen_graphs()
    shares = fitted(name).predict_proba(unseen)
    assert shares.shape == (len(unseen), 2)
    assert shares.dtype == np.float64
    assert np.isfinite(shares).all()
    assert (shares >= 0).all()
    np.testing.assert_allclose(shares.sum(1), 1, atol=1e-12)
    np.testing.assert_array_equal(fitted(name).predict(unseen), shares.argmax(1))


@every_method
def test_three_classes(name):
    need_extra(name)
    data = random_dataset(18, seed=5, num_classes=3)
    shares = make_method(name, quick(name)).fit(data).predict_proba(data)
    assert shares.shape == (18, 3)
    np.testing.assert_allclose(shares.sum(1), 1, atol=1e-12)


@every_method
def test_predictions_do_not_depend_on_the_order_of_nodes(name):
    need_extra(name)
    for data in (training_graphs(), unseen_graphs(), symmetric_graphs()):
        expected = fitted(name).predict_proba(data)
        for seed in range(3):
            np.testing.assert_allclose(fitted(name).predict_proba(renumbered(data, seed)), expected, atol=1e-5)


@every_method
def test_a_batch_predicts_what_its_graphs_predict_one_by_one(name):
    need_extra(name)
    unseen = unseen_graphs()
    together = fitted(name).predict_proba(unseen)
    alone = np.concatenate([fitted(name).predict_proba(unseen.subset([i])) for i in range(len(unseen))])
    np.testing.assert_allclose(alone, together, atol=1e-5)


@every_method
def test_a_saved_model_predicts_the_same(name, tmp_path):
    need_extra(name)
    unseen = unseen_graphs()
    path = save_model(tmp_path / "model.safetensors", fitted(name), name, quick(name), {})
    loaded, header = load_model(path)
    assert header["method"] == name
    np.testing.assert_allclose(loaded.predict_proba(unseen), fitted(name).predict_proba(unseen), atol=1e-7)


@every_method
def test_the_same_seed_gives_the_same_result(name):
    need_extra(name)
    unseen = unseen_graphs()
    again = make_method(name, quick(name)).fit(training_graphs(), seed=0)
    np.testing.assert_array_equal(again.predict_proba(unseen), fitted(name).predict_proba(unseen))


@every_network
def test_another_seed_gives_other_weights(name):
    difference = fitted(name, seed=1).predict_proba(unseen_graphs()) - fitted(name).predict_proba(unseen_graphs())
    assert np.abs(difference).max() > 1e-4


@every_method
def test_watched_graphs_are_predicted_on_the_way(name):
    need_extra(name)
    train, watch = training_graphs(), unseen_graphs()
    method = make_method(name, quick(name))
    epochs = [1, 2] if method.has_epochs else [0]
    method.fit(train, watch=watch, watch_at=epochs, seed=0)
    assert sorted(method.watched) == epochs
    np.testing.assert_array_equal(method.watched[epochs[-1]], method.predict_proba(watch))
    assert len(method.history) == (2 if method.has_epochs else 0)


# ---- what a network takes ----------------------------------------------------------------------------------------


@every_network
@pytest.mark.parametrize("features", ["labels", "degree", "attributes", "labels+attributes", "constant"])
def test_networks_take_all_features_and_directed_graphs(name, features):
    data = random_dataset(12, seed=3, attributes=2, directed=True)
    method = make_method(name, {"epochs": 1, "features": features}).fit(data)
    assert np.isfinite(method.predict_proba(data)).all()
    assert method.fitted_options()["features"] == features


@every_network
def test_a_last_batch_of_one_node(name):
    """Seven graphs in batches of three: the last batch is one graph, and here each graph is one node."""
    arrays, _ = assemble(np.ones(7, int), NONE, NONE, labels=np.arange(7) % 2, node_labels=np.arange(7) % 3)
    data = GraphDataset(arrays, DatasetMeta("dots", ("a", "b"), ("x", "y", "z")))
    method = make_method(name, {"epochs": 2, "batch_size": 3}).fit(data)
    assert np.isfinite(method.predict_proba(data)).all()


@every_network
def test_networks_learn_rings_from_paths(name):
    """Same labels, sizes and nearly the same degrees; only the two ends of a path are different."""
    graphs = [make(n) for n in range(5, 11) for make in (nx.cycle_graph, nx.path_graph)]
    data = as_dataset(graphs, [0, 1] * 6)

    def learns(seed: int) -> bool:
        method = make_method(name, {"epochs": 50, "lr": 0.01}).fit(data, seed=seed)
        return bool((method.predict(data) == data.labels).all())

    assert any(learns(seed) for seed in range(3))  # an unlucky start may end in a constant predictor
