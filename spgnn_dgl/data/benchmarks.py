"""The benchmark datasets as data: names, where they come from, what was counted and what the paper prints.

Counts are of the public files, after doubled edges and self-loops are dropped; an undirected edge counts once. The
printed numbers are those of the two tables in the paper's supplement.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from spgnn_dgl.data.arrays import DatasetMeta
from spgnn_dgl.data.catalogue import normal_name
from spgnn_dgl.data.store import GraphDataset
from spgnn_dgl.registry import Registry

TU_SITE = "https://www.chrsmrrs.com/graphkerneldatasets/{name}.zip"
GIN_ARCHIVE = "https://github.com/weihua916/powerful-gnns/raw/master/dataset.zip"

BIOINFORMATICS, SOCIAL = "bioinformatics", "social"


@dataclass(frozen=True)
class Counts:
    """Size of a dataset; `node_labels` is the number of distinct ones, 0 for none."""

    graphs: int
    max_nodes: int
    avg_nodes: float
    avg_edges: float
    node_labels: int
    classes: int


@dataclass(frozen=True)
class Download:
    """Where a dataset is published: an address, and the file inside that archive where it holds more than one set."""

    url: str
    member: str | None = None


@dataclass(frozen=True)
class Benchmark:
    """What is known of a public dataset before it is read."""

    name: str
    domain: str
    counted: Counts
    printed: Counts | None = None  # by the paper; None: the paper does not use it
    remark: str = ""  # where the two differ
    aliases: tuple[str, ...] = ()
    member: str | None = None  # in the archive of GIN, for a set that is not on the TU site
    symbols: Mapping[str, str] = field(default_factory=dict)  # node label -> chemical element

    @property
    def download(self) -> Download:
        return Download(GIN_ARCHIVE, self.member) if self.member else Download(TU_SITE.format(name=self.name))

    @property
    def in_paper(self) -> bool:
        return self.printed is not None


BENCHMARKS: Registry[Benchmark] = Registry("benchmark", normalise=normal_name)

_DOUBLED = "The paper counts every edge in both directions."
_MUTAG_ATOMS = dict(zip("0123456", ("C", "N", "O", "F", "I", "Cl", "Br")))
_MUTAGENICITY_ATOMS = dict(
    zip(map(str, range(14)), ("C", "O", "Cl", "H", "N", "F", "Br", "S", "P", "I", "Na", "K", "Li", "Ca"))
)

for _benchmark in (
    Benchmark(
        "MUTAG",
        BIOINFORMATICS,
        Counts(188, 28, 17.93, 19.79, 7, 2),
        Counts(188, 28, 17.93, 19.79, 7, 2),
        symbols=_MUTAG_ATOMS,
    ),
    Benchmark(
        "PTC",
        BIOINFORMATICS,
        Counts(344, 109, 25.56, 25.96, 19, 2),
        Counts(344, 109, 25.56, 27.36, 11, 2),
        "The version with hydrogens, published with GIN; not the TU site's PTC_MR (14.29 nodes on average). "
        "The paper prints 11 node labels and 27.36 edges; the file has 19 and 25.96.",
        member="dataset/PTC/PTC.txt",
    ),
    Benchmark(
        "NCI1",
        BIOINFORMATICS,
        Counts(4110, 111, 29.87, 32.30, 37, 2),
        Counts(4110, 111, 29.87, 34.30, 23, 2),
        "The paper prints 23 node labels and 34.30 edges; the file has 37 and 32.30.",
    ),
    Benchmark(
        "PROTEINS",
        BIOINFORMATICS,
        Counts(1113, 620, 39.06, 72.82, 3, 2),
        Counts(1113, 620, 39.06, 72.81, 4, 2),
        "The paper prints 4 node labels; the file has 3.",
    ),
    Benchmark(
        "DD",
        BIOINFORMATICS,
        Counts(1178, 5748, 284.32, 715.66, 82, 2),
        Counts(1178, 5748, 284.31, 715.65, 82, 2),
        "The paper cuts the averages off where they are rounded here.",
        aliases=("D&D",),
    ),
    Benchmark(
        "IMDB-BINARY",
        SOCIAL,
        Counts(1000, 136, 19.77, 96.53, 0, 2),
        Counts(1000, 136, 19.77, 193.06, 0, 2),
        f"{_DOUBLED} The public file lists each edge twice per direction; it is kept once.",
        aliases=("IMDB-B",),
    ),
    Benchmark(
        "IMDB-MULTI",
        SOCIAL,
        Counts(1500, 89, 13.00, 65.94, 0, 3),
        Counts(3500, 89, 13.00, 131.87, 0, 3),
        f"The paper prints 3500 graphs; the file has 1500. {_DOUBLED} "
        "The public file lists each edge twice per direction; it is kept once.",
        aliases=("IMDB-M",),
    ),
    Benchmark(
        "COLLAB",
        SOCIAL,
        Counts(5000, 492, 74.49, 2457.22, 0, 3),
        Counts(5000, 492, 74.49, 4914.99, 0, 3),
        f"{_DOUBLED} Its number includes the file's 2837 self-loops, which are dropped here.",
    ),
    Benchmark(
        "REDDIT-MULTI-5K",
        SOCIAL,
        Counts(4999, 3648, 508.52, 594.87, 0, 5),
        Counts(4999, 3783, 508.5, 1189.74, 0, 5),
        f"{_DOUBLED} It prints 3783 nodes for the largest graph; the largest in the file has 3648.",
        aliases=("RE-M5K", "REDDIT-M5K", "REDDIT-MULTI5K"),
    ),
    Benchmark(
        "PTC_MR",
        BIOINFORMATICS,
        Counts(344, 64, 14.29, 14.69, 18, 2),
        remark="Without hydrogens; the paper uses PTC, the version with them.",
    ),
    Benchmark("ENZYMES", BIOINFORMATICS, Counts(600, 126, 32.63, 62.14, 3, 6)),
    Benchmark("Mutagenicity", BIOINFORMATICS, Counts(4337, 417, 30.32, 30.77, 14, 2), symbols=_MUTAGENICITY_ATOMS),
):
    BENCHMARKS.register(_benchmark.name, *_benchmark.aliases)(_benchmark)


def paper_datasets() -> list[str]:
    """Names of the nine sets of the paper, in its order."""
    return [name for name, known in BENCHMARKS if known.in_paper]


def find_benchmark(name: str) -> Benchmark | None:
    """The benchmark a name or alias stands for; None when it is not one.

    >>> find_benchmark("IMDB-M").name, find_benchmark("imdbmulti").name, find_benchmark("d&d").name
    ('IMDB-MULTI', 'IMDB-MULTI', 'DD')
    """
    return BENCHMARKS.get(name) if name in BENCHMARKS else None


def find_download(name: str) -> Download:
    """Where a dataset is published; a name that is not a benchmark's is taken as one of the TU site."""
    known = find_benchmark(name)
    return known.download if known else Download(TU_SITE.format(name=name))


def count(data: GraphDataset) -> Counts:
    """Size of a dataset; averages are rounded to two digits as in print."""
    directions = 1 if data.meta.directed else 2
    return Counts(
        graphs=len(data),
        max_nodes=int(data.node_counts.max()),
        avg_nodes=round(float(data.node_counts.mean()), 2),
        avg_edges=round(float(data.edge_counts.mean()) / directions, 2),
        node_labels=data.num_node_labels,
        classes=data.num_classes,
    )


def count_differences(data: GraphDataset, benchmark: Benchmark) -> list[str]:
    """What differs between a dataset and the benchmark it should be, in words; empty when nothing does."""
    found, expected = dataclasses.asdict(count(data)), dataclasses.asdict(benchmark.counted)
    return [
        f"{what.replace('_', ' ')}: {found[what]}, expected {value}"
        for what, value in expected.items()
        if not np.isclose(found[what], value, rtol=0, atol=0.011)
    ]


def with_known_facts(meta: DatasetMeta, *, tu_labels: bool) -> DatasetMeta:
    """The description of a dataset completed by what is known of the benchmark of that name.

    Parameters
    ----------
    tu_labels
        Whether the node labels are those of the TU files; only then is it known which element each stands for.
    """
    known = find_benchmark(meta.name)
    if known is None:
        return meta
    symbols = meta.node_symbols
    if tu_labels and known.symbols:
        symbols = tuple(known.symbols.get(label, label) for label in meta.node_label_names)
    return dataclasses.replace(meta, name=known.name, domain=known.domain, node_symbols=symbols)
