"""Units of work over processes or machines, by joblib and its backends; nothing of our own is scheduled here.

The dataset travels as the path of its memory-mapped arrays: every worker maps the same pages. The run folder and
that path must be visible to all workers; on a cluster they belong on a shared file system.
"""

from __future__ import annotations

import contextlib
import importlib.util
import os
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import BrokenExecutor
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import joblib
import numpy as np

from spgnn_dgl.data.arrays import DatasetMeta
from spgnn_dgl.data.saved import is_store, open_store, save_store
from spgnn_dgl.data.store import GraphDataset
from spgnn_dgl.errors import OptionError, RunError, missing_extra
from spgnn_dgl.evaluation.units import Unit, run_unit
from spgnn_dgl.methods import METHODS
from spgnn_dgl.methods.base import Method
from spgnn_dgl.plugins import load_plugin, loaded_plugins

BACKENDS = ("loky", "ray", "dask")


@dataclass(frozen=True, eq=False)
class SharedDataset:
    """A dataset that pickles as the path of its store."""

    folder: str
    meta: DatasetMeta
    members: np.ndarray

    def open(self) -> GraphDataset:
        return GraphDataset(_arrays(self.folder), self.meta, self.members)


@lru_cache(maxsize=2)
def _arrays(folder: str) -> Any:
    return open_store(folder, verify=False).arrays


@contextlib.contextmanager
def shared(data: GraphDataset) -> Iterator[SharedDataset]:
    """`data` in a form that is cheap to send: by its own store, or by a temporary one inside the block."""
    folder = store_of(data)
    if folder is not None:
        yield SharedDataset(str(folder), data.meta, data.members)
        return
    with tempfile.TemporaryDirectory(prefix="spgnn_dgl-") as temporary:
        place = save_store(Path(temporary) / "store", data)
        yield SharedDataset(str(place), data.meta, np.arange(len(data)))


def store_of(data: GraphDataset) -> Path | None:
    """The folder that all arrays of a dataset are mapped from; None where one of them is in memory."""
    folders = set()
    for name, array in data.arrays.present().items():
        mapped = array.base
        if not isinstance(mapped, np.memmap) or not mapped.filename or Path(mapped.filename).stem != name:
            return None
        folders.add(Path(mapped.filename).parent)
    folder = folders.pop() if len(folders) == 1 else None
    return folder if folder is not None and is_store(folder) else None


def run_units(
    units: Sequence[Unit],
    data: GraphDataset,
    folder: Path,
    *,
    jobs: int = 1,
    backend: str = "loky",
    checkpoints: bool = True,
    heartbeat: bool = False,
) -> None:
    """Run `units`; each writes its own record into the run folder.

    Parameters
    ----------
    jobs
        Units at a time. With 1 they run in this process.
    backend
        ``"loky"`` (processes of this machine), ``"ray"`` or ``"dask"``: the cluster that this process is connected to
        or that ``RAY_ADDRESS`` or ``DASK_SCHEDULER_ADDRESS`` names, else a local one.
    heartbeat
        Whether units under way note their epoch in a file, for progress bars.
    """
    check_parallel(jobs, backend)
    if not units:
        return
    how = {"checkpoints": checkpoints, "heartbeat": heartbeat}
    if jobs == 1 and backend == "loky":
        for unit in units:
            run_unit(unit, data, folder, **how)
        return
    folder = folder.resolve()
    with shared(data) as dataset, _backend(backend, jobs) as options:
        try:
            joblib.Parallel(n_jobs=jobs, batch_size=1, **options)(
                joblib.delayed(_work)(unit, dataset, folder, how, loaded_plugins(), _sendable(unit.method))
                for unit in units
            )
        except BrokenExecutor as problem:
            raise RunError(
                "a worker process died, most often for want of memory. Finished trainings are kept; the same command "
                f"with fewer --jobs than {jobs} goes on."
            ) from problem


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
    folder: Path,
    how: dict[str, bool],
    plugins: Sequence[str],
    method: type[Method] | None,
) -> None:
    """A unit in another process, which learns first what this one has learned: plugins, and the method itself."""
    for plugin in plugins:
        load_plugin(plugin)
    if method is not None and unit.method not in METHODS:
        METHODS.register(unit.method)(method)
    run_unit(unit, dataset.open(), folder, **how)


def check_parallel(jobs: int, backend: str) -> None:
    """Refuse a number of jobs or a backend that cannot be."""
    if jobs < 1:
        raise OptionError(f"jobs={jobs} was given; give 1 or more, for example the number of cores.")
    if backend not in BACKENDS:
        raise OptionError(f"unknown backend '{backend}'. Known: {', '.join(BACKENDS)}.")
    package = {"ray": "ray", "dask": "distributed"}.get(backend)
    if package is not None and importlib.util.find_spec(package) is None:
        raise missing_extra(package, "cluster", f"--backend {backend}")


@contextlib.contextmanager
def _backend(name: str, jobs: int) -> Iterator[dict[str, Any]]:
    """joblib set up for a backend; yields further arguments of ``joblib.Parallel``."""
    if name == "loky":
        with joblib.parallel_config(backend="loky", inner_max_num_threads=1):
            yield {"mmap_mode": None}
    elif name == "ray":
        import ray
        from ray.util.joblib import register_ray

        register_ray()
        own = not ray.is_initialized()
        if own:
            local = {} if os.environ.get("RAY_ADDRESS") else {"num_cpus": jobs, "include_dashboard": False}
            ray.init(log_to_driver=False, **local)
        try:
            with joblib.parallel_config(backend="ray"):
                yield {}
        finally:
            if own:
                ray.shutdown()
    else:
        import dask
        from distributed import Client, LocalCluster, get_client

        with contextlib.ExitStack() as opened:
            try:
                get_client()
            except ValueError:
                cluster = None
                if dask.config.get("scheduler-address", None) is None:
                    cluster = opened.enter_context(
                        LocalCluster(n_workers=jobs, threads_per_worker=1, dashboard_address=None, silence_logs="ERROR")
                    )
                opened.enter_context(Client(cluster))
            with joblib.parallel_config(backend="dask"):
                yield {}
