"""Records of units as a test wants them."""

from __future__ import annotations

import json

from spgnn_dgl.evaluation.units import FINAL


def record(repeat, fold, accuracies, *, stage=FINAL, candidate=0, options=None, losses=None, status="done"):
    """A unit's record in which `accuracies` (epoch → share of four graphs) are right."""
    labels = [0, 1, 0, 1]
    probabilities = {}
    for epoch, accuracy in accuracies.items():
        right = round(4 * accuracy)
        probabilities[str(epoch)] = [
            [1.0 - (label == 1) * 1.0, (label == 1) * 1.0] if i < right else [(label == 1) * 1.0, (label == 0) * 1.0]
            for i, label in enumerate(labels)
        ]
    return {
        "stage": stage,
        "repeat": repeat,
        "fold": fold,
        "candidate": candidate,
        "options": options or {},
        "labels": labels,
        "probabilities": probabilities,
        "losses": {str(e): 1.0 for e in accuracies} if losses is None else losses,
        "status": status,
    }


def without_times(record):
    """A record as text, to compare two trainings to the last bit."""
    kept = {k: v for k, v in record.items() if k != "seconds"}
    return json.dumps({**kept, "history": [{**line, "seconds": 0} for line in kept.get("history", [])]})
