"""The paper's figure: SPGNN with three layers and k = 10 on IMDB-MULTI, drawn on graphs it was not trained on."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from spgnn_dgl.data.folds import stratified_folds
from spgnn_dgl.data.load import load_dataset
from spgnn_dgl.estimator import GraphClassifier
from spgnn_dgl.explain.choice import communities_and_complete
from spgnn_dgl.explain.subject import Part, Subject
from spgnn_dgl.visual.pooled import PooledStyle, draw_pooled
from spgnn_dgl.visual.style import check_picture_path, save_figure

LAYERS, K = 3, 10
CASES = (2, 2)  # graphs with communities, and complete graphs, per class


@dataclass(frozen=True)
class PaperFigure:
    """The picture, the model behind it, and how well that does on the tenth of the graphs that was held out."""

    picture: Path
    model: Path
    accuracy: float
    held_out: int
    rows: list[list[int]]


def paper_figure(
    out: str | Path = "figure.pdf",
    *,
    dataset: str | Path = "IMDB-MULTI",
    epochs: int = 100,
    top: int = 10,
    seed: int = 0,
) -> PaperFigure:
    """Train on nine tenths of the graphs and draw some of the rest: with communities, and complete ones.

    Parameters
    ----------
    out
        The picture; the model is written beside it.
    """
    out = check_picture_path(out)
    data = load_dataset(dataset)
    fold = stratified_folds(data.labels, 10, seed)[0]
    classifier = GraphClassifier("spgnn", layers=LAYERS, k=K, epochs=epochs, seed=seed).fit(data.subset(fold.train))
    parts = (Part(classifier.method_, np.asarray(fold.test)),)
    subject = Subject(f"spgnn on {data.name}", data, parts, classifier.class_names_, held_out=True)
    rows = communities_and_complete(subject, *CASES)
    picture = save_figure(draw_pooled(subject, rows, PooledStyle(top=top, seed=seed)), out)
    model = classifier.save(out.with_suffix(".safetensors"))
    accuracy = float((subject.probabilities().argmax(axis=1) == subject.labels).mean())
    return PaperFigure(picture, model, accuracy, len(fold.test), rows)
