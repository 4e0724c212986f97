"""Growth: stores of 41 thousand to ten million generated molecules, built, trained on and predicted.

Every number of memory is taken in a process of its own: ``python -m spgnn_dgl.bench.scale build FOLDER COUNT``,
``train FOLDER STEPS`` or ``convert FOLDER COUNT``. ``RssAnon`` is what a process cannot do without. Pages of files,
which the system takes back when it needs them, are counted in ``VmRSS`` only.
"""

from __future__ import annotations

import contextlib
import gc
import itertools
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch

from spgnn_dgl._dgl import dgl
from spgnn_dgl.bench import ranks
from spgnn_dgl.bench.memory import resident
from spgnn_dgl.bench.molecules import molecules
from spgnn_dgl.bench.text import write_tu
from spgnn_dgl.bench.timing import Row, interleave, medians, readable, time_once
from spgnn_dgl.bench.train import BATCH_SIZE, our_step, repeated, unfolded
from spgnn_dgl.data.building.conversion import convert_dataset
from spgnn_dgl.data.load import load_dataset
from spgnn_dgl.data.store import GraphDataset
from spgnn_dgl.errors import SpgnnError, missing_extra
from spgnn_dgl.methods.spgnn import choose_k
from spgnn_dgl.training import seeded, steady_memory

SIZES = (41_127, 200_000, 1_000_000, 10_000_000)
TEXTS = (800_000, 1_600_000)  # graphs that are converted from text; with fewer, its blocks are not full
SAMPLE = 20_000  # graphs that are stored in the forms of other libraries
BYTES_PER_GRAPH = 460  # on disk, a little more than measured: how much room to ask for
ROOM = 2.0  # GB that stay free
STEPS = 10  # per round of the timing
MEMORY_STEPS = 400
K = 30
MIB = 1 << 20
SLOWER_AT_MOST = 1.15
INDEX_BYTES = 16  # per graph: the order of an epoch, and node counts while a model is built


@dataclass
class Measured:
    """What was measured of one size."""

    graphs: int
    build: dict[str, float]  # seconds, and those of them that the processor was busy; anon, rss; bytes
    train: dict[str, float]  # seconds to the start; anon, rss
    seconds_per_graph: float = 0.0  # of the processor, for training


def measure(
    scratch: Path,
    home: Path | None = None,
    *,
    sizes: Sequence[int] = SIZES,
    rounds: int = 40,
    plots: Path | None = None,
) -> Iterator[Row]:
    """All rows of the table, one after the other, with one thread; `scratch` is empty again afterwards.

    Parameters
    ----------
    scratch
        A folder on a disk with room for all stores; see ``BYTES_PER_GRAPH``.
    home
        Data home; with the archive of DD in it, ranks are measured too (:mod:`spgnn_dgl.bench.ranks`).
    rounds
        Rounds of ten training steps, in which all sizes take their turn.
    plots
        Folder for the curves; None draws none.
    """
    scratch.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="spgnn-scale-", dir=scratch) as place, seeded(0, threads=1):
        folder = Path(place)
        fitting, refused = fitting_sizes(sorted(sizes), shutil.disk_usage(folder).free)
        yield from refused
        found = []
        for count in fitting:
            store = folder / str(count)
            built = in_own_process("build", store, count)
            found.append(Measured(count, built, in_own_process("train", store, MEMORY_STEPS)))
            yield build_row(found[-1], found[0])
        time_training(found, folder, rounds)
        for one in found[1:]:
            yield from growth_rows(one, found[0])
        yield start_row(found[-1])
        yield from cold_row(found[-1], folder)
        bytes_per_graph = stored_bytes(folder, SAMPLE)
        yield from bytes_rows(bytes_per_graph)
        yield conversion_row(folder, SAMPLE)
        yield from text_rows({count: converted(folder / f"text{count}", count) for count in TEXTS})
        if plots is not None:
            from spgnn_dgl.bench.curves import draw

            draw(found, bytes_per_graph, plots)
    if home is not None and (home / f"{ranks.DATASET}.zip").exists():
        yield from ranks.measure(home)


def fitting_sizes(sizes: Sequence[int], free: int) -> tuple[list[int], list[Row]]:
    """The sizes whose stores all fit on the disk together, and a row for each that does not."""
    fitting: list[int] = []
    refused = []
    for count in sizes:
        needed = (sum(fitting) + count) * BYTES_PER_GRAPH
        if needed + ROOM * 1e9 <= free:
            fitting.append(count)
        else:
            words = f"needs {needed / 1e9:.1f} GB, {free / 1e9:.1f} GB are free"
            refused.append(Row(f"{count:,} graphs: not measured", words, target="room on disk", holds=False))
    if not fitting:
        raise SpgnnError("there is no room for any of the stores. Name another folder with --scratch.")
    return fitting, refused


# ---- rows -----------------------------------------------------------------------------------------------------------


def build_row(one: Measured, smallest: Measured) -> Row:
    rate, busy = one.graphs / one.build["seconds"], one.graphs / one.build["busy"]
    return Row(
        f"build {one.graphs:,} graphs: {one.build['bytes'] / one.graphs:.0f} bytes per graph, "
        f"RssAnon {one.build['anon']:.0f} MiB (VmRSS {one.build['rss']:.0f}) at most",
        f"{rate:,.0f} graphs/s ({busy:,.0f} per second of the processor)",
        f"{smallest.build['anon']:.0f} MiB at {smallest.graphs:,}",
        target="memory flat",
        holds=one.build["anon"] <= smallest.build["anon"] * 1.1 + 32,
    )


def growth_rows(one: Measured, smallest: Measured) -> Iterator[Row]:
    """Time and memory of training beside those of the smallest store."""
    ratio = one.seconds_per_graph / smallest.seconds_per_graph
    yield Row(
        f"train on {one.graphs:,} graphs: time per graph {100 * (ratio - 1):+.0f} %",
        readable(one.seconds_per_graph),
        f"{readable(smallest.seconds_per_graph)} at {smallest.graphs:,}",
        target=f"within {100 * (SLOWER_AT_MOST - 1):.0f} %",
        holds=ratio <= SLOWER_AT_MOST,
    )
    allowed = smallest.train["anon"] * 1.05 + INDEX_BYTES * one.graphs / MIB
    yield Row(
        f"train on {one.graphs:,} graphs: RssAnon at most (VmRSS {one.train['rss']:.0f} MiB)",
        f"{one.train['anon']:.0f} MiB",
        f"{smallest.train['anon']:.0f} MiB at {smallest.graphs:,}",
        target=f"flat but for {INDEX_BYTES} bytes per graph",
        holds=one.train["anon"] <= allowed,
    )
    yield Row(
        f"predict among {one.graphs:,} graphs: RssAnon at most",
        f"{one.train['predict_anon']:.0f} MiB",
        f"{smallest.train['predict_anon']:.0f} MiB at {smallest.graphs:,}",
        target="flat",
        holds=one.train["predict_anon"] <= smallest.train["predict_anon"] * 1.05 + 16,
    )


def start_row(one: Measured) -> Row:
    """From the path of a store to the first step."""
    return Row(f"start of a training on {one.graphs:,} graphs", readable(one.train["start"]))


def cold_row(one: Measured, folder: Path) -> Iterator[Row]:
    """Training on pages that are on the disk only, in a process that has none of them mapped."""
    if not hasattr(os, "posix_fadvise"):
        return
    store = folder / str(one.graphs)
    for path in store.iterdir():
        with path.open("rb") as file:
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
    cold = in_own_process("train", store, MEMORY_STEPS)
    seconds = cold["per_graph"]
    yield Row(
        f"train on {one.graphs:,} graphs, first {MEMORY_STEPS} steps, nothing of the store in memory "
        f"({cold['from_disk'] / 1024:.0f} KiB read per graph)",
        readable(seconds),
        f"{readable(one.train['per_graph'])} with the store in the page cache",
        one.train["per_graph"] / seconds,
    )


def bytes_rows(bytes_per_graph: dict[str, float]) -> Iterator[Row]:
    ours = bytes_per_graph["ours"]
    for who in ("PyG", "DGL"):
        yield Row(
            f"bytes per graph on disk, {SAMPLE:,} graphs, against {who}",
            f"{ours:.0f}",
            f"{bytes_per_graph[who]:.0f}",
            bytes_per_graph[who] / ours,
            "fewer",
            ours < bytes_per_graph[who],
        )


def conversion_row(folder: Path, count: int) -> Row:
    """A store from DGL graphs that come one by one."""
    graphs = dgl_graphs(count)
    seconds = time_once(lambda: GraphDataset.from_iterable(iter(graphs), folder / "converted"))
    return Row(f"build from {count:,} DGL graphs, one by one", f"{count / seconds:,.0f} graphs/s")


def text_rows(found: dict[int, dict[str, float]]) -> Iterator[Row]:
    """Memory of a conversion from text, by the number of graphs."""
    smallest = min(found)
    for count, peak in found.items():
        ratio = peak["anon"] / found[smallest]["anon"]
        ours, theirs = (
            f"{found[c]['anon']:.0f} MiB ({found[c]['rss']:.0f} with mapped pages)" for c in (count, smallest)
        )
        what = f"convert {count:,} graphs of TU text, {count / peak['seconds']:,.0f} graphs/s: memory"
        if count == smallest:
            yield Row(what, ours)
        else:
            yield Row(what, ours, theirs, 1 / ratio, f"at most {SLOWER_AT_MOST:g} times", ratio <= SLOWER_AT_MOST)


# ---- measuring ------------------------------------------------------------------------------------------------------


def time_training(found: list[Measured], folder: Path, rounds: int) -> None:
    """Seconds of the processor per graph on random batches, all sizes in turn."""
    candidates = {}
    for one in found:
        torch.manual_seed(0)
        data = load_dataset(folder / str(one.graphs))
        candidates[str(one.graphs)] = repeated(our_step(data, K, BATCH_SIZE, fold=unfolded), STEPS)
    with steady_memory():
        for step in candidates.values():
            step()
        seconds = medians(interleave(candidates, rounds, time.process_time))
    del step, candidates, data
    gc.collect()  # lets go of the stores: pages that are mapped cannot be dropped below
    for one in found:
        one.seconds_per_graph = seconds[str(one.graphs)] / (STEPS * BATCH_SIZE)


def in_own_process(what: str, store: Path, count: int) -> dict[str, float]:
    """What :func:`main` prints, from a process of its own with one thread."""
    command = [sys.executable, "-m", "spgnn_dgl.bench.scale", what, str(store), str(count)]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise SpgnnError(f"{what} of {store.name} in a process of its own failed:\n{done.stderr.strip()}")
    return json.loads(done.stdout.splitlines()[-1])


@contextlib.contextmanager
def watched() -> Iterator[dict[str, float]]:
    """The largest RssAnon and VmRSS inside the block, in MiB, looked at fifty times a second."""
    peak = {"anon": resident("RssAnon"), "rss": resident("VmRSS")}
    over = threading.Event()

    def look() -> None:
        while not over.wait(0.02):
            peak["anon"] = max(peak["anon"], resident("RssAnon"))
            peak["rss"] = max(peak["rss"], resident("VmRSS"))

    thread = threading.Thread(target=look, daemon=True)
    thread.start()
    try:
        yield peak
    finally:
        over.set()
        thread.join()


def build(store: Path, count: int) -> dict[str, float]:
    """Build a store of generated graphs, generating them included; a small one before it is not counted."""
    warm = store.with_name("warm")
    GraphDataset.from_iterable(molecules(1_000), warm)
    shutil.rmtree(warm)
    with watched() as peak:
        begin = time.process_time()
        seconds = time_once(lambda: GraphDataset.from_iterable(molecules(count), store, name="molecules"))
        busy = time.process_time() - begin
    return {"seconds": seconds, "busy": busy, "bytes": sum(path.stat().st_size for path in store.iterdir()), **peak}


def converted(store: Path, count: int) -> dict[str, float]:
    """Write generated graphs as TU text, then convert it into a store; what the latter took."""
    text = _text_of(store)
    in_own_process("write", text, count)
    found = in_own_process("convert", store, count)
    shutil.rmtree(text)
    return found


def write(text: Path, count: int) -> dict[str, float]:
    """Write generated graphs as TU text; its size."""
    return {"bytes": sum(path.stat().st_size for path in write_tu(text, molecules(count)).iterdir())}


def convert(store: Path, count: int) -> dict[str, float]:
    """Convert the text of `count` graphs."""
    with watched() as peak:
        seconds = time_once(lambda: convert_dataset(str(_text_of(store)), store))
    return {"seconds": seconds, **peak}


def _text_of(store: Path) -> Path:
    return store.with_name(f"{store.name}_tu")


def train(store: Path, steps: int) -> dict[str, float]:
    """Open a store, train on random batches, then predict some graphs from all over it."""
    with watched() as peak, seeded(0, threads=1), steady_memory():
        begin = time.perf_counter()
        data = load_dataset(store)
        step = our_step(data, max(choose_k(data.node_counts)), BATCH_SIZE, fold=unfolded)
        step()
        start = time.perf_counter() - begin
        before = bytes_from_disk()
        seconds = time_once(repeated(step, steps))
        from_disk = (bytes_from_disk() - before) / (steps * BATCH_SIZE)
    del step
    predicted = predict(data, min(1_000, len(data)), 5_000)
    return {
        "start": start,
        "per_graph": seconds / (steps * BATCH_SIZE),
        "from_disk": from_disk,
        **peak,
        "predict_anon": predicted["anon"],
    }


def bytes_from_disk() -> int:
    """What this process has had read for it so far, pages of mapped files included."""
    return int(Path("/proc/self/io").read_text().partition("\nread_bytes:")[2].split()[0])


def predict(data: GraphDataset, num_train: int, count: int) -> dict[str, float]:
    """Fit on the first graphs of a store, and predict `count` of all of them; the largest memory of the latter."""
    from spgnn_dgl.methods import make_method
    from spgnn_dgl.predicting import Predictor

    fitted = make_method("spgnn", {"epochs": 1, "k": K}).fit(data.subset(np.arange(num_train)))
    predictor = Predictor((fitted,), data.meta.class_names, (1, 100))
    with watched() as peak:
        for _ in itertools.islice(predictor.predict(data), count):
            pass
    return peak


# ---- what other libraries store -------------------------------------------------------------------------------------


def dgl_graphs(count: int) -> list[tuple[Any, int]]:
    """Generated graphs as DGL's constructor makes them, with labels."""
    found = []
    for part in molecules(count):
        for i in range(len(part)):
            graph = part[i][0]
            source, target = graph.edges(order="eid")
            plain = dgl.graph((source.long(), target.long()), num_nodes=graph.num_nodes())
            plain.ndata["label"] = graph.ndata["label"].long()
            found.append((plain, int(part.arrays.labels[i])))
    return found


def stored_bytes(folder: Path, count: int) -> dict[str, float]:
    """Bytes per graph of the same graphs: our store, PyG's InMemoryDataset and DGL's save_graphs, 64 bit as usual."""
    try:
        from torch_geometric.data import Data, InMemoryDataset
    except ImportError as problem:
        raise missing_extra("torch_geometric", "bench", "tools/bench.py scale") from problem
    store = folder / "sample"
    GraphDataset.from_iterable(molecules(count), store)
    graphs = dgl_graphs(count)
    dgl.save_graphs(str(folder / "dgl.bin"), [g for g, _ in graphs], {"label": torch.tensor([y for _, y in graphs])})
    data = [
        Data(x=graph.ndata["label"], edge_index=torch.stack(graph.edges(order="eid")), y=torch.tensor([label]))
        for graph, label in graphs
    ]
    InMemoryDataset.save(data, str(folder / "pyg.pt"))
    return {
        "ours": sum(path.stat().st_size for path in store.iterdir()) / count,
        "PyG": (folder / "pyg.pt").stat().st_size / count,
        "DGL": (folder / "dgl.bin").stat().st_size / count,
    }


def main(what: str, store: str, count: str) -> None:
    work = {"build": build, "train": train, "write": write, "convert": convert}[what]
    sys.stdout.write(json.dumps(work(Path(store), int(count))))


if __name__ == "__main__":
    main(*sys.argv[1:])
