"""What a training runs in: memory that stays while it runs, and goes back after."""

from __future__ import annotations

import platform
import resource

import pytest
import torch

from spgnn_dgl.bench.memory import resident
from spgnn_dgl.training import steady_memory

MIB = 1 << 20
only_with_glibc = pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="memory is only kept with glibc")


def step() -> None:
    """Twelve activations of 10 MiB, all alive at once, then gone."""
    alive = [torch.ones(10 * MIB // 4) for _ in range(12)]
    del alive


def faults(steps: int) -> int:
    """Pages that the system hands out during so many steps."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(steps):
        step()
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before


@only_with_glibc
def test_a_step_uses_the_memory_of_the_one_before():
    with steady_memory():
        step()
        assert faults(5) < 12 * 10 * MIB // 4096  # less than the pages of a single step


@only_with_glibc
def test_the_system_gets_the_memory_back():
    with steady_memory():
        step()
        inside = resident("VmRSS")
    assert resident("VmRSS") < inside - 100
