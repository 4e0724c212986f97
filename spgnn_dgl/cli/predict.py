"""``spgnn predict``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from spgnn_dgl.cli.app import app


@app.command()
def predict(
    model: Annotated[Path, typer.Argument(help="A model file, or a run folder for the ensemble of its folds.")],
    data: Annotated[str, typer.Argument(help="Name or path of the graphs; classes are optional.")],
    out: Annotated[Path, typer.Option(help="The CSV file to write.")] = Path("predictions.csv"),
) -> None:
    """Predict classes of new graphs; says per graph what makes the prediction doubtful."""
    from spgnn_dgl.data.load import load_dataset
    from spgnn_dgl.predicting import load_predictor, write_predictions

    predictor = load_predictor(model)
    graphs = load_dataset(data, require_classes=False)
    told = write_predictions(out, predictor.predict(graphs), predictor.class_names)
    models = "one model" if len(predictor.members) == 1 else f"an ensemble of {len(predictor.members)} models"
    typer.echo(f"{told['graphs']} graphs predicted by {models}")
    if told["known"]:
        typer.echo(f"accuracy on the {told['known']} graphs of known class: {told['correct'] / told['known']:.2%}")
    if graphs.fingerprint in predictor.fingerprints:
        typer.echo("these are graphs that the models were trained on: the accuracy is no estimate for new ones")
    for key, what in (("unseen", "node labels or degrees"), ("odd_sizes", "a size")):
        if told[key]:
            typer.echo(f"{told[key]} graphs have {what} that training never saw")
    typer.echo(f"predictions: {out}")
