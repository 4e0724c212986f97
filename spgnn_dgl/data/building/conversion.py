"""Whatever `load_dataset` reads as a store on disk, in memory that does not grow with the number of graphs."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

from spgnn_dgl.data import catalogue
from spgnn_dgl.data.benchmarks import with_known_facts
from spgnn_dgl.data.building.builder import Parts, build_store
from spgnn_dgl.data.building.streaming import parts_of_dataset, parts_of_graphs
from spgnn_dgl.data.cache import names
from spgnn_dgl.data.load import Maker, Place, locate
from spgnn_dgl.data.readers import smiles
from spgnn_dgl.data.readers.dgcnn_text import open_text, read_text_parts
from spgnn_dgl.data.readers.formats import DGCNN, SMILES, TU, Format, read_dataset, recognise, tell_mended
from spgnn_dgl.data.readers.graphs import as_dataset
from spgnn_dgl.data.readers.sources import open_source
from spgnn_dgl.data.readers.tu import find_prefix
from spgnn_dgl.data.readers.tu_parts import NotInOrder, read_tu_parts
from spgnn_dgl.data.store import GraphDataset

logger = logging.getLogger("spgnn_dgl")


def convert_dataset(
    source: str | Path,
    out: str | Path,
    *,
    data_home: str | Path | None = None,
    require_classes: bool = True,
    on_part: Callable[[int], None] | None = None,
) -> GraphDataset:
    """Write the store of a dataset, and open it.

    TU sets, DGCNN texts, SMILES tables, stores, and the graphs that a plugin's function yields are read in parts. A
    CSV folder is held in memory while it is read, and so is what a function returns as a list.

    Parameters
    ----------
    source
        A name or path, as for :func:`spgnn_dgl.data.load.load_dataset`.
    out
        Folder of the store; a store that is already there is replaced when the new one is whole. The same call after
        a kill goes on where the last one stopped.
    require_classes
        Whether every graph must have a class and at least two classes must occur.
    on_part
        Called with the number of graphs so far, for progress bars.
    """
    found = locate(source, catalogue.data_home(data_home))
    build = partial(build_store, out, require_classes=require_classes, on_part=on_part)
    if isinstance(found, Maker):
        return build(_parts_of_made(found))
    format_ = recognise(found.path) if found.path.exists() else None
    try:
        parts = _parts_of_file(found, format_, require_classes)
        data = build(parts or _read_whole(found, require_classes))
    except NotInOrder as problem:
        logger.warning("%s is read as a whole, in memory: %s", found.path, problem)
        data = build(_read_whole(found, require_classes))
    if format_ in (TU, DGCNN, SMILES):
        tell_mended(data)
        smiles.tell_unreadable(data)
    return data


def _read_whole(found: Place, require_classes: bool) -> Parts:
    return parts_of_dataset(read_dataset(found.path, require_classes=require_classes, label_column=found.column))


def _parts_of_file(found: Place, format_: Format | None, require_classes: bool) -> Parts | None:
    """The parts of a file or folder whose format can be read in parts; None for others."""
    path, column = found.path, found.column
    if format_ is None or format_ not in (TU, DGCNN, SMILES):
        return None
    content = names(path, f"{format_.title} {format_.version}")[1]
    key = json.dumps([format_.title, content, column, require_classes])
    if format_ is SMILES:
        read = partial(smiles.read_smiles_parts, Path(path), label_column=column, require_classes=require_classes)
        return Parts(smiles.smiles_name(path, column), read, key)
    if format_ is DGCNN:
        name = Path(open_text(path)[1]).stem
        complete = partial(with_known_facts, tu_labels=False)
        return Parts(name, partial(read_text_parts, path), key, complete, lone_label_is_none=True)
    name = (find_prefix(open_source(path)) or "").split("/")[-1]
    read_tu = partial(read_tu_parts, path, require_classes=require_classes)
    return Parts(name, read_tu, key, partial(with_known_facts, tu_labels=True))


def _parts_of_made(maker: Maker) -> Parts:
    """What a registered function, an entry point or a Python file makes."""
    made = maker()
    if isinstance(made, GraphDataset):
        return parts_of_dataset(made)
    if isinstance(made, tuple) or not hasattr(made, "__iter__"):  # graphs and labels apart, or one batched graph
        with maker.told():
            return parts_of_dataset(as_dataset(made, name=maker.name))
    parts = parts_of_graphs(made, maker.name)

    def read(position: Any) -> Iterator[tuple[GraphDataset, Any]]:
        with maker.told():
            yield from parts.read(position)

    return Parts(parts.name, read, parts.key)
