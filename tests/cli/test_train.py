"""``spgnn train``: report, picture and paths at the end; one clear line per mistake; Ctrl-C keeps what is done."""

from __future__ import annotations

import os
import pty
import re
import select
import signal
import subprocess
import sys
import time

import pytest

from tests.cli.experiments import QUICK, call, saved

PLACE = "random0/spgnn@channels=4,k=10,layers=2/paper-seed0"


def test_it_ends_with_the_card_and_the_paths(tmp_path, capsys):
    assert call("train", saved(tmp_path), *QUICK, "--out", tmp_path / "runs") == 0
    shown = capsys.readouterr().out
    run = tmp_path / "runs" / PLACE
    assert f"report:  {run / 'report.md'}" in shown
    assert f"picture: {run / 'figures' / 'curves.png'}" in shown
    assert "paper's selection (optimistic): " in shown
    assert "majority rate: 50.00 %" in shown


def test_plain_lines_with_the_running_mean_where_there_is_no_terminal(tmp_path, capsys):
    call("train", saved(tmp_path), *QUICK, "--out", tmp_path)
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "folds: 0 of 3 trainings are done already"
    for number in (1, 2, 3):
        pattern = rf"\[{number}/3\] final-r00-f0{number - 1}: \d+\.\d s, mean accuracy so far \d+\.\d\d"
        assert re.fullmatch(pattern, lines[number])


def test_a_second_call_trains_nothing(tmp_path, capsys):
    arguments = ["train", saved(tmp_path), *QUICK, "--out", tmp_path]
    call(*arguments)
    capsys.readouterr()
    assert call(*arguments) == 0
    assert capsys.readouterr().out.splitlines()[0] == "folds: 3 of 3 trainings are done already"


def test_every_option_arrives(tmp_path, capsys):
    arguments = ["--protocol", "fair", "--repeats", "2", "--search", "lr=0.01,0.001", "pool=sum,mean", "--seed", "7"]
    assert (
        call("train", saved(tmp_path), *QUICK, *arguments, "--out", tmp_path, "--no-checkpoints", "--tensorboard") == 0
    )
    (results,) = tmp_path.rglob("results.json")
    assert results.parent.name == "fair-seed7"
    assert results.parent.parent.name == "spgnn@channels=4,k=10,layers=2,lr=0.01+0.001,pool=sum+mean"
    assert len(list((results.parent / "units").iterdir())) == 3 * 4 + 3 * 2
    assert not (results.parent / "checkpoints").exists()
    assert (results.parent / "tensorboard" / "final-r01-f02").is_dir()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["-o", "kk=3"], "'kk' is not an option of method 'spgnn'"),
        (["--method", "spgn"], "Did you mean 'spgnn'?"),
        (["--folds", "20"], "20 folds were asked for, but class 0 has 12 graphs"),
        (["--jobs", "0"], "jobs=0 was given"),
        (["--protocol", "nested"], "unknown protocol 'nested'"),
        (["--folds-file", "no.json"], "there is no fold file"),
        (["--epochs", "a"], "--epochs 'a'"),
        (["--budget", "soon", "--method", "wl"], "budget='soon'"),
        (["--backend", "spark"], "unknown backend 'spark'"),
    ],
)
def test_a_mistake_is_one_message(tmp_path, capsys, arguments, message):
    assert call("train", saved(tmp_path), *arguments, "--out", tmp_path / "runs") == 2
    shown = capsys.readouterr()
    assert message in shown.err
    assert "Traceback" not in shown.err
    assert not (tmp_path / "runs").exists()


def test_an_unknown_dataset(tmp_path, capsys):
    assert call("train", "NOSUCHSET", "--out", tmp_path) == 2
    assert "the dataset 'NOSUCHSET' was not found" in capsys.readouterr().err


def test_another_configuration_is_refused_and_force_starts_over(tmp_path, capsys):
    data = saved(tmp_path)
    call("train", data, *QUICK, "--out", tmp_path)
    assert call("train", data, *QUICK, "--repeats", "2", "--out", tmp_path) == 2
    assert "repeats: 1 there, 2 now" in capsys.readouterr().err
    assert call("train", data, *QUICK, "--repeats", "2", "--out", tmp_path, "--force") == 0
    assert (tmp_path / f"{PLACE}.before" / "results.json").exists()


@pytest.mark.slow
def test_bars_on_a_terminal_and_ctrl_c(tmp_path):
    """In a terminal of its own: bars with epochs, time left and mean; Ctrl-C says what is kept and how to go on."""
    data = saved(tmp_path)
    command = [sys.executable, "-m", "spgnn_dgl", "train", str(data), "--folds", "3", "--epochs", "20,2000"]
    command += ["-o", "k=10", "--out", str(tmp_path / "runs")]
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        command,
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        start_new_session=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # a shell's background jobs ignore Ctrl-C
        env={**os.environ, "TERM": "xterm", "COLUMNS": "160", "OMP_NUM_THREADS": "1"},
    )
    os.close(theirs)
    units = tmp_path / "runs" / "random0" / "spgnn@k=10" / "paper-seed0" / "units"
    shown, interrupted, deadline = "", False, time.monotonic() + 200
    while time.monotonic() < deadline:
        if select.select([ours], [], [], 0.1)[0]:
            try:
                shown += os.read(ours, 65536).decode(errors="replace")
            except OSError:  # the other end is closed
                break
        if not interrupted and (units / "final-r00-f00.json").exists() and "final-r00-f01" in shown:
            os.killpg(process.pid, signal.SIGINT)
            interrupted = True
    os.close(ours)
    assert process.wait() == 130
    assert "folds" in shown
    assert re.search(r"\d+/2000", shown)  # epochs of a training
    assert "left" in shown
    assert "mean accuracy so far" in shown
    assert re.search(r"stopped\. \d finished trainings are kept in", shown)
    assert "the same command goes on" in shown
    assert "Traceback" not in shown
