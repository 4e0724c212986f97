"""``spgnn doctor``: exit 0 when all is well, 1 when something is broken."""

from __future__ import annotations

import pytest

from spgnn_dgl import doctor
from spgnn_dgl.cli import main
from spgnn_dgl.doctor import Finding, Health


def test_a_good_install(capsys):
    with pytest.raises(SystemExit) as caught:
        main(["doctor"])
    assert not caught.value.code
    shown = capsys.readouterr().out
    assert "imports and passes messages" in shown
    assert "broken" not in shown


def test_a_broken_install(capsys, monkeypatch):
    broken = Finding("DGL", Health.BROKEN, "DGL cannot be imported [libcudart]", "pip install …")
    monkeypatch.setattr(doctor, "examine", lambda: [broken, Finding("extra docs", Health.NOTE, "not installed")])
    with pytest.raises(SystemExit) as caught:
        main(["doctor"])
    assert caught.value.code == 1
    shown = capsys.readouterr().out
    assert "DGL cannot be imported [libcudart]" in shown  # brackets are no markup
    assert "→ pip install …" in shown
