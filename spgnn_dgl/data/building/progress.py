"""How far an unfinished store is: what is whole of it, and what all parts so far have in common."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from spgnn_dgl.data.arrays import DatasetMeta, GraphArrays
from spgnn_dgl.data.building.vocabulary import Vocabulary
from spgnn_dgl.errors import DatasetError

VERSION = 1
ROWS: dict[str, tuple[str, Any]] = {  # array -> what it has a row for, and the type of its entries
    "node_offsets": ("graphs", np.int64),
    "edge_offsets": ("graphs", np.int64),
    "in_degrees": ("nodes", np.int32),
    "neighbours": ("edges", np.int32),
    "labels": ("graphs", np.int64),
    "node_labels": ("nodes", np.int32),
    "node_attributes": ("nodes", np.float32),
    "edge_labels": ("edges", np.int32),
    "truth": ("nodes", np.bool_),
}
OFFSETS = {"node_offsets": "nodes", "edge_offsets": "edges"}  # one row more than graphs; what they count
NAMES = {"labels": "class_names", "node_labels": "node_label_names", "edge_labels": "edge_label_names"}


@dataclass
class Progress:
    """What is whole of an unfinished store."""

    key: str
    version: int = VERSION
    position: Any = None
    graphs: int = 0
    nodes: int = 0
    edges: int = 0
    row_shapes: dict[str, list[int]] = field(default_factory=dict)  # of the arrays that there are
    names: dict[str, Vocabulary] = field(default_factory=dict)  # of the arrays that hold codes
    symbols: dict[str, str] = field(default_factory=dict)  # node label name -> symbol
    description: dict[str, Any] = field(default_factory=dict)  # of the first part
    mended: dict[str, int] = field(default_factory=dict)
    unreadable: list[str] = field(default_factory=list)
    all_read: bool = False

    def rows(self, name: str) -> int:
        return getattr(self, ROWS[name][0]) + (name in OFFSETS)

    @classmethod
    def from_json(cls, text: str) -> Progress:
        found = cls(**json.loads(text))
        found.names = {name: Vocabulary(**values) for name, values in found.names.items()}  # type: ignore[arg-type]
        return found

    def check_alike(self, meta: DatasetMeta, arrays: GraphArrays) -> None:
        """All parts must have the same arrays; one without edges need not have edge labels."""
        here = {name: list(array.shape[1:]) for name, array in arrays.present().items()}
        description = {"directed": meta.directed, "domain": meta.domain, "source": meta.source}
        if self.graphs == 0:
            self.description = description
            return
        there = dict(self.row_shapes)
        if len(arrays.neighbours) == 0:
            there.pop("edge_labels", None)
            here.pop("edge_labels", None)
        elif self.edges == 0 and "edge_labels" not in there:
            here.pop("edge_labels", None)
        where = f"the graphs from number {self.graphs} on (counted from 0)"
        for name in sorted({*here, *there}):
            words = name.replace("_", " ")
            if (name in here) != (name in there):
                have, had = ("have", "have none") if name in here else ("have no", "have some")
                raise DatasetError(
                    f"{where} {have} {words}, but those before them {had}. Give them to all graphs, or to none."
                )
            if here[name] != there[name]:
                raise DatasetError(
                    f"{where} have {here[name][0]} {words} per node, those before them {there[name][0]}."
                )
        if description["directed"] != self.description["directed"]:
            raise DatasetError(f"{where} are {'' if meta.directed else 'un'}directed, those before them are not.")

    def count(self, meta: DatasetMeta, arrays: GraphArrays) -> None:
        """A part has been appended."""
        for what, number in meta.mended.items():
            self.mended[what] = self.mended.get(what, 0) + number
        self.unreadable += meta.unreadable
        self.symbols |= dict(zip(meta.node_label_names, meta.node_symbols))
        self.graphs += arrays.num_graphs
        self.nodes += len(arrays.in_degrees)
        self.edges += len(arrays.neighbours)

    def meta(self, name: str, names: dict[str, tuple[str, ...]]) -> DatasetMeta:
        """The description of the whole, given the names of each array's codes in their order."""
        node_names = names.get("node_labels", ())
        return DatasetMeta(
            name=name,
            class_names=names.get("labels", ()),
            node_label_names=node_names,
            edge_label_names=names.get("edge_labels", ()),
            node_symbols=tuple(self.symbols[n] for n in node_names) if self.symbols and node_names else (),
            mended=self.mended,
            unreadable=tuple(self.unreadable),
            **self.description,
        )
