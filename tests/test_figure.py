"""The paper's figure on other data: trained, held out, drawn, saved."""

from __future__ import annotations

import contextlib
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from spgnn_dgl.cli import main
from spgnn_dgl.data.folds import stratified_folds
from spgnn_dgl.data.load import load_dataset
from spgnn_dgl.data.saved import save_store
from spgnn_dgl.errors import OptionError
from spgnn_dgl.estimator import GraphClassifier
from spgnn_dgl.figure import paper_figure
from tests.explain.test_choice import two_cliques
from tests.explained import complete, dataset, motif_model


@pytest.fixture
def store(tmp_path):
    graphs = [two_cliques(size) if number % 2 else complete(2 * size) for number, size in enumerate([4, 5, 6, 7] * 60)]
    save_store(tmp_path / "social", dataset(graphs, [number // 2 % 2 for number in range(240)]))
    return tmp_path / "social"


def test_it_shows_held_out_graphs_of_both_cases(store, tmp_path):
    made = paper_figure(tmp_path / "figure.svg", dataset=store, epochs=1)
    data = load_dataset(store)
    fold = stratified_folds(data.labels, 10, 0)[0]
    shown = [graph for row in made.rows for graph in row]
    assert set(shown) <= set(fold.test.tolist())
    assert made.held_out == len(fold.test)
    sizes, edges = data.node_counts[shown], data.edge_counts[shown]
    is_complete = edges == sizes * (sizes - 1)
    for row in made.rows:
        kinds = is_complete[np.isin(shown, row)]
        assert kinds.tolist() == [False, False, True, True]
    model = GraphClassifier.load(made.model)
    assert model.score(data.subset(fold.test)) == pytest.approx(made.accuracy)
    assert model.get_params()["layers"] == 3
    assert model.get_params()["k"] == 10
    assert made.picture.stat().st_size > 3000


def test_the_name_of_the_picture_is_checked_before_training(tmp_path):
    with pytest.raises(OptionError, match="must end in"):
        paper_figure(tmp_path / "figure.gif", dataset="nowhere")


TOOL = Path(__file__).resolve().parents[1] / "tools" / "draw_pooled.py"


def test_the_tool_draws_a_model_as_the_command_does(tmp_path):
    model = motif_model().save(tmp_path / "model.safetensors")
    arguments = [model, "--graphs", "45,46", "--out"]
    subprocess.run([sys.executable, TOOL, *arguments, tmp_path / "a.svg"], check=True, stdout=subprocess.DEVNULL)
    with contextlib.suppress(SystemExit):
        main(["draw", *map(str, arguments), str(tmp_path / "b.svg")])
    assert (tmp_path / "a.svg").read_bytes() == (tmp_path / "b.svg").read_bytes()


def test_the_tool_without_a_model_makes_the_papers_figure(tmp_path):
    arguments = ["--dataset", "nowhere", "--out", str(tmp_path / "figure.pdf")]
    done = subprocess.run([sys.executable, TOOL, *arguments], capture_output=True, text=True)
    assert done.returncode == 2
    assert "the dataset 'nowhere' was not found" in done.stderr
