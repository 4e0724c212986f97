"""The one importer of dgl: no notice, no file, GraphBolt's absence noticed, and a broken install explained.

Imports are tried in fresh processes; a broken dgl is a folder of that name on ``PYTHONPATH``.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from spgnn_dgl._dgl import dgl, graphbolt_is_missing, installed_version, set_batch_sizes

ROOT = Path(__file__).parents[1]
SHOW_THE_ERROR = """
from spgnn_dgl.errors import EnvironmentProblem
try:
    import spgnn_dgl._dgl
except EnvironmentProblem as problem:
    print(problem)
"""


def run(code: str, home: Path, path: Path | None = None, **variables: str) -> subprocess.CompletedProcess[str]:
    environment = {k: v for k, v in os.environ.items() if k not in ("DGLBACKEND", "PYTHONPATH")}
    environment |= {"HOME": str(home), "PYTHONPATH": os.pathsep.join([*([str(path)] if path else []), str(ROOT)])}
    return subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        env=environment | variables,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def fake_dgl(folder: Path, code: str) -> Path:
    (folder / "dgl").mkdir(parents=True)
    (folder / "dgl" / "__init__.py").write_text(code)
    return folder


def test_importing_prints_nothing_and_writes_nothing(tmp_path):
    done = run("import spgnn_dgl._dgl", home=tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert list(tmp_path.iterdir()) == []


def test_the_package_itself_does_not_import_dgl(tmp_path):
    done = run("import sys, spgnn_dgl; print('dgl' in sys.modules, 'torch' in sys.modules)", home=tmp_path)
    assert done.stdout.split() == ["False", "False"]


def test_a_failing_import_becomes_one_message(tmp_path):
    broken = fake_dgl(tmp_path / "site", "raise OSError('libcudart.so.11.0: cannot open shared object file')")
    said = run(SHOW_THE_ERROR, tmp_path, broken).stdout
    assert "libcudart.so.11.0: cannot open shared object file" in said
    assert f"torch {installed_version('torch')}" in said
    assert "works:  torch 2.13.0 with dgl 1.1.3" in said
    assert "remedy: pip install" in said


def test_a_dgl_without_its_parts_is_refused_too(tmp_path):
    said = run(SHOW_THE_ERROR, tmp_path, fake_dgl(tmp_path / "site", "")).stdout
    assert "DGL cannot be imported (ModuleNotFoundError: No module named 'dgl.data')" in said


def test_another_backend_is_refused(tmp_path):
    said = run(SHOW_THE_ERROR, tmp_path, DGLBACKEND="tensorflow").stdout
    assert "DGLBACKEND is 'tensorflow'" in said
    assert "Unset it" in said


def test_graphbolt_is_stubbed_where_it_has_no_library_for_this_torch(tmp_path):
    site = fake_dgl(tmp_path / "site", "from dgl import graphbolt")  # as dgl.distributed does
    for module in ("data", "function", "ops"):
        (site / "dgl" / f"{module}.py").write_text("")
    (site / "dgl" / "graphbolt").mkdir()
    (site / "dgl" / "graphbolt" / "__init__.py").write_text("raise FileNotFoundError('libgraphbolt')")
    (site / "dgl" / "graphbolt" / "libgraphbolt_pytorch_2.0.0.so").write_text("")
    code = "from spgnn_dgl._dgl import dgl\ntry:\n    dgl.graphbolt.ItemSet\nexcept AttributeError as e:\n    print(e)"
    done = run(code, tmp_path, site)
    assert done.stderr == ""
    assert "GraphBolt is not usable with the installed torch" in done.stdout


@pytest.mark.parametrize(
    ("files", "torch_version", "missing"),
    [
        (None, "2.13.0", False),  # dgl 1.1.3 has no GraphBolt at all
        (["libgraphbolt_pytorch_2.2.1.so"], "2.13.0", True),
        (["libgraphbolt_pytorch_2.2.1.so"], "2.2.1", False),
        (["libgraphbolt_pytorch_2.2.1.so"], "2.2.1+cpu", False),
        (["libgraphbolt_pytorch_2.2.10.so"], "2.2.1", True),
        (["graphbolt_pytorch_2.2.1.dll"], "2.2.1", False),
        ([], "2.2.1", True),
    ],
)
def test_when_graphbolt_is_missing(tmp_path, monkeypatch, files, torch_version, missing):
    monkeypatch.setattr("spgnn_dgl._dgl._is_installed", lambda module: True)
    if files is not None:
        (tmp_path / "graphbolt").mkdir()
        for name in files:
            (tmp_path / "graphbolt" / name).touch()
    assert graphbolt_is_missing(tmp_path, torch_version) is missing


def test_graphbolt_is_missing_without_the_datapipes_it_imports(tmp_path, monkeypatch):
    (tmp_path / "graphbolt").mkdir()
    (tmp_path / "graphbolt" / "libgraphbolt_pytorch_2.2.1.so").touch()
    monkeypatch.setattr("spgnn_dgl._dgl._is_installed", lambda module: module == "torchdata")
    assert graphbolt_is_missing(tmp_path, "2.2.1")


def test_messages_pass_batch_and_differentiate():
    """What the package needs of DGL, on a triangle with a tail and on a single edge: sums over in-neighbours."""
    first = dgl.graph(([0, 1, 1, 2, 2, 0, 2, 3], [1, 0, 2, 1, 0, 2, 3, 2]))
    second = dgl.graph(([0, 1], [1, 0]))
    batch = dgl.batch([first, second])
    assert batch.batch_num_nodes().tolist() == [4, 2]
    x = torch.arange(6.0).reshape(6, 1).requires_grad_()
    adjacency = torch.zeros(6, 6)
    for u, v in zip(*batch.edges()):
        adjacency[v, u] += 1
    batch.ndata["x"] = x
    batch.update_all(dgl.function.copy_u("x", "m"), dgl.function.sum("m", "y"))
    torch.testing.assert_close(batch.ndata["y"], adjacency @ x)
    (batch.ndata["y"] ** 2).sum().backward()
    torch.testing.assert_close(x.grad, 2 * adjacency.T @ adjacency @ x.detach())


@pytest.mark.parametrize("number", [torch.int32, torch.int64])
@pytest.mark.parametrize("given", [torch.int32, torch.int64])
def test_batch_sizes_are_noted_as_dgl_notes_them(number, given):
    edge = dgl.graph((torch.tensor([0], dtype=number), torch.tensor([1], dtype=number)))
    expected = dgl.batch([edge, edge])
    made = dgl.graph((torch.tensor([0, 2], dtype=number), torch.tensor([1, 3], dtype=number)))
    set_batch_sizes(made, torch.tensor([2, 2], dtype=given), torch.tensor([1, 1], dtype=given))
    torch.testing.assert_close(made.batch_num_nodes(), expected.batch_num_nodes())
    torch.testing.assert_close(made.batch_num_edges(), expected.batch_num_edges())
    assert [part.num_nodes() for part in dgl.unbatch(made)] == [2, 2]


def test_versions_without_importing():
    assert installed_version("dgl") == dgl.__version__
    assert installed_version("there-is-no-such-package") is None
