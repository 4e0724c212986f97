"""Saved stores and the cache: whole or not there, damage noticed, never an old answer for a new source."""

from __future__ import annotations

import hashlib
import json
import logging
import os
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings

from spgnn_dgl.data import cache, saved
from spgnn_dgl.data.arrays import GraphArrays
from spgnn_dgl.data.cache import cache_home, cached
from spgnn_dgl.data.readers.formats import read_dataset
from spgnn_dgl.data.saved import is_store, open_store, save_store
from spgnn_dgl.errors import DatasetError, DatasetNotFoundError
from tests.data.data_samples import (
    assert_same_arrays,
    plain_datasets,
    triangle_and_path,
    tu_files,
    write_folder,
    write_zip,
)


@settings(max_examples=50, deadline=None)
@given(plain_datasets())
def test_a_saved_store_opens_as_the_same_dataset(tmp_path_factory, plain):
    data = plain.dataset()
    folder = save_store(tmp_path_factory.mktemp("store") / "x", data)
    opened = open_store(folder)
    assert is_store(folder)
    assert_same_arrays(opened, data)
    assert opened.meta == data.meta
    assert opened.fingerprint == data.fingerprint


def test_arrays_are_memory_mapped_and_read_only(tmp_path):
    opened = open_store(save_store(tmp_path / "x", triangle_and_path().dataset()))
    for array in opened.arrays.present().values():
        assert isinstance(array.base, np.memmap)
        assert not array.flags.writeable
    batch = opened.batch([1, 0])
    batch.ndata["attr"] += 1  # a batch is a copy and may be changed


def test_what_would_need_all_of_the_arrays_is_written_down(tmp_path, monkeypatch):
    data = triangle_and_path().dataset()
    folder = save_store(tmp_path / "x", data)
    opened = open_store(folder)
    read = GraphArrays(**opened.arrays.present())
    assert (read.fingerprint, read.largest_degree) == (data.fingerprint, 2)
    monkeypatch.setattr(hashlib, "sha256", lambda *_: pytest.fail("the arrays are read through"))
    assert opened.fingerprint == opened.subset([1]).fingerprint == read.fingerprint
    monkeypatch.undo()
    changed = replace(opened.arrays, labels=np.array([0, 0]))
    assert changed.fingerprint != read.fingerprint


@pytest.mark.skipif(not Path("/proc/self/smaps").exists(), reason="the system does not tell how files are mapped")
@pytest.mark.parametrize("memory", [1, 10**18])
def test_a_store_larger_than_memory_is_mapped_without_read_ahead(tmp_path, monkeypatch, memory):
    folder = save_store(tmp_path / "x", triangle_and_path().dataset())
    monkeypatch.setattr(saved, "physical_memory", lambda: memory)
    opened = open_store(folder)
    flags = [
        part.partition("VmFlags:")[2].partition("\n")[0].split()
        for part in Path("/proc/self/smaps").read_text().split(str(folder))[1:]
    ]
    assert len(flags) == len(opened.arrays.present())
    assert all(("rr" in found) == (memory == 1) for found in flags)


def test_a_store_without_what_is_written_down_is_opened_too(tmp_path):
    data = triangle_and_path().dataset()
    path = save_store(tmp_path / "x", data) / "meta.json"
    description = json.loads(path.read_text())
    del description["known"], description["crc32"]
    path.write_text(json.dumps({**description, "crc32": saved._text_checksum(description)}))
    assert open_store(tmp_path / "x").fingerprint == data.fingerprint


def test_a_subset_is_saved_alone(tmp_path, tiny):
    chosen = [7, 2, 2]
    opened = open_store(save_store(tmp_path / "x", tiny.subset(chosen)))
    assert len(opened) == 3
    for i, g in enumerate(chosen):
        assert opened[i][0].ndata["label"].tolist() == tiny[g][0].ndata["label"].tolist()
        assert [e.tolist() for e in opened[i][0].edges()] == [e.tolist() for e in tiny[g][0].edges()]


def test_a_store_replaces_a_store_but_nothing_else(tmp_path, tiny):
    folder = save_store(tmp_path / "x", tiny)
    save_store(folder, tiny.subset([0, 1]))
    assert len(open_store(folder)) == 2
    assert [p.name for p in tmp_path.iterdir()] == ["x"]  # nothing is left over
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "thesis.txt").write_text("years of work")
    with pytest.raises(DatasetError, match="not overwritten"):
        save_store(tmp_path / "work", tiny)
    assert (tmp_path / "work" / "thesis.txt").read_text() == "years of work"


def flip_byte(path: Path, position: int) -> None:
    content = bytearray(path.read_bytes())
    content[position] ^= 1
    path.write_bytes(content)


DAMAGE = {
    "a changed byte": lambda folder: flip_byte(folder / "neighbours.npy", -3),
    "a changed header": lambda folder: flip_byte(folder / "labels.npy", 20),
    "a cut-off array": lambda folder: os.truncate(folder / "in_degrees.npy", 130),
    "an empty array": lambda folder: os.truncate(folder / "node_labels.npy", 0),
    "a missing array": lambda folder: (folder / "edge_offsets.npy").unlink(),
    "a cut-off description": lambda folder: os.truncate(folder / "meta.json", 100),
    "a changed description": lambda folder: (folder / "meta.json").write_text(
        (folder / "meta.json").read_text().replace('"name": "plain"', '"name": "plane"').replace("TINY", "TUNY")
    ),
    "not a description": lambda folder: (folder / "meta.json").write_text("[]"),
    "a later version": lambda folder: (folder / "meta.json").write_text(
        json.dumps({**json.loads((folder / "meta.json").read_text()), "version": 99})
    ),
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_store_is_refused(tmp_path, damage):
    folder = save_store(tmp_path / "x", triangle_and_path().dataset())
    DAMAGE[damage](folder)
    with pytest.raises(DatasetError, match=r"x.*(is damaged.*again|a store of version 99)"):
        open_store(folder)


def test_a_folder_that_is_no_store_is_not_found(tmp_path):
    with pytest.raises(DatasetNotFoundError, match=r"has no meta.json"):
        open_store(tmp_path)


def test_large_files_are_checked_in_samples(tmp_path, monkeypatch):
    path = tmp_path / "large.bin"
    path.write_bytes(bytes(range(256)) * 64)
    monkeypatch.setattr(saved, "FULL_CHECK_BYTES", 1000)
    monkeypatch.setattr(saved, "SAMPLE_BYTES", 16)
    before = saved.checksum(path)
    assert before == saved.checksum(path)
    for position in (0, -1):  # both ends are always among the samples
        flip_byte(path, position)
        assert saved.checksum(path) != before
        flip_byte(path, position)
    os.truncate(path, 16383)
    assert saved.checksum(path) != before


# ---- the cache ------------------------------------------------------------------------------------------------------


@pytest.fixture
def source(tmp_path) -> Path:
    return write_zip(tmp_path / "home" / "TINY.zip", tu_files(triangle_and_path()))


@pytest.fixture
def home(tmp_path) -> Path:
    return tmp_path / "caches"


def forbidden():
    raise AssertionError("the source was read although there is a cache")


def test_the_second_load_does_not_read_the_source(source, home):
    first = read_dataset(source, cache_home=home)
    again = cached(source, forbidden, home=home, version="TU 1")
    assert_same_arrays(again, first)
    assert again.meta.class_names == ("-1", "1")
    assert isinstance(first.arrays.neighbours.base, np.memmap)  # the first one lets go of its memory, too


def test_a_changed_source_is_read_again(source, home):
    read_dataset(source, cache_home=home)
    changed = tu_files(triangle_and_path())
    changed["TINY_graph_labels.txt"] = "1\n2\n"
    status = source.stat()
    write_zip(source, changed)
    os.utime(source, ns=(status.st_atime_ns, status.st_mtime_ns))  # the same time, almost the same size
    assert read_dataset(source, cache_home=home).meta.class_names == ("1", "2")
    assert len(list(home.iterdir())) == 1  # the former cache is gone


def test_a_changed_file_of_a_folder_is_noticed(tmp_path, home):
    folder = write_folder(tmp_path / "TINY", tu_files(triangle_and_path()))
    read_dataset(folder, cache_home=home)
    (folder / "TINY_graph_labels.txt").write_text("5\n6\n")
    assert read_dataset(folder, cache_home=home).meta.class_names == ("5", "6")


def test_another_version_of_the_reader_reads_again(source, home, tiny):
    read_dataset(source, cache_home=home)
    assert len(cached(source, lambda: tiny, home=home, version="TU 2")) == len(tiny)


def test_two_sources_of_one_name_have_two_caches(tmp_path, source, home, tiny):
    other = write_zip(tmp_path / "elsewhere" / "TINY.zip", tu_files(triangle_and_path()))
    assert len(cached(source, lambda: tiny, home=home, version="1")) == 12
    assert len(cached(other, lambda: tiny.subset([1]), home=home, version="1")) == 1
    assert len(cached(source, forbidden, home=home, version="1")) == 12


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_cache_is_rebuilt_and_told(source, home, caplog, damage):
    expected = read_dataset(source, cache_home=home).fingerprint
    (folder,) = home.iterdir()
    DAMAGE[damage](folder)
    with caplog.at_level(logging.WARNING, "spgnn_dgl"):
        assert read_dataset(source, cache_home=home).fingerprint == expected
    assert f"the cache of {source} is damaged and is rebuilt" in caplog.text
    assert_same_arrays(cached(source, forbidden, home=home, version="TU 1"), triangle_and_path().dataset())


def test_what_a_killed_process_left_is_removed_in_time(source, home):
    read_dataset(source, cache_home=home)
    (folder,) = home.iterdir()
    old, fresh = (home / f"{folder.name}.{n}{saved.TEMPORARY}" for n in (1, 2))
    old.mkdir()
    fresh.mkdir()
    long_ago = time.time() - 2 * cache.ABANDONED_AFTER
    os.utime(old, (long_ago, long_ago))
    (folder / "meta.json").unlink()
    read_dataset(source, cache_home=home)
    assert sorted(home.iterdir()) == sorted([folder, fresh])


def test_where_no_cache_can_be_written_the_data_is_used_as_read(source, tmp_path, caplog):
    (tmp_path / "file").write_text("not a folder")
    with caplog.at_level(logging.WARNING, "spgnn_dgl"):
        data = read_dataset(source, cache_home=tmp_path / "file")
    assert_same_arrays(data, triangle_and_path().dataset())
    assert "is not cached" in caplog.text


def test_caches_stand_beside_the_data_or_where_one_can_write(tmp_path, monkeypatch):
    monkeypatch.delenv("SPGNN_CACHE", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    data_home = tmp_path / "data"
    assert cache_home(data_home) == tmp_path / "xdg" / "spgnn_dgl"  # there is no such folder
    data_home.mkdir()
    assert cache_home(data_home) == data_home / ".cache"
    data_home.chmod(0o555)
    assert cache_home(data_home) == tmp_path / "xdg" / "spgnn_dgl"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path / "me"))
    assert cache_home(data_home) == tmp_path / "me" / ".cache" / "spgnn_dgl"
    monkeypatch.setenv("SPGNN_CACHE", str(tmp_path / "chosen"))
    assert cache_home(data_home) == tmp_path / "chosen"


WORKER = """
import sys
from pathlib import Path
from spgnn_dgl.data.readers.formats import read_dataset
source, home, damaging = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3] == "damage"
for round in range(40):
    print(read_dataset(source, cache_home=home).fingerprint)
    if damaging and round % 3 == 0:
        for path in home.glob("*/neighbours.npy"):
            try:
                broken = home / "half.npy"
                broken.write_bytes(b"half")
                broken.replace(path)  # not in place: the others have the file mapped
            except OSError:
                pass  # another process has just replaced the folder
"""


@pytest.mark.slow
def test_processes_that_load_at_once_do_not_harm_each_other(source, home):
    expected = read_dataset(source).fingerprint
    commands = [[sys.executable, "-c", WORKER, str(source), str(home), how] for how in ("read", "damage")]
    processes = [subprocess.Popen(c, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for c in commands]
    for process in processes:
        output, errors = process.communicate(timeout=120)
        assert process.returncode == 0, errors
        assert output.split() == [expected] * 40
    assert not list(home.glob(f"*{saved.TEMPORARY}"))
