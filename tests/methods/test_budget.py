from __future__ import annotations

import time

import pytest

from spgnn_dgl.errors import BudgetExceeded, OptionError
from spgnn_dgl.methods.budget import Deadline, parse_budget


@pytest.mark.parametrize(
    ("given", "seconds"),
    [(None, None), (90, 90), (0.5, 0.5), ("90", 90), ("30m", 1800), ("1.5 h", 5400), ("3D", 259200), ("20s", 20)],
)
def test_budgets_are_read(given: float | str | None, seconds: float | None) -> None:
    assert parse_budget(given) == seconds


@pytest.mark.parametrize("given", ["soon", "", 0, -3, "0m", "3 weeks", True, "nan"])
def test_what_is_no_budget_is_refused(given: float | str) -> None:
    with pytest.raises(OptionError, match="'30m'"):
        parse_budget(given)


def test_a_deadline_ends_work_when_the_time_is_over() -> None:
    deadline = Deadline(0.05, "the kernel")
    deadline.check()
    time.sleep(0.06)
    with pytest.raises(BudgetExceeded, match=r"the kernel is not done after its budget of 0\.05 seconds"):
        deadline.check()
    Deadline(None, "anything").check()
