"""Matrices that methods keep on disk go to a folder of the test."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def cache_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SPGNN_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"
