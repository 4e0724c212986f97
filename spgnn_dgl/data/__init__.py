"""What goes in: datasets as flat arrays, their formats, names and features."""

from __future__ import annotations

from spgnn_dgl.data.arrays import DatasetMeta, GraphArrays, assemble
from spgnn_dgl.data.benchmarks import BENCHMARKS, find_benchmark, paper_datasets
from spgnn_dgl.data.catalogue import DATASETS, data_home
from spgnn_dgl.data.features import FeaturePolicy
from spgnn_dgl.data.load import known_datasets, load_dataset
from spgnn_dgl.data.readers.csv_folder import from_csv_folder
from spgnn_dgl.data.readers.formats import read_dataset
from spgnn_dgl.data.readers.graphs import as_dataset, from_graphs
from spgnn_dgl.data.saved import open_store, save_store
from spgnn_dgl.data.store import DatasetInfo, GraphDataset

__all__ = [
    "BENCHMARKS",
    "DATASETS",
    "DatasetInfo",
    "DatasetMeta",
    "FeaturePolicy",
    "GraphArrays",
    "GraphDataset",
    "as_dataset",
    "assemble",
    "data_home",
    "find_benchmark",
    "from_csv_folder",
    "from_graphs",
    "known_datasets",
    "load_dataset",
    "open_store",
    "paper_datasets",
    "read_dataset",
    "save_store",
]
