"""What a test registers or loads as a plugin is gone after it."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator

import pytest

from spgnn_dgl import plugins
from spgnn_dgl.data.builtin import DATASETS
from spgnn_dgl.methods import METHODS
from spgnn_dgl.nn import CONVS, READOUTS


@contextlib.contextmanager
def restored() -> Iterator[None]:
    """Registries, plugins and the modules made of them as they were before the block."""
    modules = set(sys.modules)
    with pytest.MonkeyPatch.context() as patch:
        for registry in (CONVS, READOUTS, METHODS, DATASETS):
            patch.setattr(registry, "_things", dict(registry._things))
            patch.setattr(registry, "_keys", dict(registry._keys))
        patch.setattr(plugins, "_loaded", {})
        yield
    for name in set(sys.modules) - modules:
        if name.startswith(("spgnn_dgl_plugin_", "spgnn_dgl_datasets_", "own_")):
            del sys.modules[name]
