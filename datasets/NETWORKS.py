"""NETWORKS: three kinds of random network, told apart by how they grew. A worked example of a dataset of one's own.

* ``random``: every pair of nodes is joined with the same chance (Erdős and Rényi).
* ``small world``: a ring of neighbours, some of whose edges are moved anywhere (Watts and Strogatz).
* ``scale free``: new nodes prefer nodes that have many edges already (Barabási and Albert).

All have about the same number of nodes and edges: counting does not tell them apart, structure does.

    spgnn train NETWORKS

A file in the data home needs nothing but a function ``load()`` that returns graphs and their classes: any
``DGLDataset`` as here, a list of pairs (graph, class), or the two lists ``graphs, classes``, with DGL or networkx
graphs. The same file is a plugin because of the line with ``register``; then it may lie anywhere:

    spgnn --plugin path/to/NETWORKS.py train NETWORKS
"""

import dgl
import networkx as nx
import numpy as np

import spgnn_dgl as sp

NEIGHBOURS = 4  # of a node, on average
GROWN = {
    "random": lambda n, seed: nx.gnm_random_graph(n, n * NEIGHBOURS // 2, seed=seed),
    "small world": lambda n, seed: nx.watts_strogatz_graph(n, NEIGHBOURS, 0.2, seed=seed),
    "scale free": lambda n, seed: nx.barabasi_albert_graph(n, NEIGHBOURS // 2, seed=seed),
}


@sp.DATASETS.register("NETWORKS")
class Networks(dgl.data.DGLDataset):
    """Random networks of 20 to 40 nodes; nodes carry no labels, so that their degrees are used.

    Parameters
    ----------
    per_class
        Networks of each kind.
    seed
        Equal seeds give equal datasets.
    """

    def __init__(self, per_class=50, seed=0):
        self.per_class, self.seed = per_class, seed
        super().__init__(name="NETWORKS", raw_dir=".")  # nothing is downloaded or kept

    def process(self):
        """Called by DGL once; a set that is read from files is read here."""
        rng = np.random.default_rng(self.seed)
        self.graphs, self.labels = [], []
        for _ in range(self.per_class):
            for kind, grow in GROWN.items():
                network = grow(int(rng.integers(20, 41)), int(rng.integers(2**31)))
                self.graphs.append(dgl.from_networkx(network))
                self.labels.append(kind)

    def __len__(self):
        return len(self.graphs)

    def __getitem__(self, i):
        return self.graphs[i], self.labels[i]


def load():
    """What `spgnn` calls when the file lies in the data home."""
    return Networks()
