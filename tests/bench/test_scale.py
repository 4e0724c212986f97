"""The measurements of ``tools/bench.py scale``: graphs are what they are said to be, rows tell what was measured."""

from __future__ import annotations

import sys

import networkx
import numpy as np
import pytest

from spgnn_dgl.bench import molecules as generated
from spgnn_dgl.bench import scale
from spgnn_dgl.bench.curves import MEMORY, TIME, draw
from spgnn_dgl.bench.molecules import molecules
from spgnn_dgl.bench.scale import Measured, build_row, fitting_sizes, growth_rows
from spgnn_dgl.data.load import load_dataset
from spgnn_dgl.errors import SpgnnError

linux = pytest.mark.skipif(sys.platform != "linux", reason="memory is measured on Linux only")


def test_generated_molecules_look_like_molecules():
    (part,) = molecules(2000)
    assert part.node_counts.mean() == pytest.approx(25, rel=0.02)
    assert part.edge_counts.mean() == pytest.approx(54, rel=0.02)
    assert len(np.unique(part.arrays.node_labels)) == 10
    assert 0.3 < part.labels.mean() < 0.7
    for i in range(0, 2000, 100):
        graph = networkx.Graph(list(zip(*(ends.tolist() for ends in part[i][0].edges()))))
        assert networkx.is_connected(graph)
        assert graph.number_of_nodes() == part.node_counts[i]
        assert 2 * graph.number_of_edges() == part.edge_counts[i]  # none is doubled, none is a loop
        assert len(networkx.cycle_basis(graph)) == 3


def test_they_come_in_blocks_and_by_a_seed(monkeypatch):
    monkeypatch.setattr(generated, "BLOCK", 100)
    assert [len(part) for part in molecules(250)] == [100, 100, 50]
    first, second, _ = (part.fingerprint for part in molecules(250))
    assert first != second
    assert [part.fingerprint for part in molecules(200)] == [first, second]
    assert next(molecules(250, seed=1)).fingerprint != first


def test_sizes_without_room_are_named():
    fitting, refused = fitting_sizes([1000, 10**9], free=50 * 10**9)
    assert fitting == [1000]
    assert refused[0].holds is False
    assert "460.0 GB, 50.0 GB are free" in refused[0].ours
    with pytest.raises(SpgnnError, match="--scratch"):
        fitting_sizes([10**9], free=10**9)


def measured(graphs: int, anon: float, per_graph: float) -> Measured:
    build = {"seconds": 2.0, "busy": 1.0, "bytes": 440.0 * graphs, "anon": anon, "rss": 2 * anon}
    return Measured(graphs, build, {"start": 1.0, "anon": anon, "rss": anon, "predict_anon": anon}, per_graph)


def test_growth_is_told():
    small, same, larger = measured(1000, 300, 1e-4), measured(10_000, 310, 1.1e-4), measured(10_000, 400, 1.3e-4)
    assert build_row(same, small).holds
    assert not build_row(larger, small).holds
    assert "440 bytes per graph" in build_row(same, small).what
    assert [row.holds for row in growth_rows(same, small)] == [True, True, True]
    assert [row.holds for row in growth_rows(larger, small)] == [False, False, False]
    assert "+30 %" in next(growth_rows(larger, small)).what


def test_curves_are_drawn(tmp_path):
    found = [measured(41_127, 300, 1e-4), measured(10_000_000, 310, 1.1e-4)]
    paths = draw(found, {"ours": 440.0, "PyG": 1096.0, "DGL": 1853.0}, tmp_path)
    assert [path.name for path in paths] == [TIME, MEMORY]
    before = paths[0].read_bytes()
    assert draw(found, {"ours": 440.0, "PyG": 1.0, "DGL": 2.0}, tmp_path)[0].read_bytes() == before


@linux
@pytest.mark.slow
def test_a_store_is_built_and_trained_on_in_processes_of_their_own(tmp_path):
    built = scale.in_own_process("build", tmp_path / "300", 300)
    assert built["bytes"] / 300 == pytest.approx(460, rel=0.1)
    assert 0 < built["anon"] <= built["rss"]
    assert len(load_dataset(tmp_path / "300")) == 300
    trained = scale.train(tmp_path / "300", 2)
    assert trained["per_graph"] > 0
    assert 0 < trained["anon"] <= trained["rss"]


@linux
def test_text_of_graphs_is_converted_to_the_same_graphs(tmp_path):
    scale.write(tmp_path / "text_tu", 120)
    found = scale.convert(tmp_path / "text", 120)
    assert 0 < found["anon"] <= found["rss"]
    assert found["seconds"] > 0
    (part,) = molecules(120)
    data = load_dataset(tmp_path / "text")
    assert data.labels.tolist() == part.labels.tolist()
    assert [sorted(zip(*(e.tolist() for e in data[i][0].edges()))) for i in range(120)] == [
        sorted(zip(*(e.tolist() for e in part[i][0].edges()))) for i in range(120)
    ]


def test_memory_that_grows_with_the_text_is_told():
    first, same, more = ({"anon": anon, "rss": 2 * anon, "seconds": 1.0} for anon in (300.0, 310.0, 400.0))
    assert [row.holds for row in scale.text_rows({100: first, 400: same})] == [None, True]
    assert [row.holds for row in scale.text_rows({100: first, 400: more})] == [None, False]


def test_other_libraries_store_the_same_graphs(tmp_path):
    pytest.importorskip("torch_geometric")
    found = scale.stored_bytes(tmp_path, 60)
    assert found.keys() == {"ours", "PyG", "DGL"}
    from spgnn_dgl._dgl import dgl

    graphs, labels = dgl.load_graphs(str(tmp_path / "dgl.bin"))
    (part,) = molecules(60)
    assert labels["label"].tolist() == part.labels.tolist()
    assert [g.num_edges() for g in graphs] == part.edge_counts.tolist()
