"""An audit in words: what is worth saying of it, and nothing where nothing is."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from spgnn_dgl.data.audit.report import AuditReport

# From where on a reader should know; none of these is science.
CEILING_LIMIT, ACROSS_LIMIT, MAJORITY_LIMIT, ORDER_LIMIT = 0.99, 0.05, 0.8, 1e-3

WORDS = {
    "labels": "node labels",
    "degree": "degrees as labels",
    "attributes": "node attributes",
    "labels+attributes": "node labels and attributes",
    "constant": "nodes without description",
}
"""Features in the middle of a sentence."""


@dataclass(frozen=True)
class Finding:
    """Something a reader should know; `before_training` when it bears on what a training will show."""

    name: str
    text: str
    before_training: bool = False


def findings(report: AuditReport) -> list[Finding]:
    """What a reader should know of a dataset, the weightiest first; empty when there is nothing to say."""
    return [finding for find in _FINDERS for finding in find(report)]


def percent(share: float) -> str:
    """A share as it stands in the literature.

    >>> percent(0.632667)
    '63.3 %'
    """
    return f"{100 * share:.1f} %"


def _unreadable(report: AuditReport) -> Iterator[Finding]:
    if report.unreadable:
        listed = "".join(f"\n  {row}" for row in report.unreadable)
        yield Finding(
            "unreadable", f"rows that could not be read and are not in the dataset ({len(report.unreadable)}):{listed}"
        )


def _ceiling(report: AuditReport) -> Iterator[Finding]:
    best, deeper, last = report.ceiling, report.refined.ceiling, report.by_depth[-1]
    if best is None or deeper is None or best >= CEILING_LIMIT:
        return
    more = f" (with any number of rounds: {percent(deeper)})" if deeper > best else ""
    yield Finding(
        "ceiling",
        f"no network of {report.layers} rounds of message passing can be right on more than {percent(best)} of these "
        f"graphs with {WORDS[report.features]}{more}: {last.with_twin} of {report.graphs} have a twin that it cannot "
        f"tell apart, {last.contradicting} of them one of another class",
        True,
    )


def _across(report: AuditReport) -> Iterator[Finding]:
    found = report.across
    if found is not None and found.with_twin > ACROSS_LIMIT * found.tested:
        yield Finding(
            "twins-across-folds",
            f"{percent(found.with_twin / found.tested)} of the tested graphs have a twin in the training part of their "
            f"fold, and {percent(found.recalled / found.tested)} are right by recalling it; folds that keep twins "
            "together: --group-twins",
            True,
        )


def _majority(report: AuditReport) -> Iterator[Finding]:
    if report.majority is not None and report.majority >= MAJORITY_LIMIT:
        name = max(report.classes, key=lambda c: report.classes[c])
        yield Finding(
            "majority",
            f"always saying '{name}' is right on {percent(report.majority)}: accuracy says little here, balanced "
            "accuracy says more",
            True,
        )


def _order(report: AuditReport) -> Iterator[Finding]:
    order = report.order
    if order is not None and order.p < ORDER_LIMIT:
        how = "stand together" if order.score < 0 else "take turns"
        yield Finding(
            "order",
            f"the classes {how} along the dataset ({order.runs} runs, {order.expected:.0f} expected by chance): "
            "shuffle before any split by position (the folds here are shuffled)",
        )


def _isomorphism(report: AuditReport) -> Iterator[Finding]:
    if report.undecided:
        yield Finding("undecided", f"whether {report.undecided} graphs are isomorphic to others took too long to say")
    elif report.exact is not None and report.exact.distinct > report.refined.distinct:
        yield Finding(
            "not-isomorphic",
            f"{report.exact.distinct} graphs are different, but message passing tells {report.refined.distinct} apart",
        )


def _structure(report: AuditReport) -> Iterator[Finding]:
    if report.isolated_nodes:
        yield Finding("isolated", f"{report.isolated_nodes} nodes have no edge: no message reaches them")
    mended = [f"{count} {what.replace('_', ' ')}" for what, count in report.mended.items() if count]
    if mended:
        yield Finding("mended", f"mended while reading: {', '.join(mended)}")
    if report.rare is not None and report.rare.in_one_graph:
        yield Finding(
            "rare-values",
            f"{len(report.rare.in_one_graph)} of {report.rare.distinct} {report.rare.what}s occur in one graph only: "
            "when it is tested, the model has never seen them",
        )


_FINDERS = (_unreadable, _ceiling, _across, _majority, _order, _isomorphism, _structure)
