"""Pooling by score: which nodes of each graph stay."""

from __future__ import annotations

import abc
from typing import Any

import torch
from torch import Tensor, nn

from spgnn_dgl.errors import OptionError
from spgnn_dgl.nn.ops import descending_order, segment_ids, segment_starts

TIES = ("keep", "cut")
TOLERANCE = 1e-5  # scores this near count as equal: another summation order moves them by less


def top_nodes(score: Tensor, rows: Tensor, sizes: Tensor, ratio: float, ties: str = "keep") -> Tensor:
    r"""The nodes of the :math:`\lceil \text{ratio} \cdot n \rceil` largest scores of every graph.

    Nodes that a network cannot tell apart have the same score, and a cut through such a group has to take some of
    them by node number: on a ring of four, two neighbours in one numbering and two opposite nodes in another, which
    are different subgraphs. With ``ties="keep"`` the cut never goes through a group, all nodes with the score of the
    last one stay; what comes after depends on the graph alone. ``ties="cut"`` keeps the exact number, as the original
    methods do; only ties between nodes of different representation are decided without regard to their numbers.

    Parameters
    ----------
    score
        (N,) of all nodes, graph after graph.
    rows
        (N, d) node representations, which decide ties where they are cut.
    sizes
        (B,) nodes per graph.
    ratio
        Share to keep, above 0 and at most 1.
    ties
        ``"keep"`` or ``"cut"``.

    Returns
    -------
    Tensor
        (N,) bool.

    Examples
    --------
    >>> score = torch.tensor([0.1, 0.9, 0.5, 0.5, 2.0])
    >>> top_nodes(score, score.unsqueeze(1), torch.tensor([4, 1]), 0.5).tolist()
    [False, True, True, True, True]
    """
    order = descending_order(rows, score, sizes)
    graphs, starts = segment_ids(sizes), segment_starts(sizes)
    wanted = (ratio * sizes.double() - 1e-9).ceil().long()  # (B,) 1e-9: 0.55 · 100 is above 55 in floating point
    if ties == "keep":
        score = score.detach()
        last = score[order[starts + wanted - 1]]  # (B,)
        return score >= (last - TOLERANCE * (1 + last.abs()))[graphs]
    rank = torch.arange(len(score), device=score.device) - starts[graphs]
    keep = torch.zeros_like(score, dtype=torch.bool)
    keep[order[rank < wanted[graphs]]] = True
    return keep


def check_pooling(ratio: float, ties: str) -> None:
    """Refuse a share or a treatment of ties that cannot be."""
    if not 0 < ratio <= 1:
        raise OptionError(f"ratio={ratio} was given; it is the share of nodes kept, above 0 and at most 1.")
    if ties not in TIES:
        raise OptionError(f"ties={ties!r} was given; known: {', '.join(TIES)}.")


class NodePool(nn.Module, abc.ABC):
    """Keeps the best nodes of every graph: ``pool(graph, Z) -> (smaller graph, Z')``.

    Parameters
    ----------
    ratio
        Share of the nodes to keep in each graph.
    ties
        What happens at the cut; see :func:`top_nodes`.

    Shape
    -----
    graph with N nodes, Z (N, d) → graph with N' nodes, (N', d)
    """

    def __init__(self, ratio: float, ties: str = "keep"):
        super().__init__()
        check_pooling(ratio, ties)
        self.ratio, self.ties = ratio, ties

    def kept(self, graph: Any, Z: Tensor, score: Tensor) -> Tensor:
        """(N,) bool: the nodes that stay."""
        return top_nodes(score, Z, graph.batch_num_nodes(), self.ratio, self.ties)

    @abc.abstractmethod
    def forward(self, graph: Any, Z: Tensor) -> tuple[Any, Tensor]:
        """The coarser batch and its node representations."""
