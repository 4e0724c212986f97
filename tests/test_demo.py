"""The demonstration, smaller: it trains, draws, and counts what it says it counts."""

from __future__ import annotations

import numpy as np
import pytest

from spgnn_dgl.cli import main
from spgnn_dgl.demo import demonstrate, in_truth
from spgnn_dgl.explain.subject import open_subject
from tests.explained import motif_data, motif_subject, written_subject


def test_it_trains_draws_and_counts(tmp_path):
    found = demonstrate(tmp_path, num_graphs=30, epochs=2)
    assert found.run.results["status"] == "complete"
    assert found.picture.stat().st_size > 20_000
    assert len(open_subject(found.run.path, found.data).graphs) == 30
    assert found.marked >= 30 * 6
    assert 0 <= found.in_motif <= found.marked
    assert found.chance == pytest.approx(6 / 40, abs=0.02)


def test_counting_is_that_of_plain_loops():
    subject = motif_subject()
    marked = hits = 0
    for pooled, (graph, _) in zip(subject.pooled(), subject.explained):
        for node in np.flatnonzero(pooled.top(6)):
            marked += 1
            hits += bool(graph.ndata["truth"][node])
    assert in_truth(subject, 6)[:2] == (marked, hits)


def test_a_model_that_pools_the_motif_hits_it():
    data = motif_data()
    subject = written_subject(data, lambda g: np.tile(g.ndata["truth"].float().numpy(), (4, 1)), k=6)
    marked, hits, chance = in_truth(subject, 6)
    assert hits / marked > 0.9 > chance


def test_the_command_says_what_was_found(tmp_path, capsys, monkeypatch):
    def smaller(out, seed, progress):
        return demonstrate(out, num_graphs=30, epochs=1, seed=seed, progress=progress)

    monkeypatch.setattr("spgnn_dgl.demo.demonstrate", smaller)
    with pytest.raises(SystemExit) as end:
        main(["demo", "--out", str(tmp_path)])
    assert not end.value.code
    text = capsys.readouterr().out
    assert "held-out accuracy: " in text
    assert "lie in the planted motif" in text
    assert "report.md" in text
