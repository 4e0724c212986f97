"""Plugins: what they register can be used, what fails is named with its line, and workers know them too."""

from __future__ import annotations

import json
import os
import re
import sys
import textwrap

import numpy as np
import pytest

from spgnn_dgl.cli import main
from spgnn_dgl.errors import ModelFileError, PluginError
from spgnn_dgl.estimator import GraphClassifier
from spgnn_dgl.evaluation.parallel import _work
from spgnn_dgl.evaluation.sharing import marked, shared
from spgnn_dgl.experiment import RunConfig, prepare
from spgnn_dgl.nn import CONVS
from spgnn_dgl.plugins import load_plugin, loaded_plugins
from tests.conftest import random_dataset
from tests.registries import restored


@pytest.fixture(autouse=True)
def forget():
    with restored():
        yield


@pytest.fixture
def write(tmp_path):
    def to(name: str, text: str):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(textwrap.dedent(text), encoding="utf-8")
        return path

    return to


CONV = """
    import spgnn_dgl as sp
    from spgnn_dgl.nn import GINConv

    @sp.CONVS.register("mine")
    class Mine(GINConv):
        pass
"""


def test_a_file_registers_what_it_says(write):
    module = load_plugin(write("mine.py", CONV))
    assert CONVS.get("mine") is module.Mine


def test_a_module_is_loaded_by_its_name(write, monkeypatch):
    monkeypatch.syspath_prepend(str(write("own_package/__init__.py", "").parent.parent))
    write("own_package/convs.py", CONV)
    load_plugin("own_package.convs")
    assert "mine" in CONVS
    assert loaded_plugins() == ("own_package.convs",)


def test_a_file_runs_again_only_when_it_has_changed(write):
    path = write("count.py", "import sys\nsys.own_count = getattr(sys, 'own_count', 0) + 1\n")
    try:
        first = load_plugin(path)
        assert load_plugin(str(path)) is first
        assert sys.own_count == 1
        os.utime(path, ns=(1, 1))
        load_plugin(path)
        assert sys.own_count == 2
        assert loaded_plugins() == (str(path),)
    finally:
        del sys.own_count


def test_a_worker_process_loads_the_plugins_of_the_one_that_sent_it_work(write, tmp_path):
    """As in a worker: the unit of work arrives where nothing is registered yet."""
    data = random_dataset(12)
    with restored():
        load_plugin(write("mine.py", CONV))
        sent = loaded_plugins()
        config = RunConfig(data, options={"conv": "mine", "k": 10, "layers": 1}, folds=2, epochs=(1,), out=tmp_path)
        prepared = prepare(config)
    assert "mine" not in CONVS
    (unit, _) = prepared.protocol.final_units(prepared.plan, data, {})
    (tmp_path / "units").mkdir()
    with shared(data) as dataset, marked(tmp_path) as mark:
        _work(unit, dataset, mark, {"checkpoints": False, "heartbeat": False}, sent, None)
    assert "mine" in CONVS
    assert json.loads((tmp_path / "units" / f"{unit.name}.json").read_text(encoding="utf-8"))["status"] == "done"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x = 1\ny = undefined\n", r"the plugin .*bad.py, line 2 failed: NameError: name 'undefined' is not defined"),
        ("def broken(:\n", r"bad.py, line 1 failed: SyntaxError"),
        ("\n\nimport no_such_package_at_all\n", r"bad.py, line 3 failed: ModuleNotFoundError"),
        ("import spgnn_dgl as sp\nsp.CONVZ\n", r"bad.py, line 2 failed: AttributeError: .*Did you mean 'CONVS'"),
        ("def f():\n    return 1 / 0\n\nx = f()\n", r"bad.py, line 2 failed: ZeroDivisionError"),
    ],
)
def test_what_fails_is_named_with_its_line(write, text, message):
    path = write("bad.py", text)
    for _ in range(2):  # it is not taken for loaded
        with pytest.raises(PluginError, match=message):
            load_plugin(path)
    assert loaded_plugins() == ()


def test_a_module_that_fails_is_named_with_its_line(write, monkeypatch):
    monkeypatch.syspath_prepend(str(write("own_module.py", "a = 1\nb = a + '1'\n").parent))
    with pytest.raises(PluginError, match=r"the plugin own_module, line 2 failed: TypeError"):
        load_plugin("own_module")


def test_a_model_made_with_a_plugin_asks_for_it(write, tmp_path):
    path = write("mine.py", CONV)
    with restored():
        load_plugin(path)
        classifier = GraphClassifier("spgnn", conv="mine", epochs=1, layers=1, k=10).fit(random_dataset(10))
        classifier.save(tmp_path / "model.safetensors")
    with pytest.raises(ModelFileError, match=r"unknown conv 'mine'.*spgnn --plugin FILE.py"):
        GraphClassifier.load(tmp_path / "model.safetensors")
    load_plugin(path)
    again = GraphClassifier.load(tmp_path / "model.safetensors")
    np.testing.assert_array_equal(again.predict(random_dataset(5)), classifier.predict(random_dataset(5)))


def test_on_the_command_line_a_failure_is_one_message(write, capsys):
    with pytest.raises(SystemExit) as caught:
        main(["--plugin", str(write("bad.py", "import nothing_at_all\n")), "methods"])
    assert caught.value.code == 2
    assert re.match(r"error: the plugin .*bad\.py, line 1 failed: ModuleNotFoundError", capsys.readouterr().err)


def test_on_the_command_line_several_can_be_given(write, capsys):
    method = """
        import spgnn_dgl as sp
        from spgnn_dgl.methods.spgnn import SPGNN

        @sp.METHODS.register("mine-too")
        class MineToo(SPGNN):
            pass
    """
    with pytest.raises(SystemExit) as caught:
        main(["--plugin", str(write("mine.py", CONV)), "--plugin", str(write("too.py", method)), "methods"])
    assert caught.value.code == 0
    assert "mine-too" in capsys.readouterr().out
    assert "mine" in CONVS


def test_a_plugin_that_is_not_there():
    with pytest.raises(PluginError, match=r"no plugin 'nowhere/mine.py': .* is not a file"):
        load_plugin("nowhere/mine.py")
    with pytest.raises(PluginError, match=r"no plugin 'own_missing': no module of that name"):
        load_plugin("own_missing")
    with pytest.raises(PluginError, match=r"the plugin own_missing.inside failed: ModuleNotFoundError"):
        load_plugin("own_missing.inside")
