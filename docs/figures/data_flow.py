"""The picture of the architecture page: ``python docs/figures/data_flow.py`` writes ``data_flow.svg`` beside it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from matplotlib import rc_context
from matplotlib.figure import Figure
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch

INK, PALE, LINE = "#1b1b1b", "#5b6166", "#8d979e"
DATA, NET, METHOD, RUN, OUT = "#e3f0f9", "#fff3c4", "#f9e2d9", "#e4f2e4", "#eceff1"


@dataclass(frozen=True)
class Box:
    """A rounded box with a title and a line or two below it; `x`, `y` are its lower left corner."""

    x: float
    y: float
    width: float
    height: float
    title: str
    text: str
    colour: str

    def draw(self, axes) -> None:  # type: ignore[no-untyped-def]
        shape = FancyBboxPatch(
            (self.x, self.y),
            self.width,
            self.height,
            boxstyle="round,pad=0,rounding_size=0.08",
            facecolor=self.colour,
            edgecolor=LINE,
            linewidth=0.8,
        )
        axes.add_patch(shape)
        middle = self.x + self.width / 2
        axes.text(middle, self.y + self.height - 0.14, self.title, ha="center", va="top", fontsize=10, weight="bold")
        axes.text(middle, self.y + self.height - 0.42, self.text, ha="center", va="top", fontsize=8.5, color=PALE)

    def edge(self, side: str) -> tuple[float, float]:
        return {
            "left": (self.x, self.y + self.height / 2),
            "right": (self.x + self.width, self.y + self.height / 2),
            "top": (self.x + self.width / 2, self.y + self.height),
            "bottom": (self.x + self.width / 2, self.y),
        }[side]


def arrow(axes, start, end, text: str = "", at=(0.0, 0.08)) -> None:  # type: ignore[no-untyped-def]
    axes.add_patch(FancyArrowPatch(start, end, arrowstyle="-|>", mutation_scale=9, color=INK, linewidth=0.9))
    middle = ((start[0] + end[0]) / 2 + at[0], (start[1] + end[1]) / 2 + at[1])
    axes.text(*middle, text, ha="center", va="bottom", fontsize=7.5, color=PALE, style="italic")


COLUMNS = (0.15, 2.95, 5.75, 8.55)
ROWS = (3.55, 1.9, 0.25)
WIDTH, HEIGHT = 2.1, 1.05


def draw() -> Figure:
    width, height = COLUMNS[-1] + WIDTH + 0.15, ROWS[0] + HEIGHT + 0.3
    figure = Figure(figsize=(width, height))
    axes = figure.add_axes((0, 0, 1, 1), xlim=(0, width), ylim=(0, height))
    axes.set_axis_off()

    def box(column: int, row: int, title: str, text: str, colour: str) -> Box:
        made = Box(COLUMNS[column], ROWS[row], WIDTH, HEIGHT, title, text, colour)
        made.draw(axes)
        return made

    sources = box(0, 0, "sources", "TU, DGCNN text, CSV,\nany DGLDataset,\nnetworkx graphs", DATA)
    store = box(1, 0, "GraphDataset", "flat arrays, mapped\nfrom disk; a subset\nis a view", DATA)
    policy = box(2, 0, "FeaturePolicy", "fitted on training graphs:\nlabels, degrees\nor attributes", DATA)
    batch = box(3, 0, "batch", "one batched DGLGraph,\nits nodes encoded", DATA)
    convs = box(3, 1, "convs", "Z¹ … Zᴸ\neach (N, d)", NET)
    readout = box(2, 1, "readout", "all layers →\n(B, k, D) or (B, D)", NET)
    head = box(1, 1, "head", "→ scores (B, C)", NET)
    method = box(0, 1, "method", "fit, predict_proba:\nnetwork, embedding,\nkernel or floor", METHOD)
    protocol = box(0, 2, "protocol", "folds × repeats ×\ncandidates = trainings", RUN)
    folder = box(1, 2, "run folder", "a file per training,\nwritten whole; resumes;\nmodels of the folds", RUN)
    views = box(2, 2, "views", "report, compare,\ndraw, patterns,\nfaithfulness, page", OUT)
    use = box(3, 2, "use", "fit: one model file;\npredict: new graphs\n→ CSV", OUT)

    arrow(axes, sources.edge("right"), store.edge("left"), "read")
    arrow(axes, store.edge("right"), policy.edge("left"), "train")
    arrow(axes, policy.edge("right"), batch.edge("left"), "encode")
    arrow(axes, batch.edge("bottom"), convs.edge("top"))
    arrow(axes, convs.edge("left"), readout.edge("right"), "all layers")
    arrow(axes, readout.edge("left"), head.edge("right"), "Z_G")
    arrow(axes, head.edge("left"), method.edge("right"), "GraphNet")
    arrow(axes, method.edge("bottom"), protocol.edge("top"), "evaluated by", at=(0.5, -0.06))
    arrow(axes, protocol.edge("right"), folder.edge("left"), "joblib")
    arrow(axes, folder.edge("right"), views.edge("left"))
    start, end = folder.edge("top"), use.edge("top")
    over = ROWS[2] + HEIGHT + 0.22
    axes.plot([start[0], start[0], end[0]], [start[1], over, over], color=INK, linewidth=0.9)
    arrow(axes, (end[0], over), end)
    above, below = HEIGHT + 0.05, -0.16
    for y, text in (
        (ROWS[0] + above, "spgnn_dgl.data"),
        (ROWS[1] + above, "spgnn_dgl.nn, .methods"),
        (ROWS[2] + below, "spgnn_dgl.evaluation, .runs, .report, .explain, .visual, .fitting, .predicting"),
    ):
        axes.text(COLUMNS[0], y, text, fontsize=7, color=PALE, family="monospace")
    return figure


if __name__ == "__main__":
    place = Path(__file__).with_suffix(".svg")
    with rc_context({"svg.fonttype": "path", "svg.hashsalt": "spgnn_dgl", "font.family": "DejaVu Sans"}):
        draw().savefig(place, facecolor="white", metadata={"Date": None})
    print(place)
