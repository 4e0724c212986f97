"""What a training runs in: device, random numbers, threads, memory, garbage collector."""

from __future__ import annotations

import contextlib
import ctypes
import functools
import gc
from collections.abc import Iterator
from typing import Any

import torch

from spgnn_dgl.errors import EnvironmentProblem

# of glibc's malloc.h
TRIM_THRESHOLD, MMAP_THRESHOLD = -1, -3
LARGEST_MMAP_THRESHOLD = 32 << 20  # bytes; glibc raises its threshold up to this by itself
NEVER = (1 << 31) - 1  # bytes; mallopt takes an int


def resolve_device(name: str) -> torch.device:
    """``auto``: CUDA where both torch and dgl have it. A demand for CUDA that cannot be met is an error."""
    from spgnn_dgl._dgl import dgl

    usable = torch.cuda.is_available() and _dgl_has_cuda()
    if name == "cuda" and not usable:
        reason = "PyTorch finds no CUDA device" if not torch.cuda.is_available() else "this DGL is a CPU build"
        raise EnvironmentProblem(
            f"device='cuda' was asked for, but {reason} (torch {torch.__version__}, dgl {dgl.__version__}). "
            "Install the CUDA wheels of DGL that match your PyTorch (see docs: GPU), or use device='cpu'."
        )
    return torch.device("cuda", torch.cuda.current_device()) if usable and name != "cpu" else torch.device("cpu")


def _dgl_has_cuda() -> bool:
    from spgnn_dgl._dgl import dgl

    try:
        dgl.graph(([0], [0])).to("cuda")
    except Exception:
        return False
    return True


@contextlib.contextmanager
def seeded(seed: int, threads: int | None = None) -> Iterator[None]:
    """PyTorch's generator seeded, and its thread count set, inside the block only."""
    before = torch.get_num_threads()
    with torch.random.fork_rng(devices=range(torch.cuda.device_count())):
        torch.manual_seed(seed)
        if threads is not None:
            torch.set_num_threads(threads)
        try:
            yield
        finally:
            torch.set_num_threads(before)


@contextlib.contextmanager
def steady_memory() -> Iterator[None]:
    """Spare a training what it does not need: walks of the garbage collector, and memory that comes and goes.

    Python's collector walks over every imported object again and again; a tenth of the training time. And glibc's
    malloc returns the activations of large graphs to the system after a step, which hands out zeroed pages in the
    next. Inside the block what a step frees is kept for the next one; after it, the system gets it back. Elsewhere than
    with glibc, memory is left alone.
    """
    libc = _glibc()
    gc.freeze()
    if libc is not None:
        libc.mallopt(MMAP_THRESHOLD, LARGEST_MMAP_THRESHOLD)
        libc.mallopt(TRIM_THRESHOLD, NEVER)
    try:
        yield
    finally:
        gc.unfreeze()
        if libc is not None:
            libc.mallopt(TRIM_THRESHOLD, 2 * LARGEST_MMAP_THRESHOLD)  # where malloc's own adaptation ends
            libc.malloc_trim(0)


def lean_memory() -> None:
    """From now on return memory to the system as soon as it is free, for measurements of what is in use."""
    libc = _glibc()
    if libc is not None:
        libc.mallopt(MMAP_THRESHOLD, 1 << 17)
        libc.mallopt(TRIM_THRESHOLD, 1 << 17)


@functools.cache
def _glibc() -> Any:
    """The C library of this process where it is glibc, else None."""
    try:
        libc = ctypes.CDLL(None)
        return libc if libc.gnu_get_libc_version and libc.mallopt and libc.malloc_trim else None
    except (AttributeError, OSError, TypeError):  # musl and macOS have no such functions, Windows no such library
        return None
