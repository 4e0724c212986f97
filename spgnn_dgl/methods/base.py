"""What every method promises, and what all graph neural networks among them share.

A *method* is whatever can be evaluated: it fits on training graphs and gives class probabilities for others.
Its options are its keyword-only signature, so that a new method is one file with one decorator.
"""

from __future__ import annotations

import abc
from collections.abc import Collection, Mapping
from typing import Any, ClassVar

import numpy as np
import torch
from torch import Tensor, nn

from spgnn_dgl.data.features import Encoder, FeaturePolicy, InputSpec
from spgnn_dgl.data.folding import fold_where_it_pays
from spgnn_dgl.data.store import DatasetInfo, GraphDataset
from spgnn_dgl.errors import ModelFileError, OptionError
from spgnn_dgl.nn.readout.wlsortpool import Selection
from spgnn_dgl.registry import Registry, check_options, keyword_options
from spgnn_dgl.training import (
    EpochRecord,
    OnEpoch,
    TrainingOptions,
    TrainingResult,
    TrainingStore,
    batches,
    probabilities,
    seeded,
    train_network,
)

Arrays = dict[str, np.ndarray]


class Method(abc.ABC):
    """Fits on graphs, predicts classes of graphs.

    Class attributes say what `spgnn methods` prints: `kind` ("gnn", "two-phase", "kernel" or "floor"), `reference`
    (the paper the method is from) and `extra` (the optional dependency group it needs, or None).

    After :meth:`fit`: `num_classes`, `watched` (epoch → probabilities of the watched graphs) and `history`.
    A method without epochs uses the single key 0 in `watched`.
    """

    kind: ClassVar[str]
    reference: ClassVar[str]
    extra: ClassVar[str | None] = None
    has_epochs: ClassVar[bool] = False
    epoch_candidates: ClassVar[tuple[int, ...]] = (0,)
    """Numbers of epochs that an experiment chooses among."""

    num_classes: int
    watched: dict[int, np.ndarray]
    history: list[EpochRecord]

    @classmethod
    def options(cls) -> dict[str, Any]:
        """Every option with its default."""
        return keyword_options(cls.__init__)

    def search_space(self, info: DatasetInfo) -> dict[str, tuple[Any, ...]]:
        """Options this method leaves to inner validation on such data, with their candidates."""
        return {}

    @abc.abstractmethod
    def fit(
        self,
        train: GraphDataset,
        *,
        validation: GraphDataset | None = None,
        watch: GraphDataset | None = None,
        watch_at: Collection[int] = (),
        seed: int = 0,
        on_epoch: OnEpoch | None = None,
    ) -> Method:
        """Learn from `train`. `validation` may drive early stopping; `watch` is predicted at the epochs `watch_at`."""

    @abc.abstractmethod
    def predict_proba(self, data: GraphDataset) -> np.ndarray:
        """(G, C) class probabilities, float64, rows sum to one."""

    def predict(self, data: GraphDataset) -> np.ndarray:
        """(G,) class codes of the training data."""
        return self.predict_proba(data).argmax(axis=1)

    @abc.abstractmethod
    def state(self) -> tuple[Arrays, dict[str, Any]]:
        """Everything a fitted method needs to predict: arrays, and values that JSON can hold."""

    @abc.abstractmethod
    def restore(self, arrays: Arrays, values: Mapping[str, Any]) -> None:
        """The reverse of :meth:`state` on a method constructed with the same options."""

    def fitted_options(self) -> dict[str, Any]:
        """Options as resolved by fit, for example the k that ``k="auto"`` became. For reports."""
        return {}


METHODS: Registry[type[Method]] = Registry("method")


def make_method(name: str, options: Mapping[str, Any] | None = None) -> Method:
    """The method called `name` with `options`; a wrong option is answered with the right ones."""
    method = METHODS.get(name)
    check_options(f"method '{METHODS.canonical(name)}'", options or {}, method.options())
    return method(**(options or {}))


class GNNMethod(Method):
    """A network trained by :mod:`spgnn_dgl.training`. A subclass says which network: :meth:`build`.

    Parameters
    ----------
    features
        How nodes become input: ``"auto"``, ``"labels"``, ``"degree"``, ``"attributes"``, ``"labels+attributes"`` or
        ``"constant"``; see :class:`spgnn_dgl.data.features.FeaturePolicy`.
    degree_cap
        Degrees above it share one code.
    training
        The fields of :class:`spgnn_dgl.training.TrainingOptions`.
    """

    kind = "gnn"
    has_epochs = True
    epoch_candidates: ClassVar[tuple[int, ...]] = (50, 100, 150, 200)
    training_defaults: ClassVar[dict[str, Any]] = {}
    """Training options whose default differs for this method."""

    net: nn.Module
    policy: FeaturePolicy
    result: TrainingResult

    def __init__(self, *, features: str = "auto", degree_cap: int | None = 100, **training: Any):
        check_options(type(self).__name__, training, TrainingOptions.defaults())
        self.features = features
        self.degree_cap = degree_cap
        self.training = TrainingOptions(**{**self.training_defaults, **training})
        self.resolved: dict[str, Any] = {}

    @classmethod
    def options(cls) -> dict[str, Any]:
        own: dict[str, Any] = {}
        for part in cls.__mro__:  # a variant names only the options whose defaults it changes
            if "__init__" in vars(part):
                own = {**own, **{o: d for o, d in keyword_options(vars(part)["__init__"]).items() if o not in own}}
        return {**own, **TrainingOptions.defaults(), **cls.training_defaults}

    @abc.abstractmethod
    def build(self, info: DatasetInfo, spec: InputSpec) -> nn.Module:
        """The untrained network: encoded batch → (B, C). Uses `resolved` for what depends on the training graphs."""

    def resolve(self, info: DatasetInfo) -> dict[str, Any]:
        """Options that depend on the training graphs, such as k; JSON values, saved with the model."""
        return {}

    def fitted_options(self) -> dict[str, Any]:
        return {**self.resolved, "features": self.policy.kind}

    def encoder(self, data: GraphDataset) -> Encoder:
        """Makes batches of `data` in the form that the network reads."""
        return self.policy.encoder(data)

    def _small_encoder(self, data: GraphDataset) -> Encoder:
        """An encoder for many epochs: of folded graphs where the network can read them and they are much smaller."""
        share = getattr(self.net, "fold_at", 0.0)
        return self.encoder(fold_where_it_pays(data, self.policy.kind, share) if share else data)

    def fit(
        self,
        train: GraphDataset,
        *,
        validation: GraphDataset | None = None,
        watch: GraphDataset | None = None,
        watch_at: Collection[int] = (),
        seed: int = 0,
        on_epoch: OnEpoch | None = None,
        checkpoint: TrainingStore | None = None,
    ) -> GNNMethod:
        """As every method; `checkpoint` keeps the training, and one that was stopped goes on from it."""
        train.require_classes()
        self.num_classes = train.num_classes
        self.policy = FeaturePolicy.fit(train, self.features, self.degree_cap)
        self.resolved = self.resolve(train.info)
        with seeded(seed):
            self.net = self.build(train.info, self.policy.spec)
        self.result = train_network(
            self.net,
            self._small_encoder(train),
            self.training,
            seed=seed,
            validation=None if validation is None else self._small_encoder(validation),
            watch=None if watch is None else self.encoder(watch),  # rounded as in predict_proba
            watch_at=watch_at,
            on_epoch=on_epoch,
            checkpoint=checkpoint,
        )
        self.watched, self.history = self.result.watched, self.result.history
        return self

    def predict_proba(self, data: GraphDataset) -> np.ndarray:
        with seeded(0, self.training.threads):
            return probabilities(self.net, self.encoder(data), self.training.batch_size)

    @torch.no_grad()
    def select(self, data: GraphDataset, batch_size: int = 50) -> list[Selection]:
        """The nodes pooled from each graph: a :class:`Selection` per graph, node numbers inside the graph."""
        select = getattr(self.net, "select", None)
        if select is None:
            raise OptionError(
                f"{type(self).__name__} does not rank nodes, so there is nothing to select; use a method that sorts: "
                "spgnn, arch1, arch2, dgcnn."
            )
        self.net.eval()
        encoder = self.encoder(data)
        selections: list[Selection] = []
        for indices in batches(len(data), batch_size):
            graph = encoder.batch(indices)
            selections.extend(split_selection(select(graph), graph.batch_num_nodes()))
        return selections

    def state(self) -> tuple[Arrays, dict[str, Any]]:
        arrays = {name: value.detach().cpu().numpy() for name, value in self.net.state_dict().items()}
        values = {"policy": self.policy.to_json(), "num_classes": self.num_classes, "resolved": self.resolved}
        return arrays, values

    def restore(self, arrays: Arrays, values: Mapping[str, Any]) -> None:
        self.policy = FeaturePolicy.from_json(values["policy"])
        self.num_classes = values["num_classes"]
        self.resolved = dict(values["resolved"])
        info = DatasetInfo("restored", self.num_classes, 0, 0, np.zeros(0, dtype=np.int64))
        with seeded(0):
            self.net = self.build(info, self.policy.spec)
        try:
            self.net.load_state_dict({name: torch.from_numpy(np.array(array)) for name, array in arrays.items()})
        except RuntimeError as problem:
            raise ModelFileError(f"the weights do not fit the model that the file describes: {problem}") from problem


def split_selection(selection: Selection, sizes: Tensor) -> list[Selection]:
    """A batch's selection graph by graph, with node numbers inside each graph."""
    starts = (sizes.cumsum(0) - sizes).tolist()
    parts = []
    for graph, (start, size) in enumerate(zip(starts, sizes.tolist())):
        nodes = selection.nodes[:, graph]
        parts.append(
            Selection(torch.where(nodes < 0, nodes, nodes - start), selection.importance[:, start : start + size])
        )
    return parts
