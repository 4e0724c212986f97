"""`spgnn new`: every starting file runs as it is."""

from __future__ import annotations

import json
import logging
import subprocess
import sys
from pathlib import Path

import pytest

from spgnn_dgl.cli import main
from spgnn_dgl.cli.new import TRY, write_template
from spgnn_dgl.errors import OptionError
from tests.registries import restored


@pytest.fixture(autouse=True)
def place(tmp_path, monkeypatch):
    """An empty folder that is also the data home; what plugins register is gone afterwards."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SPGNN_DATASETS", str(tmp_path))
    logger = logging.getLogger("spgnn_dgl")
    before = logger.level, logger.handlers, logger.propagate
    with restored():
        yield tmp_path
    logger.level, logger.handlers, logger.propagate = before


def run(*arguments: str) -> int:
    with pytest.raises(SystemExit) as caught:
        main(arguments)
    return int(caught.value.code or 0)


@pytest.mark.slow
@pytest.mark.parametrize("kind", TRY)
def test_a_starting_file_runs(place, capsys, kind):
    assert run("new", kind, "My-Own") == 0
    wrote, said = capsys.readouterr().out.splitlines()
    path = Path("My-Own.py" if kind == "dataset" else "my_own.py")
    assert wrote == f"wrote {path}"
    assert path.is_file()
    assert run(*said.removeprefix("try it: spgnn ").split()) == 0, capsys.readouterr().err
    config = json.loads(next(place.rglob("config.json")).read_text(encoding="utf-8"))
    assert {"dataset": config["dataset"], "method": config["method"], **config["options"]}[kind] == "My-Own"


def test_a_starting_file_of_a_dataset_also_works_in_the_data_home(place, capsys):
    write_template("dataset", "TREES")
    assert run("datasets", "trees") == 0
    assert capsys.readouterr().out.startswith("TREES")


def test_nothing_is_overwritten(tmp_path):
    path = write_template("conv", "mine", tmp_path / "mine.py")
    before = path.read_text(encoding="utf-8")
    with pytest.raises(OptionError, match="exists; it is not overwritten"):
        write_template("method", "mine", path)
    assert path.read_text(encoding="utf-8") == before


@pytest.mark.parametrize(
    ("kind", "name", "message"),
    [
        ("convs", "mine", "unknown kind 'convs'. Did you mean 'conv'"),
        ("conv", "1st", "cannot be a name"),
        ("conv", "a b", "cannot be a name"),
        ("conv", "GIN", "there is a conv called 'GIN' already"),
        ("readout", "sum", "there is a readout called 'sum' already"),
        ("method", "spgnn", "there is a method called 'spgnn' already"),
        ("dataset", "motifs", "there is a dataset called 'motifs' already"),
        ("dataset", "IMDB-M", "there is a dataset called 'IMDB-M' already"),
    ],
)
def test_mistakes_are_answered(place, kind, name, message):
    with pytest.raises(OptionError, match=message):
        write_template(kind, name)
    assert list(place.iterdir()) == []


@pytest.mark.parametrize("kind", TRY)
def test_every_line_of_a_template_is_in_form(tmp_path, kind):
    path = write_template(kind, "my_own", tmp_path / "my_own.py")
    text = path.read_text(encoding="utf-8")
    assert "$" not in text
    compile(text, str(path), "exec")
    ruff = [sys.executable, "-m", "ruff", "check", "--isolated", "--select", "E,F,W", "--line-length", "120", str(path)]
    done = subprocess.run(ruff, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
