"""A record holds what its run found."""

from __future__ import annotations

import json
from hashlib import sha256
from pathlib import Path

import numpy as np
import pytest

from spgnn_dgl.data.fold_files import load_folds
from spgnn_dgl.errors import RunError
from spgnn_dgl.reproduction import running
from spgnn_dgl.reproduction.plan import Task
from spgnn_dgl.reproduction.records import collect, find, read_records
from spgnn_dgl.reproduction.running import expect, run_tasks

RESULTS = Path(__file__).parents[2] / "docs" / "results"
TASKS = [Task("fingerprint", "MOTIFS", repeats=2), Task("majority", "MOTIFS", repeats=1)]


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    runs = tmp_path_factory.mktemp("runs")
    said = []
    assert run_tasks(TASKS, runs, jobs=1, folds=None, say=said.append) == []
    assert [line.split(":")[0] for line in said] == [
        "[1/2] fingerprint on MOTIFS, paper",
        "[2/2] majority on MOTIFS, paper",
    ]
    written, missing = collect([*TASKS, Task("gin", "MOTIFS")], runs, runs / "records")
    assert [task.row for task in missing] == ["gin"]
    assert len(written) == 2
    return runs


def test_accuracies_are_those_of_the_predictions(folders):
    (folder,) = (folders / "MOTIFS").glob("fingerprint*/paper-seed0")
    record = find(read_records(folders / "records"), "fingerprint", "MOTIFS", "paper")
    assert record.repeats == 2
    for repeat in range(2):
        for fold in range(10):
            unit = json.loads((folder / "units" / f"final-r{repeat:02d}-f{fold:02d}.json").read_text())
            (probabilities,) = unit["probabilities"].values()
            right = np.mean(np.argmax(probabilities, axis=1) == unit["labels"])
            assert record.accuracies["honest"][repeat][fold] == pytest.approx(right, abs=1e-6)


def test_the_first_repeat_has_the_folds_of_every_run(folders):
    records = read_records(folders / "records")
    two, one = (find(records, row, "MOTIFS", "paper") for row in ("fingerprint", "majority"))
    assert len(set(two.folds)) == 2
    assert one.folds == two.folds[:1]


@pytest.mark.parametrize("dataset", ["PTC", "NCI1", "DD", "COLLAB"])
def test_all_rows_of_a_dataset_saw_the_same_folds(dataset):
    firsts = {
        record.folds[0] for record in read_records(RESULTS) if (record.dataset, record.protocol) == (dataset, "paper")
    }
    assert len(firsts) == 1


@pytest.mark.real_data
@pytest.mark.parametrize("dataset", ["PROTEINS", "NCI1", "DD", "IMDB-BINARY", "IMDB-MULTI"])
def test_the_fair_table_is_of_the_folds_that_errica_et_al_published(published_folds, real_dataset, dataset):
    folds = load_folds(published_folds / "errica2020" / f"{dataset}.json", len(real_dataset(dataset)))
    published = sha256(json.dumps([sorted(fold.test.tolist()) for fold in folds]).encode()).hexdigest()[:16]
    records = [record for record in read_records(RESULTS) if (record.dataset, record.protocol) == (dataset, "fair")]
    assert {record.row for record in records} == {"fingerprint", "gin", "dgcnn", "spgnn"}
    assert {digest for record in records for digest in record.folds} == {published}


def test_the_fair_table_is_not_run_on_folds_of_our_own(tmp_path):
    said = []
    (failed,) = run_tasks([Task("majority", "MOTIFS", protocol="fair")], tmp_path, jobs=1, folds=None, say=said.append)
    assert "--folds FOLDER names a folder with MOTIFS.json" in failed[1]
    assert not list(tmp_path.iterdir())


def test_a_finished_task_is_not_expected_again(folders):
    before, after = expect([TASKS[1], Task("sp", "MOTIFS")], folders, None)
    assert before.done
    assert before.how == "finished"
    assert not after.done
    assert after.seconds > 0


def test_the_time_of_a_network_follows_from_its_second_epoch(folders, monkeypatch):
    monkeypatch.setattr(running, "_fit", lambda *how: (10.0, [5.0, 2.0]))  # 3 s before and after, and two epochs
    (expected,) = expect([Task("spgnn", "MOTIFS", repeats=2)], folders, None)
    assert expected.seconds == 2 * 10 * (3 + 200 * 2.0)  # repeats, folds, and the 200 epochs of the paper


def test_a_task_without_a_run_needs_no_dataset(tmp_path):
    task = Task("spgnn", "a dataset that nobody has")
    assert collect([task], tmp_path / "runs", tmp_path / "records") == ([], [task])


def test_a_file_that_is_no_record_is_named(tmp_path):
    with pytest.raises(RunError, match="there are no records below"):
        read_records(tmp_path)
    path = tmp_path / "paper" / "MUTAG" / "spgnn.json"
    path.parent.mkdir(parents=True)
    path.write_text('{"row": "spgnn"}')
    with pytest.raises(RunError, match=r"spgnn\.json' is not a record of a run"):
        read_records(tmp_path)
