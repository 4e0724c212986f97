"""``spgnn fetch`` against a local server that stands in for the public sites."""

from __future__ import annotations

import io
import zipfile

import pytest

from spgnn_dgl.cli import main
from spgnn_dgl.data import benchmarks
from tests.servers import serving_files

FILES = {"A": "1, 2\n2, 1\n3, 4\n4, 3\n", "graph_indicator": "1\n1\n2\n2\n", "graph_labels": "0\n1\n"}


def archive(name: str) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as made:
        for part, text in FILES.items():
            made.writestr(f"{name}/{name}_{part}.txt", text)
    return buffer.getvalue()


@pytest.fixture
def site(monkeypatch):
    with serving_files({"ONE.zip": archive("ONE"), "TWO.zip": archive("TWO")}) as url:
        monkeypatch.setattr(benchmarks, "TU_SITE", url + "/{name}.zip")
        yield url


def run(*arguments: str) -> int:
    with pytest.raises(SystemExit) as caught:
        main(arguments)
    return int(caught.value.code or 0)


def test_several_at_once(site, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("SPGNN_DATASETS", "")
    assert run("--data-home", str(tmp_path), "fetch", "ONE", "TWO", "ONE") == 0
    assert capsys.readouterr().out.splitlines() == [f"ONE: {tmp_path}/ONE.zip", f"TWO: {tmp_path}/TWO.zip"]
    assert run("datasets", "TWO") == 0
    assert "avg nodes" in capsys.readouterr().out


def test_the_first_failure_ends_it_and_keeps_what_came_before(site, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("SPGNN_DATASETS", str(tmp_path))
    assert run("fetch", "ONE", "THREE", "TWO") == 2
    assert [p.name for p in tmp_path.iterdir()] == ["ONE.zip"]
    assert "error: " in capsys.readouterr().err


def test_paper_stands_for_its_nine_sets_and_the_size_limit_is_handed_on(tmp_path, monkeypatch):
    asked = []

    def fake(name, home, *, limits, **options):
        asked.append(name)
        assert limits.size == 5 << 20
        return home / f"{name}.zip"

    monkeypatch.setattr("spgnn_dgl.data.fetch.fetch", fake)
    monkeypatch.setenv("SPGNN_DATASETS", str(tmp_path))
    assert run("fetch", "paper", "MUTAG", "--max-megabytes", "5") == 0
    assert asked == benchmarks.paper_datasets()
    assert len(asked) == 9
