"""What folding equivalent nodes brings: the graphs that are left, and the training step on them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import torch

from spgnn_dgl.bench.timing import Row, interleave, medians, readable, time_once
from spgnn_dgl.bench.train import BATCH_SIZE, our_step, repeated
from spgnn_dgl.data import GraphDataset, load_dataset
from spgnn_dgl.data.folding import fold
from spgnn_dgl.methods.spgnn import choose_k
from spgnn_dgl.training import seeded, steady_memory

DATASETS = ("MUTAG", "PTC", "NCI1", "PROTEINS", "DD", "IMDB-BINARY", "IMDB-MULTI", "COLLAB", "REDDIT-MULTI-5K")


def measure(home: Path, *, rounds: int = 9, names: tuple[str, ...] = DATASETS) -> Iterator[Row]:
    """A row per dataset, with one thread: ten steps of SPGNN on folded graphs, and on the graphs as they are."""
    with seeded(0, threads=1), steady_memory():
        for name in names:
            yield _row(load_dataset(name, data_home=home), rounds)


def _row(data: GraphDataset, rounds: int) -> Row:
    made: list[GraphDataset] = []
    seconds_to_fold = time_once(lambda: made.append(fold(data)))
    (folded,) = made
    k = max(choose_k(data.node_counts, data.meta.domain))
    candidates = {}
    for who, graphs in (("folded", folded), ("as they are", data)):
        torch.manual_seed(0)
        candidates[who] = repeated(our_step(data, k, BATCH_SIZE, fold=lambda _, graphs=graphs: graphs), 10)
    for step in candidates.values():
        step()
    seconds = {who: value / 10 for who, value in medians(interleave(candidates, rounds)).items()}
    nodes = folded.node_counts.sum() / data.node_counts.sum()
    edges = folded.edge_counts.sum() / data.edge_counts.sum()
    return Row(
        f"{data.name}: {100 * nodes:.0f} % of the nodes and {100 * edges:.0f} % of the edges are left after "
        f"{readable(seconds_to_fold)}; a step",
        readable(seconds["folded"]),
        readable(seconds["as they are"]),
        seconds["as they are"] / seconds["folded"],
    )
