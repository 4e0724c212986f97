"""Pictures in files: the formats, the same bytes for the same picture, nothing global touched."""

from __future__ import annotations

import subprocess
import sys

import pytest
from matplotlib.figure import Figure

from spgnn_dgl.errors import OptionError
from spgnn_dgl.visual.style import save_figure

BEGINNINGS = {".pdf": b"%PDF", ".png": b"\x89PNG", ".svg": b"<?xml"}


def figure():
    made = Figure(figsize=(1, 1))
    made.text(0.5, 0.5, "ψ")
    return made


@pytest.mark.parametrize("suffix", BEGINNINGS)
def test_a_picture_is_written_and_the_same_again(tmp_path, suffix):
    first = save_figure(figure(), tmp_path / "new" / f"a{suffix}")
    second = save_figure(figure(), tmp_path / f"b{suffix}")
    assert first.read_bytes().startswith(BEGINNINGS[suffix])
    assert first.read_bytes() == second.read_bytes()
    assert [p.name for p in first.parent.iterdir()] == [first.name]


def test_another_format_is_refused(tmp_path):
    with pytest.raises(OptionError, match=r"must end in \.pdf, \.png, \.svg"):
        save_figure(figure(), tmp_path / "a.gif")


def test_nothing_global_is_touched(tmp_path):
    code = f"""
import sys, matplotlib
before = dict(dict.items(matplotlib.rcParams))  # reading them as a mapping would choose a backend
import spgnn_dgl.visual.pooled, spgnn_dgl.visual.layers, spgnn_dgl.visual.patterns, spgnn_dgl.visual.page
from matplotlib.figure import Figure
from spgnn_dgl.visual.style import save_figure
save_figure(Figure(), {str(tmp_path / "a.svg")!r})
assert 'matplotlib.pyplot' not in sys.modules
assert dict(dict.items(matplotlib.rcParams)) == before
"""
    subprocess.run([sys.executable, "-c", code], check=True)
