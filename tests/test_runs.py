"""Run folders: whole files, refusals, things moved aside and never lost."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys

import pytest

from spgnn_dgl.errors import RunError
from spgnn_dgl.runs import RESULTS, UNITS, VERSION, RunDir, find_runs, run_path, write_whole

CONFIG = {"dataset": "X", "seed": 0, "epochs": (1, 2)}


def started(path, config=CONFIG, **how):
    run = RunDir.start(path, config, **how)
    run.close()
    return run


# ---- opening ---------------------------------------------------------------------------------------------------------


def test_the_same_configuration_is_taken_up_again(tmp_path):
    started(tmp_path / "run").write_json(f"{UNITS}/a.json", {"unit": "a"})
    assert started(tmp_path / "run").unit("a") == {"unit": "a"}


def test_another_configuration_is_refused_with_the_differing_keys(tmp_path):
    started(tmp_path / "run")
    with pytest.raises(RunError) as caught:
        started(tmp_path / "run", {**CONFIG, "seed": 1, "more": True})
    message = str(caught.value)
    assert "seed: 0 there, 1 now" in message
    assert "more: None there, True now" in message
    assert "dataset" not in message
    assert "--force" in message


def test_force_moves_the_old_folder_aside(tmp_path):
    for number in range(3):
        run = started(tmp_path / "run", {"seed": number}, force=True)
        run.write_text("note", str(number))
    assert [(tmp_path / name / "note").read_text() for name in ("run", "run.before", "run.before2")] == ["2", "0", "1"]


def test_a_folder_of_a_newer_version_is_refused(tmp_path):
    run = started(tmp_path / "run")
    run.write_json("config.json", {**run.config, "version": VERSION + 1})
    for attempt in (lambda: started(tmp_path / "run"), lambda: RunDir.open(tmp_path / "run")):
        with pytest.raises(RunError, match="newer spgnn_dgl"):
            attempt()


@pytest.mark.parametrize("content", ["{", "[]", "{}"])
def test_a_damaged_configuration_is_one_clear_error(tmp_path, content):
    run = started(tmp_path / "run")
    (run.path / "config.json").write_text(content)
    with pytest.raises(RunError, match=r"config\.json"):
        started(tmp_path / "run")


def test_damaged_results_are_moved_aside(tmp_path):
    run = started(tmp_path / "run")
    (run.path / RESULTS).write_text('{"half": ')
    again = started(tmp_path / "run")
    assert (run.path / "results.json.damaged").read_text() == '{"half": '
    with pytest.raises(RunError, match="not finished"):
        again.results


def test_a_damaged_record_counts_as_not_done(tmp_path):
    run = started(tmp_path / "run")
    (run.path / UNITS / "a.json").write_text("")
    run.write_json(f"{UNITS}/b.json", {"unit": "another"})  # a file that was copied here
    run.write_json(f"{UNITS}/c.json", {"unit": "c"})
    assert [record["unit"] for record in run.units()] == ["c"]
    assert sorted(p.name for p in (run.path / UNITS).iterdir()) == ["a.json.damaged", "b.json.damaged", "c.json"]


def test_what_killed_processes_left_is_removed(tmp_path):
    run = started(tmp_path / "run")
    (run.path / UNITS / ".a.123-abcdef.json").write_text("half")
    started(tmp_path / "run")
    assert list((run.path / UNITS).iterdir()) == []


def test_a_second_process_is_kept_out_while_the_first_works(tmp_path):
    run = RunDir.start(tmp_path / "run", CONFIG)
    code = f"from spgnn_dgl.runs import RunDir; RunDir.start({str(tmp_path / 'run')!r}, {CONFIG!r})"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert "another process is working in" in result.stderr
    run.close()
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


def test_a_folder_that_is_no_run(tmp_path):
    with pytest.raises(RunError, match="not a run folder"):
        RunDir.open(tmp_path)


# ---- names and searching ---------------------------------------------------------------------------------------------


def test_paths_have_no_time_and_no_strange_characters():
    assert run_path("runs", "MUTAG", "spgnn", {}, "paper", 3).as_posix() == "runs/MUTAG/spgnn/paper-seed3"
    strange = run_path("runs", "a/b c", "spgnn", {"pool": "x/../y", "k": (30, 50)}, "fair", 0)
    assert strange.as_posix() == "runs/a_b_c/spgnn@k=30+50,pool=x_.._y/fair-seed0"


def test_long_options_are_shortened_and_stay_apart():
    first, second = (run_path("r", "D", "m", {f"option{i}": n for i in range(30)}, "paper", 0) for n in (1, 2))
    assert first != second
    assert len(first.parent.name) <= 100


def test_runs_are_found_below_a_folder_without_those_moved_aside(tmp_path):
    for number in range(2):
        started(tmp_path / "D" / f"m{number}" / "paper-seed0")
        started(tmp_path / "D" / f"m{number}" / "paper-seed0", force=True)
    assert [r.path.parent.name for r in find_runs([tmp_path])] == ["m0", "m1"]
    assert len(find_runs([tmp_path, tmp_path / "D" / "m0" / "paper-seed0"])) == 2
    with pytest.raises(RunError, match="no run folder"):
        find_runs([tmp_path / "nothing"])


# ---- writing ---------------------------------------------------------------------------------------------------------


def full(*args, **kwargs):
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def test_a_full_disk_is_one_clear_error_and_what_was_there_stays_whole(tmp_path, monkeypatch):
    write_whole(tmp_path / "file", "before")
    for module, name in ((os, "replace"), (type(tmp_path), "write_text")):
        with monkeypatch.context() as patch:
            patch.setattr(module, name, full)
            with pytest.raises(RunError, match=r"file' \(No space left on device\): the disk is full"):
                write_whole(tmp_path / "file", "after")
        assert (tmp_path / "file").read_text() == "before"
        assert [p.name for p in tmp_path.iterdir()] == ["file"]


def test_a_writer_that_breaks_off_leaves_the_old_file(tmp_path):
    write_whole(tmp_path / "file.txt", "before")

    def write(aside):
        aside.write_text("half")
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_whole(tmp_path / "file.txt", write)
    assert (tmp_path / "file.txt").read_text() == "before"
    assert [p.name for p in tmp_path.iterdir()] == ["file.txt"]


def test_a_place_that_cannot_be_written_to_is_one_clear_error(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    with pytest.raises(RunError, match="cannot be written to"):
        started(tmp_path / "file" / "run")

    def denied(*args, **kwargs):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))

    monkeypatch.setattr("pathlib.Path.mkdir", denied)
    with pytest.raises(RunError, match=r"Permission denied.*Choose another with --out"):
        started(tmp_path / "run")


def test_json_without_infinities(tmp_path):
    run = started(tmp_path / "run")
    with pytest.raises(ValueError, match="Out of range"):
        run.write_json("x.json", {"x": float("inf")})
    assert json.loads(run.write_json("x.json", {"x": 0.1}).read_text()) == {"x": 0.1}
