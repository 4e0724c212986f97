"""A Ray cluster of two machines, simulated on this one, of which the second is killed while a unit runs on it.

It is a plugin too: the method `waits` is SPGNN, which waits on the second machine until that is killed.
"""

from __future__ import annotations

import contextlib
import os
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest import mock

from spgnn_dgl.evaluation import parallel
from spgnn_dgl.evaluation.sharing import shared
from spgnn_dgl.methods import METHODS
from tests.experiments import SMALL, quick_run

SECONDS = 120.0
QUICK_TO_NOTICE = {"initial_delay_ms": 0, "period_ms": 500, "timeout_ms": 5000, "failure_threshold": 2}


@METHODS.register("waits")
class Waits(METHODS.get("spgnn")):  # type: ignore[misc]
    """SPGNN that never ends on the machine whose number stands in the file `victim`."""

    def __init__(self, *, place: str = "", **options: Any):
        super().__init__(**options)
        self.place = place

    def fit(self, train: Any, **how: Any) -> Any:
        import ray

        if ray.is_initialized():
            here, victim = ray.get_runtime_context().get_node_id(), Path(self.place) / "victim"
            if victim.exists() and here == victim.read_text():
                (Path(self.place) / "reached").touch()
                time.sleep(SECONDS)
        return super().fit(train, **how)


def experiment(out: Path, **changes: Any) -> Any:
    return quick_run(out, method="waits", options={**SMALL, "place": str(out.parent)}, epochs=(1, 2), **changes)


def main(folder: Path) -> None:
    import ray
    from ray.cluster_utils import Cluster

    from spgnn_dgl.plugins import load_plugin

    load_plugin(__file__)
    os.environ |= {f"RAY_health_check_{name}": str(value) for name, value in QUICK_TO_NOTICE.items()}
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
    second = cluster.add_node(num_cpus=1)
    (folder / "victim").write_text(second.node_id)

    def kill() -> None:
        while not (folder / "reached").exists():
            time.sleep(0.1)
        cluster.remove_node(second, allow_graceful=False)
        (folder / "killed").touch()

    @contextlib.contextmanager
    def invisible(data: Any) -> Any:
        with shared(data) as sent:
            yield replace(sent, mark=-1)

    threading.Thread(target=kill, daemon=True).start()
    with mock.patch.object(parallel, "shared", invisible):
        experiment(folder / "ray", jobs=2, backend="ray", address=cluster.address)
    assert not ray.is_initialized()
    cluster.shutdown()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
