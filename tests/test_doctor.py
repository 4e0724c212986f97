"""The check-up: good here, and broken where something is."""

from __future__ import annotations

import importlib.metadata
import sys

import pytest
import torch

from spgnn_dgl import doctor
from spgnn_dgl.doctor import Health, examine
from spgnn_dgl.errors import EnvironmentProblem


def finding(topic: str) -> doctor.Finding:
    return next(f for f in examine() if f.topic == topic)


def test_this_install_is_healthy():
    findings = examine()
    assert [f.topic for f in findings if f.health is Health.BROKEN] == []
    topics = {f.topic for f in findings}
    assert topics >= {"Python", "versions", "DGL", "threads", "device", "data home", "extra embeddings", "extra dev"}
    assert f"torch {importlib.metadata.version('torch')}" in finding("versions").text
    assert str(torch.get_num_threads()) in finding("threads").text


@pytest.mark.parametrize(
    ("version", "health"),
    [((3, 9), Health.BROKEN), ((3, 10), Health.GOOD), ((3, 12), Health.GOOD), ((3, 13), Health.BROKEN)],
)
def test_which_python(version, health):
    assert doctor.check_python(version).health is health


def test_a_dgl_that_cannot_be_imported(monkeypatch):
    class Broken:
        @property
        def dgl(self):
            raise EnvironmentProblem("DGL cannot be imported (…)")

    monkeypatch.setitem(sys.modules, "spgnn_dgl._dgl", Broken())
    findings = examine()
    broken = [f for f in findings if f.health is Health.BROKEN]
    assert [(f.topic, f.text) for f in broken] == [("DGL", "DGL cannot be imported (…)")]
    assert "data home" not in {f.topic for f in findings}  # needs DGL
    assert "extra embeddings" in {f.topic for f in findings}


def test_a_dgl_that_adds_wrongly(monkeypatch):
    from spgnn_dgl._dgl import dgl

    monkeypatch.setattr(dgl.ops, "copy_u_sum", lambda graph, x: x)
    assert doctor.check_dgl().health is Health.BROKEN

    def fails(graph, x):
        raise RuntimeError("illegal instruction")

    monkeypatch.setattr(dgl.ops, "copy_u_sum", fails)
    assert "illegal instruction" in doctor.check_dgl().text


def test_a_gpu_that_dgl_cannot_use_is_a_note(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda: "Fast GPU")
    found = doctor.check_device()
    assert found.health is Health.NOTE
    assert "Fast GPU" in found.text


def test_the_data_home(monkeypatch, tmp_path):
    monkeypatch.setenv("SPGNN_DATASETS", str(tmp_path / "absent"))
    assert finding("data home").health is Health.NOTE
    assert "spgnn fetch" in finding("data home").remedy
    monkeypatch.setenv("SPGNN_DATASETS", str(tmp_path))
    assert "no datasets in it yet" in finding("data home").text
    (tmp_path / "MINE.py").write_text("def load(): ...")
    assert finding("data home").text.endswith(": MINE")


def test_a_missing_extra_is_a_note_with_its_command(monkeypatch):
    real = importlib.metadata.version

    def version(package: str) -> str:
        if package == "rdkit":
            raise importlib.metadata.PackageNotFoundError(package)
        return real(package)

    monkeypatch.setattr(importlib.metadata, "version", version)
    found = finding("extra chem")
    assert (found.health, found.text) == (Health.NOTE, "not installed: rdkit")
    assert found.remedy == "pip install 'spgnn_dgl[chem]' -c constraints.txt"
    assert finding("extra embeddings").health is Health.GOOD
