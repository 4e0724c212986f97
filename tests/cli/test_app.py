"""The frame of the command line: help at once, one message per mistake, a traceback only when asked for."""

from __future__ import annotations

import logging
import os
import resource
import subprocess
import sys

import pytest

from spgnn_dgl.cli import main
from spgnn_dgl.cli.app import app
from spgnn_dgl.data.builtin import motifs
from spgnn_dgl.errors import DatasetNotFoundError


@pytest.fixture(autouse=True)
def home(monkeypatch, tmp_path):
    """The data home of one call does not outlive the test."""
    monkeypatch.setenv("SPGNN_DATASETS", str(tmp_path))


def run(*arguments: str) -> int:
    with pytest.raises(SystemExit) as caught:
        main(arguments)
    return int(caught.value.code or 0)


def test_a_mistake_is_one_message_without_a_traceback(capsys):
    assert run("datasets", "MUTAGG") == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err.startswith("error: the dataset 'MUTAGG' was not found. Did you mean 'MUTAG'?")
    assert "Traceback" not in shown.err


def test_debug_shows_the_traceback():
    with pytest.raises(DatasetNotFoundError):
        main(["--debug", "datasets", "MUTAGG"])
    assert run("datasets", "MUTAGG") == 2  # and is forgotten afterwards


def test_a_wrong_option_exits_with_two(capsys):
    assert run("datasets", "--no-such-option") == 2
    assert "no-such-option" in capsys.readouterr().err


def test_the_data_home_reaches_worker_processes(tmp_path):
    assert run("--data-home", str(tmp_path / "elsewhere"), "datasets", "MOTIFS") == 0
    assert os.environ["SPGNN_DATASETS"] == str(tmp_path / "elsewhere")


def test_verbose_shows_what_the_library_logs(capsys, caplog, monkeypatch):
    logger = logging.getLogger("spgnn_dgl.anything")

    def load(name, **options):
        logger.info("a remark")
        logger.warning("a warning")
        return motifs(num_graphs=3)

    monkeypatch.setattr("spgnn_dgl.data.load.load_dataset", load)
    assert run("--verbose", "datasets", "MOTIFS") == 0
    shown = capsys.readouterr().err
    assert "a remark" in shown
    assert "a warning" in shown
    assert run("datasets", "MOTIFS") == 0
    shown = capsys.readouterr().err
    assert "a remark" not in shown
    assert "a warning" in shown
    # afterwards the logging is as it was
    logger.warning("heard by the caller")
    assert "heard by the caller" in caplog.text
    assert capsys.readouterr().err == ""


def test_version(capsys):
    assert run("--version") == 0
    assert capsys.readouterr().out.startswith("spgnn_dgl 0.")


def test_every_command_explains_itself(capsys):
    for command in app.registered_commands:
        name = command.name or command.callback.__name__
        assert (command.callback.__doc__ or command.help or "").strip(), f"spgnn {name} has no help"
        assert run(name, "--help") == 0
        assert name in capsys.readouterr().out


def test_help_is_there_at_once_and_loads_nothing_heavy():
    code = (
        "import sys\nfrom spgnn_dgl.cli import main\n"
        "try:\n    main(['--help'])\n"
        "except SystemExit:\n    print(sorted({'torch', 'dgl', 'sklearn', 'matplotlib'} & set(sys.modules)))"
    )
    seconds = []  # of processor time: a busy machine is no slow command
    for _ in range(3):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        seconds.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
        assert done.stdout.splitlines()[-1] == "[]"
    assert min(seconds) < 1


def test_python_m_spgnn_dgl_is_the_same_command():
    done = subprocess.run(
        [sys.executable, "-m", "spgnn_dgl", "datasets", "nowhere/at.zip"],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 2
    assert done.stderr.startswith("error: nowhere/at.zip does not exist")
