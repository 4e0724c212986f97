"""`spgnn audit`: what it prints, as text and as JSON, and the folds it makes."""

from __future__ import annotations

import json

import networkx as nx
import numpy as np
import pytest

from spgnn_dgl.cli import main
from spgnn_dgl.data.audit.twins import twin_groups
from spgnn_dgl.data.fold_files import load_folds
from spgnn_dgl.data.load import load_dataset
from spgnn_dgl.data.readers.graphs import from_graphs
from spgnn_dgl.data.saved import save_store
from spgnn_dgl.experiment import RunConfig, prepare


@pytest.fixture
def rings(tmp_path):
    """A stored dataset: one ring or two, which message passing cannot tell apart, and some paths."""
    ring, two = nx.cycle_graph(6), nx.disjoint_union(nx.cycle_graph(3), nx.cycle_graph(3))
    graphs = [ring, two] * 12 + [nx.path_graph(n) for n in range(2, 14)]
    data = from_graphs(graphs, ["one", "two"] * 18, name="RINGS")
    return str(save_store(tmp_path / "RINGS", data))


def run(*arguments: str) -> int:
    with pytest.raises(SystemExit) as caught:
        main(arguments)
    return int(caught.value.code or 0)


def test_the_table_and_what_is_worth_knowing(rings, capsys):
    assert run("audit", rings, "--layers", "2", "--folds", "4") == 0
    shown = capsys.readouterr().out
    lines = [line.split() for line in shown.splitlines()]
    assert shown.startswith("RINGS: 36 graphs, degrees as labels\n")
    assert ["2", "13", "24", "24", "24", "66.7", "%"] in lines
    assert ["isomorphic", "14", "24", "12", "0", "100.0", "%"] in lines
    assert "majority rate: 50.0 %" in shown
    assert "4 folds" in shown
    assert "no network of 2 rounds of message passing can be right on more than 66.7 %" in shown
    assert "14 graphs are different, but message passing tells 13 apart" in shown


def test_json_has_all_of_it(rings, capsys):
    assert run("audit", rings, "--json") == 0
    content = json.loads(capsys.readouterr().out)
    assert content["graphs"] == 36
    assert content["ceiling"] == 24 / 36
    assert content["exact"]["ceiling"] == 1.0
    assert {finding["name"] for finding in content["findings"]} >= {"ceiling", "not-isomorphic"}


def test_several_datasets_at_once(rings, tmp_path, capsys):
    assert run("audit", rings, "MOTIFS", "--json") == 0
    assert [content["dataset"] for content in json.loads(capsys.readouterr().out)] == ["RINGS", "MOTIFS"]
    assert run("audit", rings, "MOTIFS") == 0
    assert "\n\nMOTIFS: 300 graphs" in capsys.readouterr().out
    assert run("audit", rings, "MOTIFS", "--save-folds", str(tmp_path / "folds.json")) == 2
    assert "several were given" in capsys.readouterr().err


def test_the_folds_are_those_of_train(rings, tmp_path):
    assert run("audit", rings, "--folds", "4", "--seed", "3", "--save-folds", str(tmp_path / "folds.json")) == 0
    saved = load_folds(tmp_path / "folds.json", 36)
    trained = prepare(RunConfig(rings, folds=4, seed=3)).plan.splits[0]
    assert saved.same_as(trained)


def test_folds_that_keep_twins_together(rings, tmp_path, capsys):
    path = tmp_path / "folds.json"
    # the rings are one group of twins in all: with two folds it fills one of them
    assert run("audit", rings, "--folds", "2", "--group-twins", "--save-folds", str(path), "--json") == 0
    content = json.loads(capsys.readouterr().out)
    assert content["across"]["with_twin"] == 0
    assert "twins-across-folds" not in {finding["name"] for finding in content["findings"]}
    twins = twin_groups(load_dataset(rings))
    stored = prepare(RunConfig(rings, folds_file=path)).plan.splits[0]
    grouped = prepare(RunConfig(rings, folds=2, group_twins=True)).plan
    for folds in (stored, grouped.splits[0]):
        for fold in folds:
            assert not set(twins[fold.train]) & set(twins[fold.test])
    assert stored.same_as(grouped.splits[0])


def test_twins_stay_together_in_inner_splits_too(rings):
    twins = twin_groups(load_dataset(rings))
    for protocol in ("paper", "fair"):
        prepared = prepare(RunConfig(rings, folds=2, group_twins=True, protocol=protocol, search={"lr": (0.1, 0.01)}))
        units = prepared.protocol.select_units(prepared.plan, prepared.data)
        assert units
        for unit in units:
            assert not set(twins[unit.train]) & set(twins[unit.validation])


def test_run_folders_with_and_without_grouping_are_two(rings):
    plain, grouped = (prepare(RunConfig(rings, folds=2, group_twins=g)).path for g in (False, True))
    assert plain != grouped


def test_two_ways_to_make_folds_are_refused(rings, tmp_path, capsys):
    run("audit", rings, "--save-folds", str(tmp_path / "folds.json"))
    capsys.readouterr()
    for command in ("audit", "train"):
        assert run(command, rings, "--group-twins", "--folds-file", str(tmp_path / "folds.json")) == 2
        assert "leave one out" in capsys.readouterr().err


def test_few_graphs_or_unknown_classes_need_no_folds(tmp_path, capsys):
    few = from_graphs([nx.path_graph(2), nx.path_graph(3), nx.path_graph(3)], ["a", "b", "b"], name="FEW")
    unknown = from_graphs([nx.path_graph(2), nx.path_graph(2)], name="UNKNOWN")
    for data in (few, unknown):
        path = str(save_store(tmp_path / data.name, data))
        assert run("audit", path) == 0
        assert "folds" not in capsys.readouterr().out
        assert run("audit", path, "--save-folds", str(tmp_path / "folds.json")) == 2
        assert "no folds to save" in capsys.readouterr().err
    assert run("audit", str(tmp_path / "FEW"), "--folds", "2") == 2
    assert "2 folds were asked for" in capsys.readouterr().err


def test_train_says_what_its_data_cannot_show(rings, tmp_path, capsys):
    small = ["-o", "k=10", "channels=4", "layers=1", "--folds", "2", "--epochs", "1", "--out", str(tmp_path / "runs")]
    assert run("train", rings, *small) == 0
    shown = capsys.readouterr()
    told = " ".join(shown.err.split())
    assert "no network of 1 rounds of message passing can be right on more than" in told
    report = next((tmp_path / "runs").rglob("report.md")).read_text(encoding="utf-8")
    assert "## The data" in report
    assert "no network of 1 rounds" in report


def test_train_is_quiet_where_there_is_nothing_to_say(tmp_path, capsys):
    small = ["-o", "k=10", "channels=4", "layers=1", "--folds", "3", "--epochs", "1", "--out", str(tmp_path / "runs")]
    assert run("train", "MOTIFS", *small) == 0
    assert capsys.readouterr().err == ""
    assert "## The data" not in next((tmp_path / "runs").rglob("report.md")).read_text(encoding="utf-8")


def test_a_table_of_smiles_with_unreadable_rows(tmp_path, capsys, monkeypatch):
    pytest.importorskip("rdkit", reason="the extra 'chem' is not installed")
    monkeypatch.setenv("SPGNN_CACHE", str(tmp_path / "caches"))
    rows = ["CCO,0", "c1ccccc1,1", "C1CC,0", *(f"{'C' * n},{n % 2}" for n in range(1, 20))]
    (tmp_path / "molecules.csv").write_text("\n".join(["smiles,label", *rows]), encoding="utf-8")
    assert run("audit", str(tmp_path / "molecules.csv")) == 0
    assert "line 4: 'C1CC': not SMILES" in capsys.readouterr().out


@pytest.mark.real_data
def test_grouped_folds_of_imdb(real_dataset):
    data = real_dataset("IMDB-MULTI")
    twins = twin_groups(data)
    folds = prepare(RunConfig(data, group_twins=True)).plan.splits[0]
    for fold in folds:
        assert not set(twins[fold.train]) & set(twins[fold.test])
        assert np.unique(data.labels[fold.test]).tolist() == [0, 1, 2]
