"""Stores that are written part by part: the same as in one go, whole or not there, and taken up again after a kill."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spgnn_dgl.data.arrays import DatasetMeta, assemble, codes
from spgnn_dgl.data.building import builder, growing
from spgnn_dgl.data.building.builder import Parts, build_store
from spgnn_dgl.data.saved import TEMPORARY, open_store, save_store
from spgnn_dgl.data.store import GraphDataset
from spgnn_dgl.errors import DatasetError
from tests.data.data_samples import Plain, plain_datasets, triangle_and_path


def unfinished(folder: Path) -> Path:
    return folder.with_name(folder.name + TEMPORARY)


def assert_same_folder(found: Path, expected: Path) -> None:
    """The same files with the same bytes."""
    assert sorted(p.name for p in found.iterdir()) == sorted(p.name for p in expected.iterdir())
    for path in expected.iterdir():
        assert (found / path.name).read_bytes() == path.read_bytes(), path.name


def pieces(plain: Plain, sizes: list[int]) -> list[GraphDataset]:
    """The dataset in pieces of so many graphs, each with the codes of its own labels."""
    found, start = [], 0
    for size in [*sizes, len(plain.counts)]:
        part = slice(start, start + size)
        if plain.counts[part]:
            values = {
                name: None if value is None else value[part]
                for name in ("node_labels", "attributes", "edge_labels")
                for value in [getattr(plain, name)]
            }
            piece = replace(
                plain, counts=plain.counts[part], edges=plain.edges[part], classes=plain.classes[part], **values
            )
            found.append(piece.dataset())
        start += size
    return found


def parts_from(datasets: list[GraphDataset], name: str = "plain", **options) -> Parts:
    def read(position):
        for number in range(position or 0, len(datasets)):
            yield datasets[number], number + 1

    return Parts(name, read, **options)


@settings(max_examples=80, deadline=None)
@given(plain_datasets(), st.lists(st.integers(1, 3), max_size=5))
def test_the_store_is_the_one_that_is_made_in_one_go(tmp_path_factory, plain, sizes):
    folder = tmp_path_factory.mktemp("stores")
    built = build_store(folder / "built", parts_from(pieces(plain, sizes)))
    save_store(folder / "saved", plain.dataset())
    assert_same_folder(folder / "built", folder / "saved")
    assert built.fingerprint == plain.dataset().fingerprint
    assert not unfinished(folder / "built").exists()


def labelled(values: list[str], classes: list[str]) -> GraphDataset:
    """Single nodes with these labels and classes."""
    node_labels, names = codes(np.array(values))
    labels, class_names = codes(np.array(classes))
    none = np.zeros(0, dtype=np.int64)
    arrays, mended = assemble(np.ones(len(values)), none, none, labels=labels, node_labels=node_labels)
    return GraphDataset(arrays, DatasetMeta("x", class_names, names, mended=mended))


def test_names_are_sorted_as_numbers_where_all_are_numbers(tmp_path):
    built = build_store(
        tmp_path / "x", parts_from([labelled(["10", "9"], ["b", "a"]), labelled(["2", "10"], ["c", "a"])])
    )
    assert built.meta.node_label_names == ("2", "9", "10")
    assert built.arrays.node_labels.tolist() == [2, 1, 0, 2]
    assert built.labels.tolist() == [1, 0, 2, 0]
    built = build_store(
        tmp_path / "x", parts_from([labelled(["10", "9"], ["b", "a"]), labelled(["C", "10"], ["c", "a"])])
    )
    assert built.meta.node_label_names == ("10", "9", "C")


def test_codes_are_exchanged_in_blocks(tmp_path, monkeypatch):
    monkeypatch.setattr(growing, "BLOCK", 3)
    values = [str(v) for v in np.random.default_rng(0).integers(0, 9, 40)]
    datasets = [labelled(values[i : i + 5], values[i : i + 5]) for i in range(0, 40, 5)]
    built = build_store(tmp_path / "x", parts_from(datasets))
    assert [built.meta.node_label_names[c] for c in built.arrays.node_labels] == values
    assert [built.meta.class_names[c] for c in built.labels] == values


def test_names_that_all_parts_share_keep_their_order(tmp_path, tiny):
    meta = replace(tiny.meta, node_label_names=("z", "never", "b", "a"))
    built = build_store(tmp_path / "x", parts_from([GraphDataset(tiny.arrays, meta)] * 2, name="x"))
    assert built.meta.node_label_names == ("z", "never", "b", "a")
    assert built.arrays.node_labels.tolist() == tiny.arrays.node_labels.tolist() * 2


def test_unknown_classes_stay_unknown(tmp_path):
    first, second = labelled(["a"], ["x"]), labelled(["a", "b"], ["w", "x"])
    unknown = replace(second.arrays, labels=np.array([-1, 0]))
    parts = [first, GraphDataset(unknown, replace(second.meta, class_names=("w",)))]
    built = build_store(tmp_path / "x", parts_from(parts))
    assert built.labels.tolist() == [1, -1, 0]
    with pytest.raises(DatasetError, match="graph 1 has no class"):
        build_store(tmp_path / "y", parts_from(parts), require_classes=True)
    assert not (tmp_path / "y").exists()


def test_one_label_on_all_nodes_may_mean_none(tmp_path):
    same = [labelled(["7", "7"], ["0", "1"])] * 2
    built = build_store(tmp_path / "x", parts_from(same, lone_label_is_none=True))
    assert built.num_node_labels == 0
    assert not (tmp_path / "x" / "node_labels.npy").exists()
    other = [*same, labelled(["8"], ["0"])]
    assert build_store(tmp_path / "x", parts_from(other, lone_label_is_none=True)).num_node_labels == 2


# ---- what does not fit together -------------------------------------------------------------------------------------


def test_parts_must_be_alike(tmp_path, tiny):
    bare = GraphDataset(replace(tiny.arrays, node_labels=None), replace(tiny.meta, node_label_names=()))
    wide, narrow = (
        GraphDataset(
            replace(tiny.arrays, node_attributes=np.zeros((len(tiny.arrays.in_degrees), n), np.float32)), tiny.meta
        )
        for n in (3, 2)
    )
    directed = GraphDataset(tiny.arrays, replace(tiny.meta, directed=True))
    for parts, message in (
        ([tiny, bare], "from number 12 on .* have no node labels, but those before them have some"),
        ([bare, tiny], "have node labels, but those before them have none"),
        ([wide, narrow], "have 2 node attributes per node, those before them 3"),
        ([tiny, directed], "are directed"),
        ([], "it has no graphs"),
    ):
        with pytest.raises(DatasetError, match=message):
            build_store(tmp_path / "x", parts_from(parts, key=message))
        assert not (tmp_path / "x").exists()


def test_edge_labels_may_begin_with_the_first_edge(tmp_path):
    sample = triangle_and_path().dataset()
    alone = labelled(["5"], ["1"])
    alone = GraphDataset(replace(alone.arrays, node_attributes=np.zeros((1, 2), np.float32)), alone.meta)
    bare = GraphDataset(replace(sample.arrays, edge_labels=None), replace(sample.meta, edge_label_names=()))
    built = build_store(tmp_path / "x", parts_from([alone, sample, alone]))
    assert built.arrays.edge_labels.tolist() == sample.arrays.edge_labels.tolist()
    empty = GraphDataset(replace(alone.arrays, edge_labels=np.zeros(0, np.int32)), alone.meta)
    for parts in ([alone, bare, sample], [empty, bare], [sample, alone, bare]):
        with pytest.raises(DatasetError, match="edge labels"):
            build_store(tmp_path / "y", parts_from(parts, key=str(len(parts)) + str(id(parts))))


def test_what_is_no_store_is_not_replaced(tmp_path, tiny):
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "thesis.txt").write_text("years of work")
    with pytest.raises(DatasetError, match="is not a saved dataset; it is not overwritten"):
        build_store(tmp_path / "work", parts_from([tiny]))
    assert [p.name for p in tmp_path.iterdir()] == ["work"]


# ---- disks and kills ------------------------------------------------------------------------------------------------


def test_a_full_disk_is_one_clear_error_and_changes_nothing(tmp_path, tiny, monkeypatch):
    save_store(tmp_path / "x", tiny.subset([0, 1]))
    before = {p.name: p.read_bytes() for p in (tmp_path / "x").iterdir()}
    writes = 0

    def full(file, array, write=growing.write):
        nonlocal writes
        writes += 1
        if writes > 12:
            raise OSError(errno.ENOSPC, "No space left on device")
        write(file, array)

    monkeypatch.setattr(builder, "CHECKPOINT_SECONDS", 0.0)
    monkeypatch.setattr(growing, "write", full)
    with pytest.raises(DatasetError, match=r"cannot be written: No space left .* goes on"):
        build_store(tmp_path / "x", parts_from([tiny] * 3, name="x"))
    monkeypatch.undo()
    assert {p.name: p.read_bytes() for p in (tmp_path / "x").iterdir()} == before
    assert len(build_store(tmp_path / "x", parts_from([tiny] * 3, name="x"))) == 36  # there is room again
    assert [p.name for p in tmp_path.iterdir()] == ["x"]


def test_a_place_that_cannot_be_written_is_one_clear_error(tmp_path, tiny):
    (tmp_path / "file").write_text("not a folder")
    with pytest.raises(DatasetError, match=r"x cannot be written: Not a directory"):
        build_store(tmp_path / "file" / "x", parts_from([tiny]))


def broken_after(datasets: list[GraphDataset], count: int) -> Parts:
    def read(position):
        for number in range(position or 0, len(datasets)):
            if number == count:
                raise DatasetError("a broken line")
            yield datasets[number], number + 1

    return Parts("x", read, key="k")


def test_a_source_that_breaks_off_is_gone_on_with(tmp_path, tiny, caplog):
    with pytest.raises(DatasetError, match="a broken line"):
        build_store(tmp_path / "x", broken_after([tiny] * 4, 2))
    assert "24 graphs are kept" in caplog.text
    read = []

    def rest(position):
        read.append(position)
        yield from broken_after([tiny] * 4, 9).read(position)

    assert len(build_store(tmp_path / "x", Parts("x", rest, key="k"))) == 48
    assert read == [2]


def test_an_unfinished_store_of_another_source_is_begun_anew(tmp_path, tiny, caplog):
    with pytest.raises(DatasetError, match="a broken line"):
        build_store(tmp_path / "x", broken_after([tiny] * 4, 2))
    built = build_store(tmp_path / "x", parts_from([tiny], key="another"))
    assert "is of another source or version" in caplog.text
    assert built.fingerprint == tiny.fingerprint


def test_an_unfinished_store_that_was_cut_is_refused(tmp_path, tiny):
    with pytest.raises(DatasetError, match="a broken line"):
        build_store(tmp_path / "x", broken_after([tiny] * 4, 2))
    path = unfinished(tmp_path / "x") / "store" / "neighbours.npy"
    path.write_bytes(path.read_bytes()[:-4])
    with pytest.raises(
        DatasetError, match=r"neighbours.npy is shorter than it was. Remove .*x.unfinished, and begin anew"
    ):
        build_store(tmp_path / "x", broken_after([tiny] * 4, 9))


def test_two_processes_do_not_write_one_store(tmp_path, tiny):
    pytest.importorskip("fcntl")

    def read(position):
        yield tiny, 1
        with pytest.raises(DatasetError, match="another process is writing"):
            build_store(tmp_path / "x", parts_from([tiny]))
        yield tiny, 2

    assert len(build_store(tmp_path / "x", Parts("x", read))) == 24


def test_a_kill_after_the_store_is_in_place_leaves_a_folder_that_the_next_call_removes(tmp_path, tiny, monkeypatch):
    monkeypatch.setattr(builder.shutil, "rmtree", lambda *args, **options: None)
    build_store(tmp_path / "x", parts_from([tiny], name="x"))
    monkeypatch.undo()
    assert unfinished(tmp_path / "x").exists()

    def forbidden(position):
        raise AssertionError("the source was read again")
        yield

    assert build_store(tmp_path / "x", Parts("x", forbidden)).fingerprint == tiny.fingerprint
    assert not unfinished(tmp_path / "x").exists()


KILLING = """
import os, random, signal, sys, time
from pathlib import Path
from spgnn_dgl.data.building import builder, growing
from spgnn_dgl.data.saved import open_store
from tests.data.building.test_builder import sample_parts

folder = Path(sys.argv[1])
builder.CHECKPOINT_SECONDS, growing.BLOCK = 0.0, 10
original = growing.write
growing.write = lambda file, array: (time.sleep(0.0005), original(file, array))
os.fsync = lambda file: None  # a kill leaves what the system has taken; only a power cut does not
parts, rng = sample_parts(), random.Random(0)
for _ in range(200):
    child = os.fork()  # cheaper than to import everything each time
    if child == 0:
        builder.build_store(folder, parts)
        os._exit(0)
    time.sleep(rng.uniform(0.005, 0.05))
    os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    if folder.exists():
        open_store(folder)  # whole, or not there
        break
    progress = Path(f"{folder}.unfinished") / "progress.json"
    print(progress.read_text() if progress.exists() else "{}", flush=True)
"""


def sample_parts() -> Parts:
    """Forty parts, whose labels appear one after the other and not in order."""
    rng = np.random.default_rng(3)
    values = [[str(v) for v in rng.integers(0, 3 + i // 4, 6) * 7 % 11] for i in range(40)]
    return parts_from([labelled(v, v[::-1]) for v in values], name="x", key="sample")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the builders are forked")
def test_a_store_built_with_many_kills_is_the_undisturbed_one_byte_for_byte(tmp_path):
    expected, folder = tmp_path / "expected", tmp_path / "x"
    build_store(expected, sample_parts())
    command = [sys.executable, "-c", KILLING, str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=Path(__file__).parents[3], timeout=120)
    assert done.returncode == 0, done.stderr
    after_kills = [json.loads(line).get("graphs", 0) for line in done.stdout.splitlines()]
    assert after_kills == sorted(after_kills), "something was lost"
    assert len(set(after_kills)) >= 3, "no kill hit the middle of the work"
    build_store(folder, sample_parts())
    assert_same_folder(folder, expected)
    assert not unfinished(folder).exists()


# ---- more than 2³¹ --------------------------------------------------------------------------------------------------


def test_offsets_go_beyond_32_bits(tmp_path, monkeypatch):
    """A store of more than 2³¹ edges, most of which are a hole in the file: the graph behind them is cut out right."""
    sample = triangle_and_path().dataset()
    before = 2**31 + 5
    monkeypatch.setattr(builder.GraphArrays, "fingerprint", "not computed: it would read the hole")

    class Large(builder.StoreBuilder):
        def pretend(self) -> None:
            """As if so many edges had been appended."""
            self.progress.edges += before
            for name in ("neighbours", "edge_labels"):
                self._files[name]._file.seek(4 * before, os.SEEK_CUR)

    folder = tmp_path / "x"
    parts = parts_from([sample], name="x")
    with Large(folder, parts) as large:
        large.append(sample, 1)
        large.pretend()
        large.append(sample, 2)
        large.finish()
    opened = open_store(folder)
    assert opened.arrays.edge_offsets[-1] == before + 2 * len(sample.arrays.neighbours)
    assert opened.arrays.edge_offsets.dtype == np.int64
    found, expected = opened.batch([3, 0, 3]), sample.batch([1, 0, 1])  # the hole is in graph 2
    assert [e.tolist() for e in found.edges()] == [e.tolist() for e in expected.edges()]
    assert found.edata["label"].tolist() == expected.edata["label"].tolist()
