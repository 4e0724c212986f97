"""Tables of numbers: the fast path says what the exact path says, and mistakes are found on their line."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spgnn_dgl.data.readers import numbers, sources
from spgnn_dgl.data.readers.numbers import read_table
from spgnn_dgl.data.readers.sources import FolderSource, ZipSource, line_blocks, open_source
from spgnn_dgl.errors import DatasetError, DatasetNotFoundError
from tests.data.data_samples import write_folder, write_zip


class TextInMemory:
    """A source with one file."""

    path = None

    def __init__(self, text: bytes):
        self.text = text

    def names(self):
        return ["table.txt"]

    def open(self, name):
        import io

        return io.BytesIO(self.text)

    def where(self, name):
        return name


def read(text: bytes, kind=int, **options):
    return read_table(TextInMemory(text), "table.txt", kind, **options)


number_texts = {
    int: st.integers(-(2**40), 2**40).map(str),
    float: st.floats(-1e6, 1e6, allow_nan=False).map(repr),
}


@settings(max_examples=150, deadline=None)
@given(st.data(), st.sampled_from([int, float]), st.integers(1, 4), st.sampled_from([", ", ",", " ,\t"]))
def test_any_table_comes_back(draws, kind, columns, gap):
    rows = draws.draw(
        st.lists(st.lists(number_texts[kind], min_size=columns, max_size=columns), min_size=1, max_size=9)
    )
    ending = draws.draw(st.sampled_from(["\n", "\r\n", "\r"]))
    tail = draws.draw(st.sampled_from(["", ending, ending * 3, f" {ending} "]))
    text = ending.join(gap.join(row) for row in rows) + tail
    table = read(text.encode(), kind)
    assert table.tolist() == [[kind(row[c]) for row in rows] for c in range(columns)]


@settings(max_examples=200, deadline=None)
@given(st.text(alphabet="0123456789,-+.e \n", min_size=1, max_size=30), st.sampled_from([int, float]))
def test_what_the_fast_path_accepts_is_what_the_exact_path_reads(text, kind):
    block = text.rstrip().encode() + b"\n"
    fast = numbers._parse_fast(block, kind, None, None)
    try:
        exact = numbers._parse_exactly(block, kind, None, None, "a number", "x", 1)
    except DatasetError:
        exact = None
    if fast is not None:
        np.testing.assert_array_equal(fast, exact)


@pytest.mark.parametrize("block_bytes", [1, 3, 8, 1000])
def test_the_size_of_blocks_does_not_matter(monkeypatch, block_bytes):
    monkeypatch.setattr(sources, "BLOCK_BYTES", block_bytes)
    text = "".join(f"{i}, {i * i}\n" for i in range(50)) + "\n \n"
    assert read(text.encode()).T.tolist() == [[i, i * i] for i in range(50)]
    with pytest.raises(DatasetError, match=r"table.txt, line 51: 'x, 1'|line 51: 'x'"):
        read(text.rstrip().encode() + b"\nx, 1\n")


@pytest.mark.parametrize(
    ("text", "kind", "options", "message"),
    [
        (b"", int, {}, r"table.txt is empty"),
        (b"\n \n", int, {}, r"table.txt is empty"),
        (b"1\n\n2\n", int, {}, r"line 2 is empty"),
        (b"1\nseven\n2\n", int, {}, r"line 2: 'seven' is not"),
        (b"1\nnan\n", int, {}, r"line 2: 'nan' is not"),
        (b"1.0\nnan\n", float, {}, r"line 2: 'nan' is not"),
        (b"1.0\ninf\n", float, {}, r"line 2: 'inf' is not"),
        (b"1.0\n1e999\n", float, {}, r"line 2: '1e999' is not"),
        (b"1\n2.5\n", int, {}, r"line 2: '2.5' is not"),
        (b"1, 2\n3\n", int, {}, r"line 2: '3' has 1 fields, 2 expected"),
        (b"1, 2\n3, 4, 5\n6\n", int, {}, r"line 2: '3, 4, 5' has 3 fields"),
        (b"1, 2\n3,\n", int, {}, r"line 2: '' is not"),
        (b"1, 2\n1 2,\n", int, {}, r"line 2: '1 2' is not"),
        (b"1.2.3,\n", float, {}, r"line 1: '1.2.3' is not"),
        (b"1, 2\n", int, {"columns": 1}, r"line 1: '1, 2' has 2 fields, 1 expected"),
        (b"1\n5\n", int, {"limits": (1, 4)}, r"line 2: '5' is not"),
        (b"1\n-5\n", int, {"limits": (1, 4)}, r"line 2: '-5' is not"),
        (b"1\n4294967297\n", int, {"limits": (1, 4)}, r"line 2: '4294967297' is not"),
        (b"1\n99999999999999999999\n", int, {}, r"line 2: '9+' is not"),
        (b"1\n-99999999999999999999\n", int, {}, r"line 2: '-9+' is not"),
        (b"1\n1_000\n", int, {}, r"line 2: '1_000' is not"),
        (b"1\n\xff\xfe\n", int, {}, r"line 2: '.*' is not"),
        (b"7" * 100 + b"\n", int, {}, r"line 1: '7{39}…' is not"),
    ],
)
def test_a_mistake_is_found_on_its_line(text, kind, options, message):
    with pytest.raises(DatasetError, match=message):
        read(text, kind, **options)


def test_unusual_but_clear_tables_are_read():
    assert read(b"\xef\xbb\xbf1\n2\n").tolist() == [[1, 2]]  # a byte order mark
    assert read(b"1 2\n3\t4\n").tolist() == [[1, 3], [2, 4]]
    assert read(b"1.0\n-2e3\n").tolist() == [[1, -2000]]
    assert read(b"+1, 2\n").tolist() == [[1], [2]]
    assert read(b"9223372036854775806\n").tolist() == [[9223372036854775806]]
    assert read(b"3\n4\n", limits=(1, 4)).dtype == np.int32


def test_a_folder_and_a_zip_hold_the_same_files(tmp_path):
    files = {"a.txt": "1\n", "inner/b.txt": "2\n"}
    write_folder(tmp_path / "folder" / "inner", {"b.txt": "2\n"})
    folder = open_source(write_folder(tmp_path / "folder", {"a.txt": "1\n", ".hidden": "x"}))
    archive = open_source(write_zip(tmp_path / "x.zip", {**files, "__MACOSX/._a.txt": "junk"}))
    assert isinstance(folder, FolderSource)
    assert isinstance(archive, ZipSource)
    for source in (folder, archive):
        assert sorted(source.names()) == sorted(files)
        assert list(line_blocks(source, "inner/b.txt")) == [b"2\n"]


@pytest.mark.parametrize(
    "name", ["../outside.txt", "/etc/outside.txt", "a/../../outside.txt", "..\\outside.txt", "C:x.txt"]
)
def test_a_zip_with_paths_outside_is_refused(tmp_path, name):
    path = write_zip(tmp_path / "evil.zip", {"a.txt": "1\n", name: "x"})
    with pytest.raises(DatasetError, match=r"evil.zip holds a file that would land outside.*refused"):
        open_source(path)


def test_a_cut_off_zip_is_refused(tmp_path):
    path = write_zip(tmp_path / "CUT.zip", {"a.txt": "".join(f"{i}\n" for i in range(9999))})
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(DatasetError, match=r"CUT.zip is not a whole zip archive.*spgnn fetch CUT"):
        open_source(path)


def test_damage_inside_a_zip_is_noticed(tmp_path):
    path = write_zip(tmp_path / "BAD.zip", {"a.txt": "".join(f"{i}\n" for i in range(9999))})
    damaged = bytearray(path.read_bytes())
    damaged[len(damaged) // 2] ^= 0xFF
    path.write_bytes(damaged)
    with pytest.raises(DatasetError, match=r"BAD.zip is not a whole zip archive"):
        read_table(open_source(path), "a.txt", int)


def test_a_path_that_does_not_exist_is_not_found(tmp_path):
    with pytest.raises(DatasetNotFoundError, match="does not exist"):
        open_source(tmp_path / "nothing.zip")
