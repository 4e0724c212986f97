"""The measurements of ``tools/bench.py data`` run, and compare what they say they compare."""

from __future__ import annotations

import sys

import pytest
import torch

from spgnn_dgl._dgl import dgl
from spgnn_dgl.bench.data import _with_edge_list, batches, cached_load, first_load
from spgnn_dgl.bench.memory import memory_of_load
from spgnn_dgl.errors import SpgnnError


def test_batches_are_compared_with_both_ways_of_dgl(tiny):
    ready, indexed = batches(tiny, rounds=2)
    assert ready.theirs.startswith("dgl.batch")
    assert indexed.theirs.startswith("index + dgl.batch")
    assert ready.ratio > 0
    assert indexed.holds is (indexed.ratio >= 3)


def test_the_graph_compared_with_is_the_same_graph(tiny):
    graph = tiny[4][0]
    copy = _with_edge_list(graph)
    assert copy.idtype == torch.int64
    assert [e.tolist() for e in copy.edges()] == [e.tolist() for e in graph.edges()]
    assert torch.equal(copy.ndata["label"], graph.ndata["label"])
    assert dgl.batch([copy]).num_nodes() == graph.num_nodes()


@pytest.mark.real_data
def test_loads_are_timed(real_archive, tmp_path):
    pytest.importorskip("torch_geometric")
    first = first_load(real_archive("MUTAG"), tmp_path, rounds=1)
    assert first.ratio > 0
    assert "PyG" in first.theirs
    cached = cached_load(real_archive("MUTAG"), tmp_path / "cache", rounds=1)
    assert cached.holds


@pytest.mark.real_data
@pytest.mark.skipif(sys.platform != "linux", reason="memory is measured on Linux only")
def test_memory_is_that_of_a_process_of_its_own(real_archive, tmp_path):
    home = real_archive("MUTAG").parent
    memory = memory_of_load("MUTAG", home, tmp_path)
    assert memory["graphs"] == 188
    assert 0 < memory["before"] <= memory["after"] <= memory["peak"] < 2000
    with pytest.raises(SpgnnError, match=r"(?s)loading NOTHING .* failed.*was not found"):
        memory_of_load("NOTHING", home, tmp_path)
