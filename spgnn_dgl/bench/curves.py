"""The curves of ``tools/bench.py scale``: time, memory and bytes against the number of graphs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from spgnn_dgl.bench.scale import Measured

TIME, MEMORY = "scale-time.svg", "scale-memory.svg"
BLUE, ORANGE, GREY = "#2a6f97", "#d1662a", "#9aa5ad"


def draw(found: Sequence[Measured], bytes_per_graph: Mapping[str, float], folder: Path) -> list[Path]:
    """Write both pictures into a folder; returns their paths."""
    from matplotlib import rc_context

    folder.mkdir(parents=True, exist_ok=True)
    with rc_context({"svg.hashsalt": "scale", "font.size": 9}):
        figures = {TIME: time_curves(found), MEMORY: memory_curves(found, bytes_per_graph)}
        for name, figure in figures.items():
            figure.savefig(folder / name, metadata={"Date": None})
    return [folder / name for name in figures]


def time_curves(found: Sequence[Measured]) -> Any:
    """Microseconds of one processor per graph, of training and of building."""
    figure, (train, build) = _figure(2)
    graphs = [one.graphs for one in found]
    _curve(train, graphs, [1e6 * one.seconds_per_graph for one in found], BLUE)
    train.set_title("training, processor µs per graph")
    _curve(build, graphs, [1e6 * one.build["busy"] / one.graphs for one in found], ORANGE)
    build.set_title("building, processor µs per graph")
    return figure


def memory_curves(found: Sequence[Measured], bytes_per_graph: Mapping[str, float]) -> Any:
    """Resident memory of both, and bytes per graph on disk beside those of other libraries."""
    figure, (memory, stored) = _figure(2)
    graphs = [one.graphs for one in found]
    train, build = ([getattr(one, what)["anon"] for one in found] for what in ("train", "build"))
    _curve(memory, graphs, train, BLUE, "training", below=[t < b for t, b in zip(train, build)])
    _curve(memory, graphs, build, ORANGE, "building", below=[t >= b for t, b in zip(train, build)])
    memory.set_title("memory of the process (RssAnon), MiB")
    memory.legend(frameon=False, loc="lower right")
    names = list(bytes_per_graph)
    bars = stored.barh(names, list(bytes_per_graph.values()), color=[BLUE, GREY, GREY], height=0.55)
    stored.bar_label(bars, fmt="%.0f", padding=3)
    stored.invert_yaxis()
    stored.set_xlim(0, 1.15 * max(bytes_per_graph.values()))
    stored.set_xticks([])
    stored.spines["bottom"].set_visible(False)
    stored.tick_params(left=False)
    stored.set_title("bytes per graph on disk")
    return figure


def _figure(count: int) -> tuple[Any, Any]:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7.6, 2.6), layout="constrained")
    axes = figure.subplots(1, count)
    for one in axes:
        one.spines[["top", "right"]].set_visible(False)
        one.title.set_fontsize(9)
    return figure, axes


def _curve(
    axes: Any,
    graphs: Sequence[int],
    values: Sequence[float],
    colour: str,
    label: str = "",
    below: Sequence[bool] | None = None,
) -> None:
    """A line over the number of graphs, from zero, so that flat looks flat; every point says its value.

    Parameters
    ----------
    below
        Whether each value is written below its point, where another curve has its value above.
    """
    from matplotlib.patheffects import withStroke

    axes.plot(graphs, values, "o-", color=colour, label=label, markersize=4)
    for i, (x, y) in enumerate(zip(graphs, values)):
        axes.annotate(
            f"{y:.3g}",
            (x, y),
            xytext=(0, -12 if below and below[i] else 6),
            textcoords="offset points",
            ha="center",
            fontsize=8,
            color=colour,
            path_effects=[withStroke(linewidth=3, foreground="white")],  # readable where the line passes
        )
    axes.set_xscale("log")
    axes.set_xticks(graphs, [_short(count) for count in graphs], minor=False)
    axes.set_xticks([], minor=True)
    axes.set_xlabel("graphs")
    axes.set_ylim(0, max(1.3 * max(values), axes.get_ylim()[1]))
    axes.margins(x=0.1)


def _short(count: int) -> str:
    """
    >>> _short(41_127), _short(10_000_000)
    ('41 k', '10 M')
    """
    return f"{count / 1e6:.3g} M" if count >= 1_000_000 else f"{count // 1000} k"
