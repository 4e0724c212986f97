"""Memory of a load, measured in a process of its own: ``python -m spgnn_dgl.bench.memory NAME DATA_HOME``."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from spgnn_dgl.errors import SpgnnError

MIB = 1 << 20


def memory_of_load(name: str, data_home: Path, cache: Path) -> dict[str, float]:
    """MiB resident before and after a dataset is loaded, and at the peak, in a fresh process."""
    command = [sys.executable, "-m", "spgnn_dgl.bench.memory", name, str(data_home)]
    environment = {**os.environ, "SPGNN_CACHE": str(cache)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise SpgnnError(f"loading {name} in a process of its own failed:\n{done.stderr.strip()}")
    return json.loads(done.stdout.splitlines()[-1])


def resident(field: str) -> float:
    """A field of the process status in MiB. ``ru_maxrss`` would include the process that started this one."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(f"{field}:"):
            return int(line.split()[1]) * 1024 / MIB
    raise SpgnnError(f"this system does not tell {field}; memory is measured on Linux only.")


def main(name: str, data_home: str) -> None:
    from spgnn_dgl.data import load_dataset

    before = resident("VmRSS")
    data = load_dataset(name, data_home=data_home)
    after = resident("VmRSS")
    sys.stdout.write(json.dumps({"before": before, "after": after, "peak": resident("VmHWM"), "graphs": len(data)}))


if __name__ == "__main__":
    main(*sys.argv[1:])
