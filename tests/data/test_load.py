"""`load_dataset`: where names are looked for, in which order, and what is said when nothing is found."""

from __future__ import annotations

import importlib.metadata

import networkx
import numpy as np
import pytest

from spgnn_dgl._dgl import dgl
from spgnn_dgl.data import catalogue, load
from spgnn_dgl.data.catalogue import DATASETS, data_home, normal_name
from spgnn_dgl.data.load import known_datasets, load_dataset
from spgnn_dgl.data.saved import save_store
from spgnn_dgl.errors import DatasetError, DatasetNotFoundError
from spgnn_dgl.registry import Registry
from tests.data.data_samples import assert_same_arrays, triangle_and_path, tu_files, write_folder, write_zip

DROP_IN = """
import networkx

def load():
    return [networkx.path_graph(3), networkx.star_graph(3)], ["path", "star"]
"""
TEXT = "2\n1 0\n5 0\n2 1\n5 1 1\n6 1 0\n"


@pytest.fixture
def home(tmp_path, monkeypatch):
    """An empty data home, caches elsewhere, and a place of work without anything in it."""
    for name in ("home", "work"):
        (tmp_path / name).mkdir()
    monkeypatch.setenv("SPGNN_DATASETS", str(tmp_path / "home"))
    monkeypatch.setenv("SPGNN_CACHE", str(tmp_path / "caches"))
    monkeypatch.chdir(tmp_path / "work")
    return tmp_path / "home"


@pytest.fixture
def registry(monkeypatch):
    """A registry of this test alone."""
    own = Registry("dataset", normalise=normal_name)
    for name, thing in DATASETS:
        own.register(name)(thing)
    monkeypatch.setattr(load, "DATASETS", own)
    return own


def tiny_files(name: str) -> dict[str, str]:
    return tu_files(triangle_and_path(), name=name)


def test_the_data_home_is_given_or_set_or_datasets(monkeypatch, tmp_path):
    monkeypatch.delenv("SPGNN_DATASETS", raising=False)
    assert str(data_home()) == "datasets"
    monkeypatch.setenv("SPGNN_DATASETS", str(tmp_path))
    assert data_home() == tmp_path
    assert data_home("elsewhere").name == "elsewhere"


@pytest.mark.parametrize("spelling", ["IMDB-M", "IMDBMULTI", "IMDB-MULTI", "imdb_multi", "Imdb-M"])
@pytest.mark.parametrize("packed", [True, False])
def test_aliases_find_the_same_file(home, spelling, packed):
    if packed:
        write_zip(home / "IMDB-MULTI.zip", tiny_files("IMDB-MULTI"))
    else:
        write_folder(home / "IMDBMULTI", tiny_files("IMDBMULTI"))
    data = load_dataset(spelling)
    assert data.name == "IMDB-MULTI"
    assert data.meta.domain == "social"
    assert_same_arrays(data, triangle_and_path().dataset())


def test_every_place_of_the_data_home(home):
    write_folder(home / "FOLDER", tiny_files("FOLDER"))
    write_zip(home / "ZIPPED.zip", tiny_files("ZIPPED"))
    (home / "TEXT.txt").write_text(TEXT)
    (home / "FILE.py").write_text(DROP_IN)
    save_store(home / "STORED", triangle_and_path().dataset())
    (home / "readme.txt").write_text("what these are\n")
    for name in ("FOLDER", "ZIPPED", "TEXT", "FILE", "STORED"):
        assert len(load_dataset(name)) == 2
    assert load_dataset("file").meta.class_names == ("path", "star")
    assert load_dataset("file").name == "FILE"
    found = known_datasets()
    assert set(found) == {"FOLDER", "ZIPPED", "TEXT", "FILE", "STORED", *DATASETS.names()}
    assert found["ZIPPED"] == str(home / "ZIPPED.zip")


def test_the_order_is_python_file_folder_zip_text(home):
    (home / "X.txt").write_text(TEXT)
    assert load_dataset("X").meta.node_label_names == ("5", "6")
    write_zip(home / "X.zip", tiny_files("X"))
    assert load_dataset("X").num_attributes == 2
    (home / "X").mkdir()  # without a dataset in it, it does not count
    assert load_dataset("X").num_attributes == 2
    files = tiny_files("X")
    del files["X_node_attributes.txt"]
    write_folder(home / "X", files)
    assert load_dataset("X").num_attributes == 0
    (home / "X.py").write_text(DROP_IN)
    assert load_dataset("X").meta.class_names == ("path", "star")


def test_a_given_data_home_goes_before_the_variable(home, tmp_path):
    write_zip(tmp_path / "other" / "MINE.zip", tiny_files("MINE"))
    assert len(load_dataset("MINE", data_home=tmp_path / "other")) == 2
    with pytest.raises(DatasetNotFoundError):
        load_dataset("MINE")


def test_a_path_goes_before_a_name(home, tmp_path):
    (home / "X.py").write_text(DROP_IN)
    write_folder(tmp_path / "work" / "X", tiny_files("X"))
    assert load_dataset("X").num_attributes == 2
    assert load_dataset(tmp_path / "work" / "X").num_attributes == 2
    assert load_dataset("./X").num_attributes == 2
    with pytest.raises(DatasetNotFoundError, match="does not exist"):
        load_dataset("./Y")
    with pytest.raises(DatasetNotFoundError, match=r"Y.zip does not exist"):
        load_dataset("Y.zip")


def test_a_python_file_by_its_path(home, tmp_path):
    (tmp_path / "work" / "shapes.py").write_text(DROP_IN)
    for place in ("shapes.py", "./shapes.py", tmp_path / "work" / "shapes.py"):
        data = load_dataset(place)
        assert (data.name, data.meta.class_names) == ("shapes", ("path", "star"))
    with pytest.raises(DatasetNotFoundError, match=r"nowhere.py does not exist"):
        load_dataset("nowhere.py")


def test_a_folder_of_that_name_without_a_dataset_is_not_meant(home, tmp_path):
    (tmp_path / "work" / "MOTIFS").mkdir()
    assert load_dataset("MOTIFS").num_classes == 3


def test_the_embedded_sets_are_there_without_any_data(home):
    assert load_dataset("MOTIFS").num_classes == 3
    assert load_dataset("digits").num_classes == 10


def test_a_registered_function_and_a_registered_class(home, registry):
    @registry.register("STARS")
    def stars():
        return [(networkx.star_graph(n), n % 2) for n in range(1, 5)]

    @registry.register("LINES", "line graphs")
    class Lines(dgl.data.DGLDataset):
        def __init__(self):
            super().__init__("whatever")

        def process(self):
            pass

        def __len__(self):
            return 3

        def __getitem__(self, i):
            if i >= 3:
                raise IndexError(i)
            return dgl.graph((list(range(i)), list(range(1, i + 1))), num_nodes=i + 1), i % 2

    assert load_dataset("stars").node_counts.tolist() == [2, 3, 4, 5]
    assert load_dataset("stars").name == "STARS"
    assert load_dataset("line-graphs").node_counts.tolist() == [1, 2, 3]
    assert load_dataset("LINES").name == "LINES"


def test_the_registry_goes_before_the_data_home(home, registry, tiny):
    write_zip(home / "MINE.zip", tiny_files("MINE"))
    registry.register("MINE")(lambda: tiny)
    assert len(load_dataset("MINE")) == 12


def test_entry_points_of_installed_packages_are_found(home, monkeypatch):
    module = home.parent / "some_package.py"
    module.write_text(DROP_IN)
    monkeypatch.syspath_prepend(str(module.parent))
    entry = importlib.metadata.EntryPoint("THEIRS", "some_package:load", load.ENTRY_POINTS)
    monkeypatch.setattr(importlib.metadata, "entry_points", lambda group: [entry] if group == load.ENTRY_POINTS else [])
    assert load_dataset("theirs").meta.class_names == ("path", "star")
    assert "THEIRS" in known_datasets()
    broken = importlib.metadata.EntryPoint("BROKEN", "some_package:missing", load.ENTRY_POINTS)
    monkeypatch.setattr(importlib.metadata, "entry_points", lambda group: [broken])
    with pytest.raises(DatasetError, match=r"entry point some_package:missing: AttributeError"):
        load_dataset("BROKEN")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("def load():\n    x = 1\n    return undefined\n", r"MINE.py, line 3: NameError: name 'undefined'"),
        ("def load(:\n", r"MINE.py, line 1: SyntaxError"),
        ("import no_such_package_at_all\n", r"MINE.py, line 1: ModuleNotFoundError"),
        ("def lode():\n    pass\n", r"MINE.py: there is no function load\(\)"),
        ("def load():\n    return 7\n", r"MINE.py: a int was given; expected a dataset"),
        ("def load():\n    return []\n", r"MINE.py: the dataset is empty"),
        ("def load():\n    return [[], 1, 2]\n", r"MINE.py: item 0 is a list; a dataset is made of DGL"),
    ],
)
def test_a_file_that_fails_is_named_with_its_line(home, text, message):
    (home / "MINE.py").write_text(text)
    with pytest.raises(DatasetError, match=message):
        load_dataset("MINE")


def test_a_registered_function_that_fails_is_named(home, registry):
    registry.register("BAD")(lambda: 1 / 0)
    with pytest.raises(DatasetError, match=r"the registered dataset 'BAD': ZeroDivisionError"):
        load_dataset("BAD")


def test_an_unknown_name_is_answered_with_what_is_near_and_what_to_do(home):
    with pytest.raises(DatasetNotFoundError) as caught:
        load_dataset("PROTIENS")
    message = str(caught.value)
    assert "Did you mean 'PROTEINS'?" in message
    for place in ("MOTIFS", "spgnn_dgl.datasets", "PROTIENS.py", "PROTIENS/", "PROTIENS.zip", "PROTIENS.txt"):
        assert place in message
    assert "spgnn fetch PROTIENS" in message
    assert str(home) in message


def test_a_known_name_that_is_not_there_is_answered_with_its_fetch_command(home):
    with pytest.raises(DatasetNotFoundError) as caught:
        load_dataset("RE-M5K", data_home=home / "nowhere")
    assert "spgnn fetch REDDIT-MULTI-5K" in str(caught.value)
    assert "there is no such folder" in str(caught.value)
    assert "Did you mean" not in str(caught.value)
    write_zip(home / "MY-SPECIAL-SET.zip", tiny_files("MY-SPECIAL-SET"))
    with pytest.raises(DatasetNotFoundError, match="Did you mean 'MY-SPECIAL-SET'"):
        load_dataset("MY-SPECAL-SETS")


def test_one_class_needs_to_be_asked_for(home, registry, tiny):
    one = tiny.subset(np.flatnonzero(tiny.labels == 0))
    registry.register("ONE")(lambda: one)
    with pytest.raises(DatasetError, match="every graph has the class"):
        load_dataset("ONE")
    assert len(load_dataset("ONE", require_classes=False)) == 6


def test_a_dataset_from_the_home_is_cached_beside_it(home, monkeypatch):
    monkeypatch.delenv("SPGNN_CACHE")
    write_zip(home / "MINE.zip", tiny_files("MINE"))
    first, second = load_dataset("MINE"), load_dataset("MINE")
    assert len(list((home / ".cache").iterdir())) == 1
    assert_same_arrays(second, first)
    assert catalogue.data_home() == home
