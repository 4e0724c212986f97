"""Plugins: Python files and modules of the user's own that register datasets, convs, readouts or methods.

A plugin is a program: loading it runs it. Load only files that you trust.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys
import traceback
import types
from pathlib import Path

from spgnn_dgl.errors import PluginError

_loaded: dict[str, tuple[int, types.ModuleType]] = {}  # name or path -> time of change (0 for a module), what it made


def load_plugin(plugin: str | Path) -> types.ModuleType:
    """Run a plugin, so that what it registers can be used by name, here and in worker processes.

    Parameters
    ----------
    plugin
        The path of a Python file, or the name of a module that can be imported. A file that was loaded before runs
        again only if it has changed.

    Examples
    --------
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> _ = (folder / "mine.py").write_text("answer = 42")
    >>> load_plugin(folder / "mine.py").answer
    42
    """
    import spgnn_dgl._dgl  # noqa: F401  (the plugin may import dgl, which must have been told its backend)

    text = str(plugin)
    is_file = isinstance(plugin, Path) or text.endswith(".py") or os.sep in text or "/" in text
    path = Path(plugin).expanduser().resolve()
    if is_file and not path.is_file():
        raise PluginError(f"there is no plugin '{plugin}': {path} is not a file. Give the path of a Python file.")
    key, changed = (str(path), path.stat().st_mtime_ns) if is_file else (text, 0)
    if key not in _loaded or _loaded[key][0] != changed:
        _loaded[key] = changed, _run(path) if is_file else _import(text)
    return _loaded[key][1]


def loaded_plugins() -> tuple[str, ...]:
    """Paths and module names of the plugins of this process, for another one to load."""
    return tuple(_loaded)


def run_file(path: Path, prefix: str) -> types.ModuleType:
    """Run a Python file as a module of its own, called `prefix` and the file's name."""
    module = types.ModuleType(f"{prefix}_{path.stem}")
    module.__file__ = str(path)
    sys.modules[module.__name__] = module  # dataclasses and pickle look there
    exec(compile(path.read_text(encoding="utf-8"), str(path), "exec"), module.__dict__)
    return module


def line_in(problem: BaseException, file: str) -> str:
    """``", line 7"``: where in a file an error comes from; empty when it does not."""
    if isinstance(problem, SyntaxError) and problem.filename == file:
        return f", line {problem.lineno}"
    frames = [frame for frame in traceback.extract_tb(problem.__traceback__) if frame.filename == file]
    return f", line {frames[-1].lineno}" if frames else ""


def _run(path: Path) -> types.ModuleType:
    try:
        return run_file(path, "spgnn_dgl_plugin")
    except Exception as problem:
        raise _failed(str(path), str(path), problem) from problem


def _import(name: str) -> types.ModuleType:
    try:
        spec = importlib.util.find_spec(name)
    except (ImportError, ValueError) as problem:  # of the package around it
        raise _failed(name, "", problem) from problem
    if spec is None:
        raise PluginError(
            f"there is no plugin '{name}': no module of that name can be imported. Give the path of a Python file "
            f"({name}.py), or install the package."
        )
    try:
        return importlib.import_module(name)
    except Exception as problem:
        raise _failed(name, spec.origin or "", problem) from problem


def _failed(plugin: str, file: str, problem: Exception) -> PluginError:
    return PluginError(
        f"the plugin {plugin}{line_in(problem, file)} failed: {type(problem).__name__}: {problem}. "
        "Mend it, or leave it out."
    )
