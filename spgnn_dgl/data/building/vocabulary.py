"""Names that become known one after the other, while codes for them are already written."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from spgnn_dgl.data.arrays import UNKNOWN_CLASS, codes, sortable


@dataclass
class Vocabulary:
    """Names in the order of their first appearance, which is also that of their codes.

    Examples
    --------
    >>> names = Vocabulary()
    >>> names.codes_for(("9", "10")), names.codes_for(("7", "9"))
    (None, array([ 2,  0, -1]))
    >>> names.in_order()
    (('7', '9', '10'), array([ 1,  2,  0, -1], dtype=int32))
    """

    names: list[str] = field(default_factory=list)
    parts: int = 0  # that have been looked at
    same: bool = True  # whether all of them had these names in this order

    def codes_for(self, names: Sequence[str]) -> np.ndarray | None:
        """The code of each of a part's names, and -1 behind them for the code -1; None where codes stay as they are."""
        self.parts += 1
        if self.parts == 1:
            self.names = list(names)
            return None
        if list(names) == self.names:
            return None
        self.same = False
        code_of = {name: code for code, name in enumerate(self.names)}
        table = [code_of.setdefault(name, len(code_of)) for name in names]
        self.names = list(code_of)
        return np.array([*table, UNKNOWN_CLASS])

    def in_order(self) -> tuple[tuple[str, ...], np.ndarray | None]:
        """The names as a dataset has them, and the final code for each code, as in :meth:`codes_for`.

        Names that all parts share keep their order; others are sorted as :func:`spgnn_dgl.data.arrays.codes` sorts.
        """
        if self.same or not self.names:
            return tuple(self.names), None
        table, names = codes(sortable(self.names))
        if np.array_equal(table, np.arange(len(names))):
            return names, None
        return names, np.append(table, np.int32(UNKNOWN_CLASS))
