"""The public names: each can be had, and type checkers see the same ones."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import spgnn_dgl as sp


@pytest.mark.parametrize("name", sp.__all__)
def test_every_public_name_can_be_had(name):
    assert getattr(sp, name) is not None
    assert name in dir(sp)


def test_type_checkers_see_the_same_names():
    tree = ast.parse(Path(sp.__file__).read_text(encoding="utf-8"))
    block = next(node for node in tree.body if isinstance(node, ast.If))
    seen = {
        node.module.removeprefix("spgnn_dgl."): sorted(alias.name for alias in node.names)
        for node in block.body
        if isinstance(node, ast.ImportFrom) and node.module
    }
    assert seen == {module: sorted(names) for module, names in sp._NAMES.items()}


def test_every_error_a_user_can_cause_is_public():
    from spgnn_dgl import errors

    classes = {n for n, c in vars(errors).items() if isinstance(c, type) and issubclass(c, errors.SpgnnError)}
    assert classes <= set(sp.__all__)
    for name in classes - {"SpgnnError"}:
        assert len(getattr(errors, name).__mro__) > len(errors.SpgnnError.__mro__) + 1, f"{name} has no builtin base"


def test_the_registries_are_filled_when_they_are_reached():
    code = "import spgnn_dgl as sp; print('MOTIFS' in sp.DATASETS, 'spgnn' in sp.METHODS)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=True)
    assert done.stdout.split() == ["True", "True"]


def test_a_name_that_is_not_there():
    with pytest.raises(AttributeError, match=r"no attribute 'load_datasets'\. Did you mean 'load_dataset'\?"):
        sp.load_datasets
