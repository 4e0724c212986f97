"""Graphs that come one by one, and datasets that are there already, as the parts of a store to build."""

from __future__ import annotations

import dataclasses
import itertools
import json
import zlib
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any

import numpy as np

from spgnn_dgl.data.arrays import GraphArrays, take
from spgnn_dgl.data.building.builder import Parts
from spgnn_dgl.data.readers.extract import AUTO, Field, Fields
from spgnn_dgl.data.readers.graphs import graphs_at, split_pairs
from spgnn_dgl.data.store import GraphDataset
from spgnn_dgl.errors import DatasetError

BLOCK = 1 << 12  # graphs that are converted together
RANGE = 1 << 16  # graphs of a dataset that are copied together


def parts_of_graphs(
    graphs: Iterable[Any], name: str, fields: tuple[Field, Fields, Field] = (AUTO, AUTO, AUTO), directed: bool = False
) -> Parts:
    """The parts of a dataset from graphs, pairs (graph, label), or datasets.

    See :meth:`spgnn_dgl.data.store.GraphDataset.from_iterable`.
    """
    key = json.dumps(["graphs", name, fields, directed, BLOCK])
    return Parts(name, lambda position: _read_graphs(graphs, position, name, fields, directed), key)


def _read_graphs(
    graphs: Iterable[Any], position: Any, name: str, fields: tuple[Field, Fields, Field], directed: bool
) -> Iterator[tuple[GraphDataset, Any]]:
    """Parts of ``BLOCK`` graphs. What was read before is passed over; its first and last part are compared."""
    before = position or {"blocks": 0, "graphs": 0, "pairs": None, "fields": fields, "first": None, "last": None}
    now = {**before, "blocks": 0, "graphs": 0, "pairs": None, "fields": fields}
    for number, block in enumerate(_blocks(graphs)):
        passed = number < before["blocks"]
        if passed and 0 < number < before["blocks"] - 1:
            continue
        if passed and number:
            now["fields"] = before["fields"]
        part, now = _part(block(), now, name, directed)
        sum_ = _checksum(part)
        if number == 0:
            now["first"] = sum_
        now["last"], now["blocks"] = sum_, number + 1
        if not passed:
            yield part, now
        elif (number == 0 and sum_ != before["first"]) or (number == before["blocks"] - 1 and sum_ != before["last"]):
            raise DatasetError(
                f"the {before['graphs']} graphs that were written before are not those that were given now. Give the "
                "same graphs to go on, or remove the .unfinished folder to begin anew."
            )
        if number == before["blocks"] - 1:
            now = before
    if now["blocks"] < before["blocks"]:
        raise DatasetError(
            f"{before['graphs']} graphs were written before, but fewer were given now. Give the same graphs to go on, "
            "or remove the .unfinished folder to begin anew."
        )


def _part(items: list[Any], now: dict[str, Any], name: str, directed: bool) -> tuple[GraphDataset, dict[str, Any]]:
    """Some graphs as a dataset, and what is settled with them: the fields, and whether graphs come with labels."""
    first = now["graphs"]
    if isinstance(items[0], GraphDataset):
        part = items[0]
        if not part.is_whole:
            part = GraphDataset(take(part.arrays, part.members), part.meta)
        return part, {**now, "graphs": first + len(part)}
    try:
        plain, labels = split_pairs(items)
        if now["pairs"] not in (None, labels is not None):
            raise DatasetError("some come with labels, some without; use the label None where it is not known.")
        part, found = graphs_at(plain, labels, now["fields"], name, directed)
    except DatasetError as problem:
        if first == 0:
            raise
        raise DatasetError(f"in the graphs from number {first} on, counted from 0 there: {problem}") from problem
    settled = tuple(f if f is not None and asked == AUTO else asked for f, asked in zip(found, now["fields"]))
    return part, {**now, "graphs": first + len(part), "fields": settled, "pairs": labels is not None}


def _blocks(graphs: Any) -> Iterator[Callable[[], list[Any]]]:
    """Functions that give the items of each block; datasets are blocks of their own."""
    if hasattr(graphs, "__len__") and hasattr(graphs, "__getitem__"):
        # by index: passing over costs nothing, and some DGLDatasets do not stop when they are iterated
        count = len(graphs)
        size = 1 if count and isinstance(graphs[0], GraphDataset) else BLOCK
        for start in range(0, count, size):
            yield partial(_items, graphs, start, min(start + size, count))
        return
    rest = iter(graphs)
    head = list(itertools.islice(rest, 1))
    size = 1 if head and isinstance(head[0], GraphDataset) else BLOCK
    rest = itertools.chain(head, rest)
    while items := list(itertools.islice(rest, size)):
        yield partial(list, items)


def _items(graphs: Any, start: int, stop: int) -> list[Any]:
    return [graphs[i] for i in range(start, stop)]


def _checksum(part: GraphDataset) -> int:
    result = zlib.crc32(json.dumps([part.meta.class_names, part.meta.node_label_names]).encode())
    for array in part.arrays.present().values():
        result = zlib.crc32(np.ascontiguousarray(array).data, result)
    return result


def parts_of_dataset(data: GraphDataset, key: str = "") -> Parts:
    """A dataset, in memory or mapped, in ranges of graphs."""

    whole, meta = data.is_whole, dataclasses.replace(data.meta, mended={}, unreadable=())

    def read(position: Any) -> Iterator[tuple[GraphDataset, Any]]:
        for start in range(position or 0, len(data), RANGE):
            stop = min(start + RANGE, len(data))
            arrays = data.arrays
            part = graph_range(arrays, start, stop) if whole else take(arrays, data.members[start:stop])
            yield GraphDataset(part, meta), stop

    return Parts(data.name, read, json.dumps(["dataset", data.fingerprint, key]), lambda _: data.meta)


def graph_range(arrays: GraphArrays, start: int, stop: int) -> GraphArrays:
    """The graphs from `start` to `stop`; nothing but the offsets is copied."""
    bounds = {
        "nodes": slice(arrays.node_offsets[start], arrays.node_offsets[stop]),
        "edges": slice(arrays.edge_offsets[start], arrays.edge_offsets[stop]),
    }
    found = {
        "node_offsets": arrays.node_offsets[start : stop + 1] - arrays.node_offsets[start],
        "edge_offsets": arrays.edge_offsets[start : stop + 1] - arrays.edge_offsets[start],
        "labels": arrays.labels[start:stop],
    }
    for name, array in arrays.present().items():
        if name not in found:
            found[name] = array[bounds["edges" if name in ("neighbours", "edge_labels") else "nodes"]]
    return GraphArrays(**found)
