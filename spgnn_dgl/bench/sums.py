"""Sums of rows, over neighbours and over the nodes of a graph, forwards and backwards, against DGL's."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from spgnn_dgl._dgl import dgl
from spgnn_dgl.bench.peers import CHANNELS
from spgnn_dgl.bench.timing import Row, interleave, medians, readable
from spgnn_dgl.bench.train import BATCH_SIZE, repeated
from spgnn_dgl.data import GraphDataset, load_dataset
from spgnn_dgl.nn.ops import segment_sum
from spgnn_dgl.nn.propagation import neighbour_sum, node_message_view
from spgnn_dgl.training import seeded, steady_memory

DATASETS = ("MUTAG", "NCI1", "PROTEINS", "DD")
REPEATS = 20
Sum = Callable[[Tensor], Tensor]


def measure(home: Path, *, rounds: int = 15, names: tuple[str, ...] = DATASETS) -> Iterator[Row]:
    """Two rows per dataset, with one thread."""
    with seeded(0, threads=1), steady_memory():
        for name in names:
            data = load_dataset(name, data_home=home)
            for what, sums in candidates(data).items():
                yield _row(f"{name}: {what}", data, sums, rounds)


def candidates(data: GraphDataset) -> dict[str, tuple[Sum, Sum]]:
    """Ours and DGL's, on one batch. DGL is spared the transposed graph, as it is in a training."""
    graph = batch(data)
    sizes, view = graph.batch_num_nodes(), node_message_view(graph)
    return {
        "sums over neighbours": (lambda Y: neighbour_sum(graph, Y), lambda Y: dgl.ops.copy_u_sum(view, Y)),
        "sums over graphs": (lambda Y: segment_sum(Y, sizes), lambda Y: dgl.ops.segment_reduce(sizes, Y, "sum")),
    }


def batch(data: GraphDataset) -> Any:
    return data.batch(np.random.default_rng(0).permutation(len(data))[:BATCH_SIZE])


def _row(what: str, data: GraphDataset, sums: tuple[Sum, Sum], rounds: int) -> Row:
    Y = torch.randn(batch(data).num_nodes(), CHANNELS, requires_grad=True)

    def both_ways(summed: Sum) -> Callable[[], None]:
        gradient = torch.randn_like(summed(Y))
        return repeated(lambda: torch.autograd.grad(summed(Y), Y, gradient), REPEATS)  # type: ignore[arg-type]

    ours, theirs = (
        seconds / REPEATS
        for seconds in medians(interleave(dict(zip(("ours", "DGL"), map(both_ways, sums))), rounds)).values()
    )
    return Row(what, readable(ours), f"DGL {readable(theirs)}", theirs / ours)
