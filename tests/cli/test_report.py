"""``spgnn report``: everything again, without training."""

from __future__ import annotations

import shutil

from tests.cli.experiments import call


def test_report_is_made_again(finished_runs, tmp_path, capsys):
    copy = tmp_path / "copy"
    shutil.copytree(finished_runs.spgnn, copy)
    text = (copy / "report.md").read_text()
    (copy / "report.md").unlink()
    assert call("report", copy) == 0
    assert (copy / "report.md").read_text() == text
    assert f"report:  {copy / 'report.md'}" in capsys.readouterr().out


def test_a_folder_without_runs(tmp_path, capsys):
    assert call("report", tmp_path) == 2
    assert "no run folder" in capsys.readouterr().err
