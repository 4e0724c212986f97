"""Rooted subtrees around nodes: what one Weisfeiler–Lehman colour stands for, as a small tree and as text.

After l rounds a node's colour is the tree of all ways of at most l steps from it. Here a way never turns back at once:
the trees with and without turning back determine each other, and the latter are smaller. Equal branches are merged
and counted, so that the hub of a clique is a short text as well.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import maximum_bipartite_matching

from spgnn_dgl.errors import OptionError


class Tree:
    """A node's name and its branches with their multiplicity. Equal trees have equal texts.

    Parameters
    ----------
    name
        Of the root.
    branches
        Trees and how often each occurs.

    Examples
    --------
    >>> str(Tree("N", {Tree("C"): 1, Tree("O"): 2}))
    'N(C, 2×O)'
    """

    __slots__ = ("branches", "name", "text")

    def __init__(self, name: str, branches: Mapping[Tree, int] | None = None):
        self.name = name
        self.text: str
        self.branches = tuple(sorted((branches or {}).items(), key=lambda item: item[0].text))
        inner = ", ".join(f"{times}×{branch.text}" if times > 1 else branch.text for branch, times in self.branches)
        self.text = f"{name}({inner})" if inner else name

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return f"Tree({self.text!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Tree) and self.text == other.text

    def __hash__(self) -> int:
        return hash(self.text)

    @property
    def depth(self) -> int:
        """Steps to the farthest node."""
        return 1 + max(branch.depth for branch, _ in self.branches) if self.branches else 0

    @property
    def width(self) -> int:
        """Leaves, when equal branches are drawn once."""
        return sum(branch.width for branch, _ in self.branches) if self.branches else 1


def unfold(neighbours: Sequence[Sequence[int]], names: Sequence[str], root: int, depth: int) -> Tree:
    """The tree of ways of at most `depth` steps from `root`.

    Parameters
    ----------
    neighbours, names
        Of every node of the graph.

    Examples
    --------
    >>> str(unfold([[1, 2, 3], [0], [0], [0]], "NOOC", 0, 2))
    'N(C, 2×O)'
    >>> str(unfold([[1, 2, 3], [0], [0], [0]], "NOOC", 1, 2))
    'O(N(C, O))'
    """
    known: dict[tuple[int, int, int], Tree] = {}

    def grow(node: int, before: int, left: int) -> Tree:
        key = node, before, left
        if key not in known:
            branches: Counter[Tree] = Counter()
            if left:
                branches.update(grow(next_, node, left - 1) for next_ in neighbours[node] if next_ != before)
            known[key] = Tree(str(names[node]), branches)
        return known[key]

    return grow(root, -1, depth)


def cut(tree: Tree, depth: int) -> Tree:
    """The tree down to a depth, branches that become equal merged."""
    if depth == 0:
        return Tree(tree.name)
    branches: Counter[Tree] = Counter()
    for branch, times in tree.branches:
        branches[cut(branch, depth - 1)] += times
    return Tree(tree.name, branches)


# ---- looking for a group of atoms ------------------------------------------------------------------------------------

_TOKEN = re.compile(r"\s*([^\s(),]+|[(),])")


def parse_query(text: str) -> Tree:
    """A rooted group as a tree: ``"N(O, O)"`` is an N with at least two O around it.

    >>> str(parse_query("O(N(O))"))
    'O(N(O))'
    """
    tokens = _TOKEN.findall(text)
    position = 0

    def mistake() -> OptionError:
        return OptionError(f"'{text}' is not a group that can be looked for; write one like N(O, O) or O(N(O)).")

    def node() -> Tree:
        nonlocal position
        if position >= len(tokens) or tokens[position] in "(),":
            raise mistake()
        name, branches = tokens[position], []
        position += 1
        if position < len(tokens) and tokens[position] == "(":
            while tokens[position] in "(,":
                position += 1
                branches.append(node())
                if position >= len(tokens):
                    raise mistake()
            if tokens[position] != ")":
                raise mistake()
            position += 1
        return Tree(name, Counter(branches))

    tree = node()
    if position != len(tokens) or "".join(tokens) != re.sub(r"\s", "", text):
        raise mistake()
    return tree


def contains(tree: Tree, query: Tree) -> bool:
    """Whether a tree has the root of the query and, for each of the query's branches, a branch of its own.

    >>> nitro = parse_query("N(O, O)")
    >>> contains(parse_query("N(C, O, O)"), nitro), contains(parse_query("N(C, O)"), nitro)
    (True, False)
    """
    if tree.name != query.name:
        return False
    wanted = [branch for branch, times in query.branches for _ in range(times)]
    offered = [branch for branch, times in tree.branches for _ in range(min(times, len(wanted)))]
    if len(offered) < len(wanted):
        return False
    if not wanted:
        return True
    fits = np.array([[contains(branch, need) for branch in offered] for need in wanted])
    return bool((maximum_bipartite_matching(csr_matrix(fits), perm_type="column") >= 0).all())
