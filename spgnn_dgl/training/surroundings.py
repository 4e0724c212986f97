"""What a training runs in: device, random numbers, threads, garbage collector."""

from __future__ import annotations

import contextlib
import gc
from collections.abc import Iterator

import torch

from spgnn_dgl.errors import EnvironmentProblem


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
def frozen_garbage_collector() -> Iterator[None]:
    """Keep Python's collector from walking over every imported object each time; a tenth of the training time."""
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()
