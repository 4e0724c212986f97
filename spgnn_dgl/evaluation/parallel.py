"""Units of work over processes or machines, by joblib and its backends; nothing of our own is scheduled here."""

from __future__ import annotations

import importlib.util
import itertools
import tempfile
from collections.abc import Sequence
from pathlib import Path

import joblib

from spgnn_dgl.data.store import GraphDataset
from spgnn_dgl.errors import OptionError, RunError, missing_extra
from spgnn_dgl.evaluation.clusters import connected, reachable
from spgnn_dgl.evaluation.sharing import SharedDataset, marked, shared
from spgnn_dgl.evaluation.units import Unit, run_unit
from spgnn_dgl.methods import METHODS
from spgnn_dgl.methods.base import Method
from spgnn_dgl.plugins import load_plugin, loaded_plugins
from spgnn_dgl.runs import write_whole

BACKENDS = ("loky", "ray", "dask")


def run_units(
    units: Sequence[Unit],
    data: GraphDataset,
    folder: Path,
    *,
    jobs: int = 1,
    backend: str = "loky",
    address: str | None = None,
    checkpoints: bool = True,
    heartbeat: bool = False,
) -> None:
    """Run `units`; each writes its own record into the run folder.

    A unit whose worker is lost, with its machine or alone, is tried again elsewhere in a cluster.

    Parameters
    ----------
    jobs
        Units at a time. With 1 they run in this process.
    backend
        ``"loky"`` (processes of this machine), ``"ray"`` or ``"dask"``.
    address
        Of the cluster. Default: the one that this process is connected to or that ``RAY_ADDRESS`` or
        ``DASK_SCHEDULER_ADDRESS`` names, else a local one.
    heartbeat
        Whether units under way note their epoch in a file, for progress bars.
    """
    check_parallel(jobs, backend, address)
    if not units:
        return
    how = {"checkpoints": checkpoints, "heartbeat": heartbeat}
    if jobs == 1 and backend == "loky":
        for unit in units:
            run_unit(unit, data, folder, **how)
        return
    folder = folder.resolve()
    with shared(data) as dataset, marked(folder) as mark, connected(backend, jobs, address) as cluster:
        if backend == "ray":
            dataset = reachable(dataset)
        try:
            results = joblib.Parallel(n_jobs=cluster.jobs, batch_size=1, **cluster.options)(
                joblib.delayed(_work)(unit, dataset, mark, how, loaded_plugins(), _sendable(unit.method))
                for unit in units
            )
        except cluster.losses as problem:
            raise RunError(
                "a worker process died, most often for want of memory. Finished trainings are kept; the same command "
                f"with fewer --jobs than {cluster.jobs} goes on."
            ) from problem
    for name, content in itertools.chain.from_iterable(results):
        write_whole(folder / name, content)


def _sendable(name: str) -> type[Method] | None:
    """The class of a method where another process can unpickle it; a plugin's is there once the plugin is loaded."""
    method = METHODS.get(name)
    if method.__module__ == "__main__":  # a notebook or a script: the class travels as a whole
        return method
    try:
        return method if importlib.util.find_spec(method.__module__) is not None else None
    except ValueError:  # a module that was made and not found
        return None


def _work(
    unit: Unit,
    dataset: SharedDataset,
    mark: Path,
    how: dict[str, bool],
    plugins: Sequence[str],
    method: type[Method] | None,
) -> list[tuple[str, bytes]]:
    """A unit in another process, which learns first what this one has learned: plugins, and the method itself.

    Returns
    -------
    list
        Names and contents of the files that the unit has written, where the machine does not see the run folder.
    """
    for plugin in plugins:
        load_plugin(plugin)
    if method is not None and unit.method not in METHODS:
        METHODS.register(unit.method)(method)
    if mark.exists():
        run_unit(unit, dataset.open(), mark.parent, **how)
        return []
    with tempfile.TemporaryDirectory(prefix="spgnn_dgl-") as temporary:
        run_unit(unit, dataset.open(), Path(temporary), **how)
        written = [path for path in sorted(Path(temporary).rglob("*")) if path.is_file()]
        return [(path.relative_to(temporary).as_posix(), path.read_bytes()) for path in written]


def check_parallel(jobs: int, backend: str, address: str | None = None) -> None:
    """Refuse a number of jobs, a backend or an address that cannot be."""
    if jobs < 1:
        raise OptionError(f"jobs={jobs} was given; give 1 or more, for example the number of cores.")
    if backend not in BACKENDS:
        raise OptionError(f"unknown backend '{backend}'. Known: {', '.join(BACKENDS)}.")
    package = {"ray": "ray", "dask": "distributed"}.get(backend)
    if package is None and address is not None:
        raise OptionError(
            f"the address '{address}' was given, but --backend {backend} stays on this machine. Give --backend ray or "
            "--backend dask."
        )
    if package is not None and importlib.util.find_spec(package) is None:
        raise missing_extra(package, "cluster", f"--backend {backend}")
