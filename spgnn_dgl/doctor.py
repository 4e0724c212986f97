"""The check behind ``spgnn doctor``: does this install work, and what could it have besides?

Works where DGL or PyTorch cannot be imported: to say so is its purpose.
"""

from __future__ import annotations

import enum
import importlib.metadata
import os
import platform
import sys
from dataclasses import dataclass
from pathlib import Path

from spgnn_dgl.errors import SpgnnError

VERSIONS_SHOWN = ("spgnn_dgl", "torch", "dgl", "numpy", "scipy", "scikit-learn", "networkx")
SUPPORTED_PYTHONS = ((3, 10), (3, 12))


class Health(enum.Enum):
    """What a finding means for the user."""

    GOOD = "good"
    NOTE = "note"  # works, but worth knowing
    BROKEN = "broken"


@dataclass(frozen=True)
class Finding:
    """One line of the check-up."""

    topic: str
    health: Health
    text: str
    remedy: str = ""


def examine() -> list[Finding]:
    """Look at everything, and report what was found; never raises for a broken install."""
    dgl = check_dgl()
    findings = [check_python(), check_versions(), dgl]
    if dgl.health is Health.GOOD:
        findings += [check_threads(), check_device(), check_data_home()]
    return findings + check_extras()


def check_python(version: tuple[int, int] = sys.version_info[:2]) -> Finding:
    """Whether DGL has a build for this Python."""
    text = f"{platform.python_version()} at {sys.executable}"
    oldest, newest = SUPPORTED_PYTHONS
    if oldest <= version <= newest:
        return Finding("Python", Health.GOOD, text)
    wanted = f"Python {oldest[0]}.{oldest[1]} to {newest[0]}.{newest[1]}"
    return Finding("Python", Health.BROKEN, text, f"DGL has builds for {wanted} only: make the environment with one.")


def check_versions() -> Finding:
    """Versions of the packages that matter most."""
    parts = []
    for package in VERSIONS_SHOWN:
        try:
            parts.append(f"{package} {importlib.metadata.version(package)}")
        except importlib.metadata.PackageNotFoundError:
            parts.append(f"{package} not installed")
    return Finding("versions", Health.GOOD, ", ".join(parts))


def check_dgl() -> Finding:
    """Whether DGL imports here and passes a message: the check that :mod:`spgnn_dgl._dgl` makes, and one sum."""
    try:
        from spgnn_dgl._dgl import dgl
    except SpgnnError as problem:
        return Finding("DGL", Health.BROKEN, str(problem))
    import torch

    try:
        star = dgl.graph((torch.tensor([1, 2, 3]), torch.tensor([0, 0, 0])), num_nodes=4)
        sums = dgl.ops.copy_u_sum(star, torch.tensor([[1.0], [2.0], [4.0], [8.0]]))
    except Exception as problem:
        return Finding("DGL", Health.BROKEN, f"imports, but message passing fails: {problem}", "make install")
    if sums[:, 0].tolist() != [14.0, 0.0, 0.0, 0.0]:
        return Finding("DGL", Health.BROKEN, f"a sum over neighbours is wrong: {sums[:, 0].tolist()}", "make install")
    stub = type(sys.modules.get("dgl.graphbolt")).__name__ == "_GraphBoltStub"
    return Finding("DGL", Health.GOOD, "imports and passes messages" + (" (without GraphBolt)" if stub else ""))


def check_threads() -> Finding:
    """How many threads PyTorch will use."""
    import torch

    return Finding("threads", Health.GOOD, f"PyTorch uses {torch.get_num_threads()} of {os.cpu_count()} processors")


def check_device() -> Finding:
    """Where training runs; a GPU counts only when DGL was built for it too."""
    import torch

    from spgnn_dgl._dgl import dgl

    if not torch.cuda.is_available():
        return Finding("device", Health.GOOD, "CPU (PyTorch sees no GPU)")
    name = torch.cuda.get_device_name()
    try:
        dgl.graph(([0], [0])).to("cuda")
    except Exception as problem:
        reason = str(problem).strip().splitlines()[0]
        return Finding(
            "device",
            Health.NOTE,
            f"CPU: there is a {name}, but this DGL cannot use it ({reason})",
            "install the build of DGL for your CUDA version, see DGL's install page",
        )
    return Finding("device", Health.GOOD, f"GPU: {name}")


def check_data_home() -> Finding:
    """Where datasets are looked for, and how many are there."""
    from spgnn_dgl.data.catalogue import data_home
    from spgnn_dgl.data.load import known_datasets

    home = data_home()
    if not home.is_dir():
        return Finding(
            "data home",
            Health.NOTE,
            f"{home.absolute()} does not exist; MOTIFS and DIGITS need none",
            "set SPGNN_DATASETS or give --data-home; `spgnn fetch NAME` makes it and brings a dataset",
        )
    names = [name for name, place in known_datasets(home).items() if Path(place).parent == home]
    return Finding("data home", Health.GOOD, f"{home.absolute()}: {', '.join(names) or 'no datasets in it yet'}")


def check_extras() -> list[Finding]:
    """One finding per extra of the package: installed, or the command that installs it."""
    from packaging.requirements import Requirement

    try:
        metadata = importlib.metadata.metadata("spgnn_dgl")
    except importlib.metadata.PackageNotFoundError:
        return [Finding("extras", Health.BROKEN, "spgnn_dgl itself is not installed", "make install")]
    requirements = [Requirement(text) for text in metadata.get_all("Requires-Dist") or []]
    findings = []
    for extra in metadata.get_all("Provides-Extra") or []:
        wanted = [
            r
            for r in requirements
            if r.marker and r.marker.evaluate({"extra": extra}) and not r.marker.evaluate({"extra": ""})
        ]
        if any(r.name.replace("-", "_") == "spgnn_dgl" for r in wanted):
            continue  # the extra that is made of the others
        missing = [r.name for r in wanted if _version_or_none(r.name) is None]
        if missing:
            command = f"pip install 'spgnn_dgl[{extra}]' -c constraints.txt"
            findings.append(Finding(f"extra {extra}", Health.NOTE, f"not installed: {', '.join(missing)}", command))
        else:
            findings.append(Finding(f"extra {extra}", Health.GOOD, ", ".join(r.name for r in wanted)))
    return findings


def _version_or_none(package: str) -> str | None:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None
