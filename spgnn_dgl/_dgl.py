"""The only place that imports dgl, and the place that explains a broken install.

Three things go wrong with DGL's own install, and each is settled here before anything else sees it:

* ``import dgl`` without a chosen backend prints a notice and writes a file in the home directory: the backend is set.
* dgl 2.x loads GraphBolt, a C++ library built for a few torch versions only, and dies where there is none for the
  torch at hand. Nothing here uses GraphBolt, so a stub takes its place.
* anything else becomes one message: what was found, what works, the command that mends it.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import os
import sys
import types
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from spgnn_dgl.errors import EnvironmentProblem

TESTED = "torch 2.13.0 with dgl 1.1.3 (Python 3.10, 3.11) or dgl 2.1.0 (Python 3.12)"
REMEDY = "pip install -c constraints.txt spgnn_dgl   (or, in a checkout: make install)"


def installed_version(package: str) -> str | None:
    """Version of an installed distribution, None when it is absent; does not import it."""
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


def graphbolt_is_missing(dgl_folder: Path, torch_version: str) -> bool:
    """Whether dgl ships GraphBolt, but not in a form that can be imported here.

    It needs a library built for exactly this torch, and ``torchdata.datapipes``, which newer torchdata has dropped.
    """
    folder = dgl_folder / "graphbolt"
    if not folder.is_dir():
        return False
    release = torch_version.split("+")[0]
    has_library = any(folder.glob(f"*graphbolt_pytorch_{release}.*"))
    has_datapipes = _is_installed("torchdata") and _is_installed("torchdata.datapipes")
    return not (has_library and has_datapipes)


def _is_installed(module: str) -> bool:
    return importlib.util.find_spec(module) is not None


class _GraphBoltStub(types.ModuleType):
    """Stands in for ``dgl.graphbolt``: dgl's own modules import it, but use it only in distributed sampling."""

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(
            f"dgl.graphbolt.{name}: GraphBolt is not usable with the installed torch, so spgnn_dgl put a stub in its "
            "place; install a torch that your dgl has a GraphBolt library for"
        )


def _import_dgl() -> types.ModuleType:
    os.environ.setdefault("DGLBACKEND", "pytorch")
    if os.environ["DGLBACKEND"] != "pytorch":
        raise EnvironmentProblem(
            f"DGLBACKEND is '{os.environ['DGLBACKEND']}', but spgnn_dgl works with PyTorch only. "
            "Unset it, or set DGLBACKEND=pytorch."
        )
    found = ", ".join(
        f"{name} {installed_version(name) or 'not installed'}" for name in ("torch", "dgl", "numpy", "torchdata")
    )
    try:
        import torch

        spec = importlib.util.find_spec("dgl")
        if (
            spec is not None
            and spec.origin is not None
            and "dgl" not in sys.modules
            and graphbolt_is_missing(Path(spec.origin).parent, torch.__version__)
        ):
            sys.modules["dgl.graphbolt"] = _GraphBoltStub("dgl.graphbolt")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # deprecations inside dgl that a user can do nothing about
            import dgl
            import dgl.data
            import dgl.function
            import dgl.ops
    except Exception as problem:
        raise EnvironmentProblem(
            f"DGL cannot be imported ({type(problem).__name__}: {problem}).\n"
            f"  found:  {found}, Python {sys.version.split()[0]}\n"
            f"  works:  {TESTED}\n"
            f"  remedy: {REMEDY}"
        ) from problem
    return dgl


dgl = _import_dgl()


def set_batch_sizes(graph: Any, num_nodes: Any, num_edges: Any) -> None:
    """Note how many nodes and edges each graph of a batch has: ``(B,)`` tensors of whole numbers.

    dgl 1 keeps these as int64 whatever the graph is, dgl 2 takes them in the type of the graph's node numbers only.
    """
    if _is_dgl_1():
        graph.set_batch_num_nodes(num_nodes.long())
        graph.set_batch_num_edges(num_edges.long())
    else:
        graph.set_batch_num_nodes(num_nodes.to(graph.idtype))
        graph.set_batch_num_edges(num_edges.to(graph.idtype))


def batch_structure(graphs: Sequence[Any]) -> Any:
    """``dgl.batch`` without features, also of graphs on unlike devices or with unlike types of node numbers.

    In dgl 2, ``graph.long()`` leaves the sizes noted by :func:`set_batch_sizes` in the old type, and ``dgl.batch`` then
    refuses the graph; it is made anew.
    """
    if len({(graph.idtype, graph.device) for graph in graphs}) > 1:
        graphs = [graph.cpu().long() for graph in graphs]
    if not _is_dgl_1():
        graphs = [
            graph
            if graph.batch_num_nodes().dtype == graph.idtype
            else dgl.graph(graph.edges(order="eid"), num_nodes=graph.num_nodes(), idtype=graph.idtype)
            for graph in graphs
        ]
    return dgl.batch(graphs, ndata=None, edata=None)


def _is_dgl_1() -> bool:
    return dgl.__version__.startswith("1.")
