"""Time budgets: how long a method may compute before it is given up as ``timeout``."""

from __future__ import annotations

import re
import time

from spgnn_dgl.errors import BudgetExceeded, OptionError

UNITS = {"": 1.0, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}


def parse_budget(budget: float | str | None) -> float | None:
    """Seconds of a budget such as ``90``, ``"90"``, ``"30m"``, ``"1.5h"`` or ``"3d"``; None stays None: no limit.

    >>> parse_budget("30m")
    1800.0
    """
    if budget is None:
        return None
    if isinstance(budget, str):
        match = re.fullmatch(r"\s*(\d+\.?\d*|\.\d+)\s*([smhd]?)\s*", budget.lower())
        seconds = float(match[1]) * UNITS[match[2]] if match else 0.0
    else:
        seconds = float(budget)
    if not seconds > 0 or isinstance(budget, bool):
        raise OptionError(f"budget={budget!r} was given; a budget is a time such as 90 (seconds), '30m', '2h' or '3d'.")
    return seconds


class Deadline:
    """The moment a budget is used up. Work that may be long calls :meth:`check` between its pieces.

    Parameters
    ----------
    budget
        As for :func:`parse_budget`, counted from now.
    work
        What is computed, for the message.
    """

    def __init__(self, budget: float | str | None, work: str):
        self.seconds = parse_budget(budget)
        self.work = work
        self._start = time.monotonic()

    def check(self) -> None:
        """Raise :class:`~spgnn_dgl.errors.BudgetExceeded` when the time is over."""
        if self.seconds is not None and time.monotonic() - self._start > self.seconds:
            raise BudgetExceeded(
                f"{self.work} is not done after its budget of {self.seconds:g} seconds. "
                "Give it more (budget='3d'), or choose a faster method, such as wl."
            )
