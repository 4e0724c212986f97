"""Fetching into a data home: the set arrives whole, or nothing changes."""

from __future__ import annotations

import errno
import io
import zipfile
from pathlib import Path

import numpy as np
import pytest

from spgnn_dgl.data import fetch as fetch_module
from spgnn_dgl.data.benchmarks import Download
from spgnn_dgl.data.download import Limits, NotPublished
from spgnn_dgl.data.fetch import fetch
from spgnn_dgl.data.load import load_dataset
from spgnn_dgl.errors import DownloadError, OptionError
from tests.servers import serving_files

QUICK = Limits(timeout=2, attempts=2, pause=0.01)

PAIR = {  # a triangle and a path
    "PAIR/PAIR_A.txt": "1, 2\n2, 1\n2, 3\n3, 2\n1, 3\n3, 1\n4, 5\n5, 4\n5, 6\n6, 5\n",
    "PAIR/PAIR_graph_indicator.txt": "1\n1\n1\n2\n2\n2\n",
    "PAIR/PAIR_graph_labels.txt": "1\n-1\n",
}


def zipped(files: dict[str, str]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return buffer.getvalue()


def fetch_from(content: bytes | None, home: Path, name: str = "PAIR", member: str | None = None, **options) -> Path:
    files = {} if content is None else {"set.zip": content}
    with serving_files(files) as url:
        return fetch(name, home, limits=QUICK, source=Download(f"{url}/set.zip", member), **options)


def test_a_fetched_set_can_be_loaded(tmp_path):
    home = tmp_path / "new" / "home"
    assert fetch_from(zipped(PAIR), home) == home / "PAIR.zip"
    assert [p.name for p in home.iterdir()] == ["PAIR.zip"]
    data = load_dataset("PAIR", data_home=home)
    assert data.node_counts.tolist() == [3, 3]
    assert data.edge_counts.tolist() == [6, 4]


def test_what_is_there_is_not_fetched_again_unless_asked(tmp_path):
    place = fetch_from(zipped(PAIR), tmp_path)
    before = place.read_bytes()
    assert fetch_from(None, tmp_path) == place  # the server has nothing, and is not asked
    more = {**PAIR, "PAIR/README.txt": "second edition"}
    fetch_from(zipped(more), tmp_path, force=True)
    assert place.read_bytes() != before


def test_a_folder_that_would_go_first_is_not_fetched_over(tmp_path):
    (tmp_path / "PAIR").mkdir()
    for name, text in PAIR.items():
        (tmp_path / name).write_text(text)
    assert fetch("PAIR", tmp_path) == tmp_path / "PAIR"
    with pytest.raises(OptionError, match="Move it away first"):
        fetch_from(zipped(PAIR), tmp_path, force=True)


def test_one_set_out_of_an_archive_of_many(tmp_path):
    text = "2\n3 0\n0 1 1\n0 2 0 2\n0 1 1\n2 1\n0 1 1\n0 1 0\n"  # GIN's format: a path of three, a path of two
    archive = zipped({"dataset/MINE/MINE.txt": text, "dataset/OTHER/OTHER.txt": "1\n"})
    fetch_from(archive, tmp_path, "MINE", member="dataset/MINE/MINE.txt")
    data = load_dataset("MINE", data_home=tmp_path)
    assert data.node_counts.tolist() == [3, 2]
    with pytest.raises(DownloadError, match="no dataset/ABSENT"):
        fetch_from(archive, tmp_path, "ABSENT", member="dataset/ABSENT/ABSENT.txt")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (zipped({**PAIR, "../outside.txt": "x"}), "outside of its folder"),
        (zipped({**PAIR, "/etc/outside.txt": "x"}), "outside of its folder"),
        (zipped(PAIR)[:-40], "not a whole zip archive"),
        (b"<html>captive portal</html>", "not a whole zip archive"),
        (zipped({"readme.txt": "nothing here"}), "cannot be used"),
        (zipped({**PAIR, "PAIR/PAIR_graph_indicator.txt": "1\n1\n1\n2\n2\n"}), "cannot be used"),
    ],
)
def test_a_bad_archive_is_not_kept(tmp_path, content, message):
    with pytest.raises(DownloadError, match=message):
        fetch_from(content, tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_an_archive_that_swells_is_not_unpacked(tmp_path, monkeypatch):
    monkeypatch.setattr(fetch_module, "LARGEST_UNPACKED", 1 << 20)
    with pytest.raises(DownloadError, match="unpacked it would have"):
        fetch_from(zipped({**PAIR, "PAIR/bomb.txt": "0" * (2 << 20)}), tmp_path)


def test_a_known_set_must_have_its_known_counts(tmp_path):
    renamed = {name.replace("PAIR", "MUTAG"): text for name, text in PAIR.items()}
    with pytest.raises(DownloadError, match=r"not MUTAG as it is known \(graphs: 2, expected 188"):
        fetch_from(zipped(renamed), tmp_path, "mutag")
    assert list(tmp_path.iterdir()) == []


def test_a_good_copy_survives_a_failed_fetch(tmp_path):
    place = fetch_from(zipped(PAIR), tmp_path)
    before = place.read_bytes()
    with pytest.raises(DownloadError):
        fetch_from(zipped(PAIR)[:-40], tmp_path, force=True)
    assert place.read_bytes() == before


def test_a_name_that_is_not_published(tmp_path):
    with pytest.raises(NotPublished, match="Did you mean 'PROTEINS'"):
        fetch_from(None, tmp_path, "PROTEIN")


def test_offline_the_error_says_what_to_do(tmp_path):
    nowhere = Download("http://there-is-no-such-host.invalid/NCI1.zip")
    with pytest.raises(DownloadError, match="machine that is online") as caught:
        fetch("NCI1", tmp_path, source=nowhere)
    assert str(tmp_path / "NCI1.zip") in str(caught.value)
    packed = Download("http://there-is-no-such-host.invalid/dataset.zip", "dataset/PTC/PTC.txt")
    with pytest.raises(DownloadError, match=r"put dataset/PTC/PTC\.txt out of it at .*PTC\.txt"):
        fetch("PTC", tmp_path, source=packed)


@pytest.mark.parametrize("name", ["../MUTAG", "a/b", "", ".hidden", "näme", "x y", "http://example.org/x"])
def test_names_that_are_no_names(tmp_path, name):
    with pytest.raises(OptionError, match="cannot be the name of a dataset"):
        fetch(name, tmp_path)


def test_embedded_sets_need_no_fetching(tmp_path):
    with pytest.raises(OptionError, match="MOTIFS is a registered dataset"):
        fetch("motifs", tmp_path)


def test_a_home_that_cannot_be_made(tmp_path):
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(DownloadError, match="cannot be written to"):
        fetch("PAIR", tmp_path / "file" / "home")


def test_a_full_disk(tmp_path, monkeypatch):
    def no_space(self: Path, target: Path) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Path, "replace", no_space)
    with pytest.raises(DownloadError, match="No space left on device"):
        fetch_from(zipped(PAIR), tmp_path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.real_data
def test_a_real_archive_passes_its_count_check(tmp_path, real_archive):
    fetch_from(real_archive("MUTAG").read_bytes(), tmp_path, "MUTAG")
    data = load_dataset("MUTAG", data_home=tmp_path)
    assert np.bincount(data.labels).tolist() == [63, 125]
