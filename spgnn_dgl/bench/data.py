"""Datasets: first load, load from the cache, memory, and batches, against PyG and DGL."""

from __future__ import annotations

import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from spgnn_dgl._dgl import dgl
from spgnn_dgl.bench.memory import memory_of_load
from spgnn_dgl.bench.timing import Row, interleave, medians, readable, time_once
from spgnn_dgl.data import GraphDataset, paper_datasets, read_dataset
from spgnn_dgl.errors import missing_extra

FIRST_LOAD = ("DD", "REDDIT-MULTI-5K")
FASTER_THAN_PYG = 8.0
PEAK_MIB = 1536.0
CACHED_SECONDS = 0.3
ADDED_MIB = 100.0
BATCH_SIZE = 50
FASTER_THAN_INDEXING = 3.0


def measure(home: Path, *, rounds: int = 3, batch_rounds: int = 60) -> Iterator[Row]:
    """All rows of the table, one after the other.

    Parameters
    ----------
    home
        Data home with the archives of the benchmarks, as published.
    rounds
        How often each of the slow loads is repeated.
    batch_rounds
        How many batches are drawn from each dataset.
    """
    archives = {path.stem: path for path in sorted(home.glob("*.zip"))}
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        for name in (n for n in FIRST_LOAD if n in archives):
            yield first_load(archives[name], folder, rounds)
        if "COLLAB" in archives:
            yield peak_memory("COLLAB", home, folder / "fresh")
        cache = folder / "cache"
        for path in archives.values():
            yield cached_load(path, cache, rounds)
        if "HIV_molhiv" in archives:
            yield added_memory("HIV_molhiv", home, cache)
        for name in (n for n in paper_datasets() if n in archives):
            yield from batches(read_dataset(archives[name], cache_home=cache), batch_rounds)


def first_load(archive: Path, folder: Path, rounds: int) -> Row:
    """Ours from the zip, writing the cache as a user's first load does; PyG's from the unpacked folder."""
    try:
        from torch_geometric.io import read_tu_data
    except ImportError as problem:
        raise missing_extra("torch_geometric", "bench", "tools/bench.py data") from problem
    name = archive.stem
    with zipfile.ZipFile(archive) as packed:
        packed.extractall(folder)
    number = iter(range(rounds))
    seconds = medians(
        interleave(
            {
                "ours": lambda: read_dataset(archive, cache_home=folder / f"first-{name}-{next(number)}"),
                "PyG": lambda: read_tu_data(str(folder / name), name),
            },
            rounds,
        )
    )
    ratio = seconds["PyG"] / seconds["ours"]
    return Row(
        f"first load of {name}",
        readable(seconds["ours"]),
        f"PyG read_tu_data {readable(seconds['PyG'])}",
        ratio,
        f"≥ {FASTER_THAN_PYG:g}×",
        ratio >= FASTER_THAN_PYG,
    )


def peak_memory(name: str, home: Path, fresh: Path) -> Row:
    """Peak of a whole process that loads a dataset for the first time."""
    peak = memory_of_load(name, home, fresh)["peak"]
    return Row(
        f"first load of {name}, peak memory", f"{peak:.0f} MiB", "", None, f"< {PEAK_MIB:g} MiB", peak < PEAK_MIB
    )


def cached_load(archive: Path, cache: Path, rounds: int) -> Row:
    """Seconds of a load that finds its cache."""
    read_dataset(archive, cache_home=cache)
    seconds = medians(interleave({"ours": lambda: read_dataset(archive, cache_home=cache)}, rounds))["ours"]
    return Row(
        f"cached load of {archive.stem}", readable(seconds), "", None, f"< {CACHED_SECONDS} s", seconds < CACHED_SECONDS
    )


def added_memory(name: str, home: Path, cache: Path) -> Row:
    """Memory that opening a cached dataset adds to a process."""
    read_dataset(home / f"{name}.zip", cache_home=cache)
    memory = memory_of_load(name, home, cache)
    added = memory["after"] - memory["before"]
    return Row(
        f"cached load of {name}, added memory", f"{added:.1f} MiB", "", None, f"< {ADDED_MIB:g} MiB", added < ADDED_MIB
    )


def batches(data: GraphDataset, rounds: int, seed: int = 0) -> list[Row]:
    """``data.batch`` against ``dgl.batch`` of graphs that are ready, and of graphs that are indexed first.

    The ready graphs are as DGL's own datasets hold them (edge lists, 64 bit) or as ours gives them (neighbour lists,
    32 bit); the faster of the two is what ours is compared with.
    """
    rng = np.random.default_rng(seed)
    draws = [rng.choice(len(data), min(BATCH_SIZE, len(data)), replace=False) for _ in range(rounds)]
    timed = [_time_batches(data, indices, reverse=bool(number % 2)) for number, indices in enumerate(draws)]
    seconds = {name: [one[name] for one in timed] for name in timed[0]}
    median = medians(seconds)
    ready_graphs = min(median["neighbour lists"], median["edge lists"])
    return [
        Row(
            f"{BATCH_SIZE} graphs of {data.name}",
            readable(median["ours"]),
            f"{what} {readable(other)}",
            other / median["ours"],
            f"≥ {target:g}×",
            other / median["ours"] >= target,
        )
        for what, other, target in (
            ("dgl.batch", ready_graphs, 1.0),
            ("index + dgl.batch", median["indexed"], FASTER_THAN_INDEXING),
        )
    ]


def _time_batches(data: GraphDataset, indices: np.ndarray, reverse: bool) -> dict[str, float]:
    """Seconds of each way to make one batch of the same graphs."""
    ready = [data[i][0] for i in indices]
    edge_lists = [_with_edge_list(graph) for graph in ready]
    candidates = {
        "ours": lambda: data.batch(indices),
        "neighbour lists": lambda: dgl.batch(ready),
        "edge lists": lambda: dgl.batch(edge_lists),
        "indexed": lambda: dgl.batch([data[i][0] for i in indices]),
    }
    seconds = {}
    for name in sorted(candidates, reverse=reverse):
        candidates[name]()  # once without the clock: the arrays are then in the processor's cache for everyone
        seconds[name] = time_once(candidates[name])
    return seconds


def _with_edge_list(graph: Any) -> Any:
    source, target = graph.edges(order="eid")
    copy = dgl.graph((source.long(), target.long()), num_nodes=graph.num_nodes())
    for frame, other in ((graph.ndata, copy.ndata), (graph.edata, copy.edata)):
        for field, values in frame.items():
            other[field] = values
    return copy
