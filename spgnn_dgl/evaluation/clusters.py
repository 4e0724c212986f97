"""joblib's backends: processes of this machine, Ray, Dask."""

from __future__ import annotations

import contextlib
import logging
import os
from collections.abc import Iterator
from concurrent.futures import BrokenExecutor
from dataclasses import dataclass, field, replace
from typing import Any

import joblib
import numpy as np

from spgnn_dgl.data.saved import open_store
from spgnn_dgl.errors import RunError
from spgnn_dgl.evaluation.sharing import SharedDataset, mark_of

log = logging.getLogger("spgnn_dgl")

LIVES = 3  # how often Ray starts a worker again that was lost; Dask has a rule of its own, `allowed-failures`
SHARE = 0.1  # of a core that a worker reserves with Ray: all still fit in when nine machines of ten are lost


@dataclass(frozen=True)
class Cluster:
    """What joblib runs on.

    Parameters
    ----------
    jobs
        Units at a time, no more than there are cores.
    losses
        What it raises when workers were lost and nothing more can be tried.
    options
        Further arguments of :class:`joblib.Parallel`.
    """

    jobs: int
    losses: tuple[type[Exception], ...]
    options: dict[str, Any] = field(default_factory=dict)


@contextlib.contextmanager
def connected(backend: str, jobs: int, address: str | None) -> Iterator[Cluster]:
    """joblib set up for a backend inside the block."""
    if backend == "loky":
        with joblib.parallel_config(backend="loky", inner_max_num_threads=1):
            yield Cluster(jobs, (BrokenExecutor,), {"mmap_mode": None})
    else:
        with (_ray if backend == "ray" else _dask)(jobs, address) as cluster:
            yield cluster


@contextlib.contextmanager
def _ray(jobs: int, address: str | None) -> Iterator[Cluster]:
    import ray
    from ray.util.joblib import register_ray

    register_ray()
    address = address or os.environ.get("RAY_ADDRESS")
    own = not ray.is_initialized()
    if own:
        where = {"address": address} if address else {"num_cpus": jobs, "include_dashboard": False}
        try:
            ray.init(log_to_driver=False, **where)
        except (ConnectionError, ValueError) as problem:
            raise _unreachable("Ray", address, "ray start --head", problem) from problem
    try:
        cores = int(ray.cluster_resources().get("CPU", 1))
        if cores < jobs:
            log.warning("the Ray cluster has %d cores: it runs %d trainings at a time, not %d", cores, cores, jobs)
        # joblib's workers are Ray's actors: one that is lost, with its machine or alone, is started again elsewhere,
        # and its unit with it. Attempts to reach a lost one count as retries of the unit, so those are not limited.
        again = {"max_restarts": LIVES, "max_task_retries": -1, "scheduling_strategy": "SPREAD", "num_cpus": SHARE}
        with joblib.parallel_config(backend="ray", ray_remote_args=again):
            yield Cluster(min(jobs, cores), (ray.exceptions.RayError,))
    finally:
        if own:
            ray.shutdown()


def reachable(dataset: SharedDataset) -> SharedDataset:
    """`dataset` as all machines of the Ray cluster can open it: by its path, or from the object store."""
    import ray
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    look = ray.remote(num_cpus=0)(mark_of)
    machines = [node["NodeID"] for node in ray.nodes() if node["Alive"]]
    on_each = [look.options(scheduling_strategy=NodeAffinitySchedulingStrategy(m, soft=True)) for m in machines]
    if all(mark == dataset.mark for mark in ray.get([task.remote(dataset.folder) for task in on_each])):
        return dataset
    log.info("not all machines see %s: it goes through Ray's object store", dataset.folder)
    arrays = {name: np.array(array) for name, array in open_store(dataset.folder).arrays.present().items()}
    return replace(dataset, in_ray=ray.put(arrays))


@contextlib.contextmanager
def _dask(jobs: int, address: str | None) -> Iterator[Cluster]:
    import dask
    from distributed import Client, KilledWorker, LocalCluster, get_client

    address = address or dask.config.get("scheduler-address", None)
    with contextlib.ExitStack() as opened:
        try:
            get_client()
        except ValueError:
            where: Any = address
            if address is None:
                where = opened.enter_context(
                    LocalCluster(n_workers=jobs, threads_per_worker=1, dashboard_address=None, silence_logs="ERROR")
                )
            try:
                opened.enter_context(Client(where))
            except OSError as problem:
                raise _unreachable("Dask", address, "dask scheduler", problem) from problem
        with joblib.parallel_config(backend="dask"):
            yield Cluster(jobs, (KilledWorker,))


def _unreachable(what: str, address: str | None, command: str, problem: Exception) -> RunError:
    return RunError(
        f"there is no {what} cluster at '{address}' ({problem}). Start one with `{command}`, or leave out --address "
        "for one on this machine."
    )
