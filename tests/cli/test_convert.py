"""``spgnn convert``: a store from any dataset, for training, prediction and audit."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import pytest

from spgnn_dgl.data.building import builder, streaming
from spgnn_dgl.data.load import load_dataset
from tests.cli.experiments import call
from tests.data.building.test_builder import assert_same_folder, unfinished

SLOW = """
import time
import networkx
from spgnn_dgl.data.building import builder, streaming

def load():
    builder.CHECKPOINT_SECONDS, streaming.BLOCK = 0.0, 256
    for i in range(2000):
        if i % 256 == 0:
            time.sleep(0.1)
        graph = networkx.path_graph(2 + i % 7)
        networkx.set_node_attributes(graph, {v: (i * v) % 13 for v in graph}, "label")
        yield graph, f"class {(i // 500) % 3}"
"""


def test_a_store_for_training_prediction_and_audit(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert call("convert", "MOTIFS", "--out", "store") == 0
    shown = capsys.readouterr().out
    assert "300 graphs of MOTIFS" in shown
    assert "store: store" in shown
    assert load_dataset(tmp_path / "store").fingerprint == load_dataset("MOTIFS").fingerprint
    assert call("fit", "./store", "--out", "m.safetensors", "-o", "epochs=1") == 0
    assert call("predict", "m.safetensors", "./store", "--out", "p.csv") == 0
    assert "these are graphs that the models were trained on" in capsys.readouterr().out
    assert call("audit", "./store") in (0, 1)
    assert "300" in capsys.readouterr().out


def test_mistakes_are_one_message(tmp_path, capsys):
    assert call("convert", "NOSUCHSET", "--out", tmp_path / "x") == 2
    assert "the dataset 'NOSUCHSET' was not found" in capsys.readouterr().err
    assert call("convert", tmp_path / "nothing.txt", "--out", tmp_path / "x") == 2
    assert "does not exist" in capsys.readouterr().err
    (tmp_path / "file").write_text("")
    assert call("convert", "MOTIFS", "--out", tmp_path / "file" / "x") == 2
    assert "cannot be written: Not a directory" in capsys.readouterr().err
    assert sorted(p.name for p in tmp_path.iterdir()) == ["file"]


LIMITED = """
import resource, sys
resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))
from spgnn_dgl.cli import main
main(["convert", "MOTIFS", "--out", sys.argv[1]])
"""


@pytest.mark.skipif(sys.platform != "linux", reason="limits of file sizes are set as on Linux")
def test_no_room_leaves_what_was_there(tmp_path):
    assert call("convert", "MOTIFS", "--out", tmp_path / "x") == 0
    before = load_dataset(tmp_path / "x").fingerprint
    done = subprocess.run([sys.executable, "-c", LIMITED, str(tmp_path / "x")], capture_output=True, text=True)
    assert done.returncode == 2
    assert "x cannot be written: File too large" in " ".join(done.stderr.split())
    assert "Traceback" not in done.stderr
    assert load_dataset(tmp_path / "x").fingerprint == before


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="there is no SIGKILL here")
def test_a_killed_conversion_goes_on(tmp_path, monkeypatch):
    """Killed as soon as a new checkpoint is there, twice; the result is that of an undisturbed conversion."""
    source = tmp_path / "slow.py"
    source.write_text(SLOW)
    command = [sys.executable, "-m", "spgnn_dgl", "convert", str(source), "--out", str(tmp_path / "x")]
    progress, seen = unfinished(tmp_path / "x") / "progress.json", 0.0
    for _ in range(2):
        process = subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL)
        while process.poll() is None and not (progress.is_file() and progress.stat().st_mtime > seen):
            time.sleep(0.01)
        assert process.poll() is None, "it was done before it could be killed"
        os.kill(process.pid, signal.SIGKILL)
        process.communicate()
        seen = progress.stat().st_mtime
        assert not (tmp_path / "x").exists()
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "going on after the" in " ".join(done.stderr.split())
    monkeypatch.setattr(builder, "CHECKPOINT_SECONDS", 0.0)  # which the source sets: undone afterwards
    monkeypatch.setattr(streaming, "BLOCK", 256)
    assert call("convert", source, "--out", tmp_path / "y") == 0
    assert_same_folder(tmp_path / "x", tmp_path / "y")
