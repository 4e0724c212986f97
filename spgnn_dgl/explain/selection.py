"""Who was pooled: the nodes that each layer of a model keeps, and how they rank over all layers.

Nodes that a network cannot tell apart (nodes of equal Weisfeiler–Lehman colour) are interchangeable: which of them
falls in front of the cut at k is chance. Here they are treated alike, so that a picture shows the model and not chance.
(Not so nodes of different colour to which a layer gives the very same representation, such as zero where all its
rectifiers are off: among those the cut goes by node number.)
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from spgnn_dgl.data.arrays import take
from spgnn_dgl.data.features import CODE
from spgnn_dgl.data.store import GraphDataset
from spgnn_dgl.data.substructures.wl import node_values, wl_colours
from spgnn_dgl.errors import OptionError
from spgnn_dgl.methods.base import GNNMethod, Method
from spgnn_dgl.nn.readout.wlsortpool import Selection
from spgnn_dgl.training import batches


@dataclass(frozen=True, eq=False)
class Pooled:
    """What a model pooled from one graph of n nodes in L layers.

    Parameters
    ----------
    rank
        (L, n) the place of a node in the order of a layer, 0 for the first; -1 where the layer did not keep it.
    importance
        (L, n) what the layer sorts by.
    colour
        (L, n) equal where the layer sees no difference between two nodes.
    """

    rank: np.ndarray
    importance: np.ndarray
    colour: np.ndarray

    @classmethod
    def of(cls, selection: Selection, colour: np.ndarray) -> Pooled:
        """From a model's selection; importance is averaged over nodes that are alike, which removes rounding noise."""
        nodes, importance = selection.nodes.cpu().numpy(), selection.importance.cpu().numpy().astype(np.float64)
        rank = np.full(importance.shape, -1, dtype=np.int64)
        for layer, kept in enumerate(nodes):
            kept = kept[kept >= 0]
            rank[layer, kept] = np.arange(len(kept))
            _, alike = np.unique(colour[layer], return_inverse=True)
            importance[layer] = (np.bincount(alike, importance[layer]) / np.bincount(alike))[alike]
        return cls(rank, importance, colour)

    @property
    def num_layers(self) -> int:
        return self.rank.shape[0]

    @property
    def num_nodes(self) -> int:
        return self.rank.shape[1]

    @cached_property
    def selected(self) -> np.ndarray:
        """(L, n) whether a layer kept a node, or one it cannot tell from it."""
        kept = self.rank >= 0
        return np.stack([np.isin(colour, colour[row]) for colour, row in zip(self.colour, kept)])

    @cached_property
    def count(self) -> np.ndarray:
        """(n,) number of layers that selected the node: the paper's figure ranks by it."""
        return self.selected.sum(axis=0)

    @cached_property
    def total(self) -> np.ndarray:
        """(n,) importance summed over the layers; breaks ties of `count`."""
        return self.importance.sum(axis=0)

    @cached_property
    def score(self) -> np.ndarray:
        """(n,) one number per node, larger is more pooled: 0, 1, 2, … in the order of `count`, then `total`."""
        pairs = np.stack([self.count, self.total], axis=1)
        return np.unique(pairs, axis=0, return_inverse=True)[1].reshape(-1)

    def order(self, rng: np.random.Generator | None = None) -> np.ndarray:
        """(n,) nodes from the most to the least pooled; exact ties by node number, or by chance."""
        tie_break = np.arange(self.num_nodes) if rng is None else rng.permutation(self.num_nodes)
        return np.lexsort((tie_break, -self.score))

    def top(self, top: int) -> np.ndarray:
        """(n,) whether a node is among the first `top`; nodes that tie with the last of them are among them.

        >>> alike = np.zeros((1, 3))
        >>> Pooled(np.array([[0, 1, -1]]), alike, alike).top(1).tolist()
        [True, True, True]
        """
        if top < 1:
            raise OptionError(f"top={top} was given; at least one node must be marked.")
        if top >= self.num_nodes:
            return np.ones(self.num_nodes, dtype=bool)
        return self.score >= self.score[self.order()[top - 1]]


def pooled(method: Method, data: GraphDataset) -> list[Pooled]:
    """What a fitted method pools from each graph.

    Parameters
    ----------
    method
        A network with a sorting readout: spgnn, arch1, arch2 or dgcnn.
    """
    selecting = require_selecting(method)
    selections = selecting.select(data)
    if not selections:
        return []
    colours = layer_colours(selecting, data, len(selections[0].nodes))
    ends = np.cumsum(data.node_counts)[:-1]
    parts = [np.split(colour, ends) for colour in colours]
    return [Pooled.of(selection, np.stack([part[g] for part in parts])) for g, selection in enumerate(selections)]


def require_selecting(method: Method) -> GNNMethod:
    """The method itself when it selects nodes, else an error that names methods that do."""
    readout = getattr(getattr(method, "net", None), "readout", None)
    if not isinstance(method, GNNMethod) or not hasattr(readout, "select"):
        raise OptionError(
            f"{type(method).__name__} pools no single nodes, so there is nothing to explain; "
            "use a model of spgnn, arch1, arch2 or dgcnn."
        )
    return method


def kept_nodes(method: Method) -> int:
    """k: how many nodes each layer keeps."""
    return int(require_selecting(method).net.readout.k)  # type: ignore[arg-type, union-attr]


def layer_depths(method: GNNMethod, num_layers: int) -> tuple[int, ...]:
    """How many steps away each selecting layer sees: layer l of WL-SortPool l, the one of SortPool all."""
    depth = len(method.net.convs)  # type: ignore[arg-type]
    return tuple(range(1, depth + 1)) if num_layers == depth else (depth,) * num_layers


def layer_colours(method: GNNMethod, data: GraphDataset, num_layers: int) -> list[np.ndarray]:
    """(N,) per selecting layer: nodes of equal colour have the same representation there."""
    depths = layer_depths(method, num_layers)
    rounds = wl_colours(input_dataset(method, data), max(depths), labels="labels")
    return [rounds[depth] for depth in depths]


def input_dataset(method: GNNMethod, data: GraphDataset) -> GraphDataset:
    """The graphs with node labels that say exactly what the network is told of a node, and no more.

    Labels that the model has not met are one label, "other"; degrees above the cap are one; attributes make a label
    per distinct row. The label names of equal inputs are equal in the models of all folds.
    """
    encoder = method.policy.encoder(data)
    graphs = (encoder.batch(indices) for indices in batches(len(data), 500))
    code = np.concatenate(
        [g.ndata[CODE].numpy() if CODE in g.ndata else np.zeros(g.num_nodes(), dtype=np.int64) for g in graphs]
    )
    names, symbols = (*(f"={value}" for value in method.policy.vocabulary), "other"), input_names(method, data)
    if "attributes" in method.policy.kind:
        assert data.arrays.node_attributes is not None  # the encoder has seen to it
        rows, alike = np.unique(node_values(data, data.arrays.node_attributes), axis=0, return_inverse=True)
        distinct, code = np.unique(np.stack([code, alike.reshape(-1)]), axis=1, return_inverse=True)
        names = tuple(names[first] + rows[second].tobytes().hex() for first, second in distinct.T)
        symbols = tuple(f"{symbols[first]} attributes {second}".strip() for first, second in distinct.T)
    arrays = dataclasses.replace(
        take(data.arrays, data.members), node_labels=code.reshape(-1).astype(np.int32), node_attributes=None
    )
    return GraphDataset(arrays, dataclasses.replace(data.meta, node_label_names=names, node_symbols=symbols))


def input_names(method: GNNMethod, data: GraphDataset) -> tuple[str, ...]:
    """What to call the codes that the network reads: atom symbols where known, labels, degrees."""
    policy = method.policy
    if policy.kind == "degree":
        capped = {str(policy.degree_cap): f"≥{policy.degree_cap}"} if policy.degree_cap is not None else {}
        return (*(capped.get(degree, degree) for degree in policy.vocabulary), "other")
    if "labels" not in policy.kind:
        return ("node",)
    symbol = dict(zip(data.meta.node_label_names, data.meta.node_symbols or data.meta.node_label_names))
    return (*(symbol.get(label, label) for label in policy.vocabulary), "other")
