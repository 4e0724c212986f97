"""Node labels, degrees and attributes as model input.

A policy is *fitted on training graphs*: it learns the label values (or degrees) that occur and reserves one code,
"other", for values it has not seen. It is saved with the model as JSON, so that new graphs are encoded by exactly the
same rule, by the original label values and not by whatever codes the new dataset happens to use.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import torch

from spgnn_dgl.data.arrays import runs
from spgnn_dgl.data.store import GraphDataset, degrees
from spgnn_dgl.errors import DatasetError, OptionError
from spgnn_dgl.registry import did_you_mean

KINDS = ("labels", "degree", "attributes", "labels+attributes", "constant")
CODE, DENSE = "code", "x"
"""``graph.ndata`` fields that an encoder writes and a network reads: codes (N,) and dense features (N, F)."""

ROWS, GRAPHS = 1 << 22, 1 << 12  # nodes of a whole dataset, or graphs of a view, that are looked at together


@dataclass(frozen=True)
class InputSpec:
    """Shape of a node's input: a one-hot code out of `num_codes`, then `num_dense` real features."""

    num_codes: int
    num_dense: int

    @property
    def dim(self) -> int:
        return self.num_codes + self.num_dense


@dataclass(frozen=True)
class FeaturePolicy:
    """How nodes become model input. Make one with :meth:`fit`.

    Codes are ``0 … V-1`` for the vocabulary and ``V`` for "other". Degrees above `degree_cap` share the last code of
    the vocabulary. Attributes are standardised with the training nodes' mean and scale.
    """

    kind: str
    vocabulary: tuple[str, ...] = ()
    degree_cap: int | None = None
    mean: tuple[float, ...] = ()
    scale: tuple[float, ...] = ()

    @classmethod
    def fit(cls, data: GraphDataset, kind: str = "auto", degree_cap: int | None = None) -> FeaturePolicy:
        """Learn vocabulary and scales from training graphs; ``"auto"`` takes labels, else attributes, else degrees."""
        kind = choose_kind(data, kind)
        vocabulary: tuple[str, ...] = ()
        mean: tuple[float, ...] = ()
        scale: tuple[float, ...] = ()
        if "labels" in kind:
            seen = _seen(data, "node_labels", data.num_node_labels)
            vocabulary = tuple(np.asarray(data.meta.node_label_names)[seen].tolist())
        if kind == "degree":
            if degree_cap is not None and degree_cap < 1:
                raise OptionError(f"degree_cap={degree_cap} was given; it must be at least 1, or None for no cap.")
            largest = data.arrays.largest_degree
            seen = np.flatnonzero(_seen(data, "in_degrees", largest + 1))
            if degree_cap is not None:
                seen = np.unique(np.minimum(seen, degree_cap))
            vocabulary = tuple(str(d) for d in seen.tolist())
        if "attributes" in kind:
            mean, scale = _moments(data)
        return cls(kind, vocabulary, degree_cap if kind == "degree" else None, mean, scale)

    @property
    def spec(self) -> InputSpec:
        if self.kind == "constant":
            return InputSpec(num_codes=1, num_dense=0)
        return InputSpec(num_codes=len(self.vocabulary) + 1 if self.vocabulary else 0, num_dense=len(self.mean))

    def encoder(self, data: GraphDataset) -> Encoder:
        """The rule of this policy for the label codes of one dataset."""
        return Encoder(self, data)

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> FeaturePolicy:
        fields: dict[str, Any] = {k: tuple(v) if isinstance(v, list) else v for k, v in values.items()}
        return cls(**fields)


class Encoder:
    """Writes ``ndata["code"]`` and ``ndata["x"]`` on batches of one dataset, as its policy says.

    Parameters
    ----------
    policy
        A fitted policy.
    data
        The dataset whose batches will be encoded; its label *names* are matched with the policy's vocabulary.
    """

    def __init__(self, policy: FeaturePolicy, data: GraphDataset):
        self.policy = policy
        self.data = data
        other = len(policy.vocabulary)
        code_of = {name: code for code, name in enumerate(policy.vocabulary)}
        if "labels" in policy.kind:
            if not data.num_node_labels:
                raise DatasetError(
                    f"the model reads node labels, but the nodes of {data.name} have none. "
                    "Give labelled graphs, or train with features='degree'."
                )
            self._table = np.array([code_of.get(n, other) for n in data.meta.node_label_names], dtype=np.int64)
        elif policy.kind == "degree":
            largest = data.arrays.largest_degree
            cap = largest if policy.degree_cap is None else policy.degree_cap
            self._table = np.array([code_of.get(str(min(d, cap)), other) for d in range(largest + 1)], dtype=np.int64)
        else:
            self._table = np.zeros(1, dtype=np.int64)
        self._lookup = torch.from_numpy(self._table)
        if "attributes" in policy.kind:
            if data.num_attributes != len(policy.mean):
                raise DatasetError(
                    f"the model reads {len(policy.mean)} attributes per node, but {data.name} has "
                    f"{data.num_attributes}. Give graphs with the attributes the model was trained on."
                )
            self._mean = torch.tensor(policy.mean)
            self._scale = torch.tensor(policy.scale)

    def __call__(self, graph: Any) -> Any:
        """Encode a batch in place and return it."""
        kind = self.policy.kind
        if "labels" in kind:
            graph.ndata[CODE] = self._lookup[graph.ndata["label"]]
        elif kind == "degree":
            graph.ndata[CODE] = self._lookup[degrees(graph)]
        elif kind == "constant":
            graph.ndata[CODE] = torch.zeros(graph.num_nodes(), dtype=torch.int64)
        if "attributes" in kind:
            graph.ndata[DENSE] = (graph.ndata["attr"] - self._mean) / self._scale
        return graph

    def batch(self, indices: np.ndarray) -> Any:
        """``data.batch(indices)``, encoded."""
        return self(self.data.batch(indices))

    def unseen_shares(self) -> np.ndarray:
        """(G,) share of each graph's nodes whose label or degree was not seen in training."""
        if not self.policy.vocabulary:
            return np.zeros(len(self.data))
        other = len(self.policy.vocabulary)
        source = self.data.arrays.in_degrees if self.policy.kind == "degree" else self.data.arrays.node_labels
        assert source is not None
        offsets = self.data.arrays.node_offsets
        return np.array([np.mean(self._table[source[offsets[g] : offsets[g + 1]]] == other) for g in self.data.members])


def choose_kind(data: GraphDataset, kind: str = "auto") -> str:
    """What the nodes of a dataset are described by; ``"auto"`` takes labels, else attributes, else degrees."""
    if kind == "auto":
        return "labels" if data.num_node_labels else "attributes" if data.num_attributes else "degree"
    if kind not in KINDS:
        raise OptionError(f"unknown features '{kind}'.{did_you_mean(kind, KINDS)} Known: auto, {', '.join(KINDS)}.")
    if "labels" in kind and not data.num_node_labels:
        raise OptionError(f"features='{kind}', but the nodes of {data.name} have no labels; use 'degree'.")
    if "attributes" in kind and not data.num_attributes:
        raise OptionError(f"features='{kind}', but the nodes of {data.name} have no attributes; use 'degree'.")
    return kind


def _seen(data: GraphDataset, array: str, size: int) -> np.ndarray:
    """(size,) whether each value of a per-node array occurs in the graphs of this view."""
    seen = np.zeros(size, dtype=bool)
    for values in _rows(data, array):
        seen[values] = True
        if seen.all():  # of a large dataset, most often after its first rows
            break
    return seen


def _rows(data: GraphDataset, array: str) -> Iterator[np.ndarray]:
    """Rows of a per-node array, some graphs at a time: only the pages of this view are touched."""
    values, offsets = getattr(data.arrays, array), data.arrays.node_offsets
    if data.is_whole:
        return (values[start : start + ROWS] for start in range(0, len(values), ROWS))
    parts = (data.members[start : start + GRAPHS] for start in range(0, len(data), GRAPHS))
    return (values[runs(offsets[g], offsets[g + 1] - offsets[g])] for g in parts)


def _moments(data: GraphDataset) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Mean and standard deviation of the attributes over training nodes; a constant attribute keeps scale 1."""
    count, total, squares = 0, np.zeros(data.num_attributes), np.zeros(data.num_attributes)
    for rows in _rows(data, "node_attributes"):
        count += len(rows)
        total += rows.sum(axis=0, dtype=np.float64)
        squares += np.square(rows, dtype=np.float64).sum(axis=0)
    mean = total / count
    scale = np.sqrt(np.maximum(squares / count - mean**2, 0))
    scale[scale < 1e-12] = 1.0
    return tuple(mean.tolist()), tuple(scale.tolist())
