"""The demonstration behind ``make demo``: train on generated graphs, and check the picture against the truth."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from spgnn_dgl.data.builtin import MOTIF_NODES, motifs
from spgnn_dgl.data.saved import save_store
from spgnn_dgl.data.substructures.wl import node_values
from spgnn_dgl.evaluation.progress import Progress
from spgnn_dgl.experiment import Run, RunConfig, run
from spgnn_dgl.explain.choice import graphs_per_class
from spgnn_dgl.explain.subject import Subject, open_subject
from spgnn_dgl.visual.pooled import PooledStyle, draw_pooled
from spgnn_dgl.visual.style import save_figure

NODES = 40  # per graph on average: k = 10 must choose among them
OPTIONS = {"layers": 4, "k": 10, "lr": 1e-3}
FOLDS, EPOCHS = 3, 60


@dataclass(frozen=True)
class Demo:
    """What the demonstration found."""

    run: Run
    accuracy: float  # on graphs that the models were not trained on
    picture: Path
    data: Path  # the generated graphs, for other commands
    marked: int  # nodes that the model pools most, in all graphs
    in_motif: int  # those of them that lie in the planted motif
    chance: float  # share of all nodes that do


def demonstrate(
    out: str | Path = "runs/demo",
    *,
    num_graphs: int = 300,
    epochs: int = EPOCHS,
    seed: int = 0,
    progress: Progress | None = None,
) -> Demo:
    """Train SPGNN on MOTIFS with graphs of 40 nodes, draw what it pools, and count how much of that is the motif.

    Parameters
    ----------
    out
        Folder for the run, the picture and the graphs.
    num_graphs, epochs
        Smaller numbers make a quicker and poorer demonstration.
    seed
        Of folds and training; the graphs are always the same.
    """
    data = motifs(num_graphs=num_graphs, nodes=NODES)  # type: ignore[call-arg]
    store = save_store(Path(out) / "graphs", data)
    config = RunConfig(data, "spgnn", options=OPTIONS, folds=FOLDS, epochs=(epochs,), seed=seed, preset=False, out=out)
    result = run(config, progress)
    subject = open_subject(result.path, data)
    accuracy = float((subject.probabilities().argmax(axis=1) == subject.labels).mean())
    style = PooledStyle(top=MOTIF_NODES, truth=True, title="SPGNN on MOTIFS: most pooled nodes, planted motif ringed")
    figure = draw_pooled(subject, graphs_per_class(subject, 4), style)
    picture = save_figure(figure, Path(out) / "motifs.png")
    return Demo(result, accuracy, picture, store, *in_truth(subject, MOTIF_NODES))


def in_truth(subject: Subject, top: int) -> tuple[int, int, float]:
    """How many nodes are among the first `top` of their graph, how many of them are true, and the share of true nodes.

    Nodes that tie with the last of the first `top` are among them.
    """
    data = subject.explained
    assert data.arrays.truth is not None
    truth = node_values(data, data.arrays.truth)
    marked = np.concatenate([pooled.top(top) for pooled in subject.pooled()])
    return int(marked.sum()), int((marked & truth).sum()), float(truth.mean())
