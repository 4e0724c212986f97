"""A plugin: the method `dies-once` is SPGNN, but the first Dask worker that trains it is killed in the middle."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Any

from spgnn_dgl.methods import METHODS


@METHODS.register("dies-once")
class DiesOnce(METHODS.get("spgnn")):  # type: ignore[misc]
    """SPGNN that kills its process if the folder `place` has no file `died` yet."""

    def __init__(self, *, place: str = "", **options: Any):
        super().__init__(**options)
        self.place = place

    def fit(self, train: Any, **how: Any) -> Any:
        from distributed import get_worker

        try:
            get_worker()
            (Path(self.place) / "died").touch(exist_ok=False)
            os.kill(os.getpid(), signal.SIGKILL)
        except (ValueError, FileExistsError):  # no worker of Dask; or one has died
            pass
        return super().fit(train, **how)
