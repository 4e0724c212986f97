"""``page.html``: one file to browse what a model pooled, without a server and without the network."""

from __future__ import annotations

import json
import logging
import re
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np

from spgnn_dgl.data.substructures.wl import node_values
from spgnn_dgl.errors import OptionError
from spgnn_dgl.explain.patterns import Pattern, PatternTable, find_patterns
from spgnn_dgl.explain.selection import Pooled, kept_nodes
from spgnn_dgl.explain.subject import Subject
from spgnn_dgl.explain.trees import cut
from spgnn_dgl.runs import write_whole
from spgnn_dgl.visual.layers import shared_ranks
from spgnn_dgl.visual.layout import layouts
from spgnn_dgl.visual.packing import fewest_bits, pack
from spgnn_dgl.visual.structure import neighbourhood, structure_of

log = logging.getLogger("spgnn_dgl")

LARGE = 200  # nodes of a graph from which its pooled neighbourhood stands for it
MAX_GRAPHS = 2000
MAX_BYTES = 15_000_000
PATTERNS_PER_CLASS = 25
CURVE_POINTS = 200
GRID = 65535  # steps of a packed position or probability


@dataclass(frozen=True)
class PageOptions:
    """What goes into a page.

    Parameters
    ----------
    max_graphs
        Of a larger subject so many graphs are shown, the same share of each class.
    top
        Ranks of each layer that count as pooled in the pattern table; see
        :func:`spgnn_dgl.explain.patterns.find_patterns`.
    seed
        Of layouts, and of the choice of graphs.
    """

    max_graphs: int = MAX_GRAPHS
    top: int | None = None
    seed: int = 0


def write_page(subject: Subject, path: str | Path, options: PageOptions | None = None) -> Path:
    """Write the page of a subject; it holds everything it shows."""
    path = Path(path)
    if path.suffix.lower() not in (".html", ".htm"):
        raise OptionError(f"'{path}' was given for a page; the name must end in .html.")
    options = options or PageOptions()
    if options.max_graphs < 1:
        raise OptionError(f"max_graphs={options.max_graphs} was given; a page shows at least one graph.")
    shown = sample(subject, options.max_graphs, options.seed)
    text = page_text(subject, shown, options)
    while len(text) > MAX_BYTES and len(shown.graphs) > 1:
        shown = sample(shown, max(1, int(0.9 * len(shown.graphs) * MAX_BYTES / len(text))), options.seed)
        log.warning("the page would be too large; it shows %d of %d graphs", len(shown.graphs), len(subject.graphs))
        text = page_text(subject, shown, options)
    return write_whole(path, text)


def sample(subject: Subject, count: int, seed: int) -> Subject:
    """The same subject on at most `count` of its graphs, of each class its share."""
    total = len(subject.graphs)
    if total <= count:
        return subject
    rng = np.random.default_rng(seed)
    shuffled = rng.permutation(total)
    by_class = shuffled[np.argsort(subject.labels[shuffled], kind="stable")]
    chosen = by_class[(np.arange(count) * total) // count]  # even steps through the classes
    return subject.of(subject.graphs[np.sort(chosen)])


def page_text(subject: Subject, shown: Subject, options: PageOptions) -> str:
    """The HTML text of a page."""
    folder = files("spgnn_dgl.visual") / "page"
    arrays, about = _graphs(shown, options.seed)
    blob, table = pack(arrays)
    content = {
        **about,
        "title": subject.title,
        "heldOut": subject.held_out,
        "totalGraphs": len(subject.graphs),
        "classNames": list(subject.class_names),
        "patterns": _patterns(subject, shown, options.top),
        "curves": _curves(subject),
        "arrays": table,
    }
    text = (folder / "page.html").read_text(encoding="utf-8")
    parts = {
        "TITLE": _escaped(subject.title),
        "STYLE": (folder / "page.css").read_text(encoding="utf-8"),
        "SCRIPT": (folder / "page.js").read_text(encoding="utf-8"),
        "CONTENT": json.dumps(content, allow_nan=False, separators=(",", ":")).replace("</", "<\\/"),
        "NUMBERS": blob,
    }
    # in one pass: a part may hold what looks like the name of another
    return re.sub("%(" + "|".join(parts) + ")%", lambda found: parts[found[1]], text)


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


# ---- graphs ----------------------------------------------------------------------------------------------------------


def _graphs(shown: Subject, seed: int) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """Packed arrays of all graphs one after the other, and what a page must know to read them."""
    pooled, probabilities, labels = shown.pooled(), shown.probabilities(), shown.labels
    data = shown.explained
    order = np.argsort(shown.graphs)
    structures = [neighbourhood(structure_of(data, g), pooled[g].order()[: LARGE // 4], LARGE) for g in order]
    positions = layouts([(s.num_nodes, s.edges) for s in structures], seed=seed)
    corners = [X.min(axis=0) for X in positions]
    spans = [float(np.ptp(X, axis=0).max()) for X in positions]
    kept = [pooled[g] for g in order]
    arrays = {
        "graph": fewest_bits(shown.graphs[order]),
        "size": fewest_bits(data.node_counts[order]),
        "label": (labels[order] + 1).astype(np.uint16),  # 0: not known
        "probability": np.round(probabilities[order] * GRID).astype(np.uint16),
        "nodeStart": np.cumsum([0, *(s.num_nodes for s in structures)]).astype(np.uint32),
        "edgeStart": np.cumsum([0, *(len(s.edges) for s in structures)]).astype(np.uint32),
        "edges": fewest_bits(np.concatenate([s.edges for s in structures]).reshape(-1)),
        "node": fewest_bits(np.concatenate([s.nodes for s in structures])),
        "span": np.array(spans, dtype=np.float32),
        "position": np.concatenate(
            [np.round((X - corner) / max(span, 1e-9) * GRID) for X, corner, span in zip(positions, corners, spans)]
        ).astype(np.uint16),
        "importance": np.concatenate([p.importance[:, s.nodes].T for p, s in zip(kept, structures)]).astype(np.float32),
        "rank": fewest_bits(np.concatenate([_ranks(p)[:, s.nodes].T for p, s in zip(kept, structures)])),
        "selected": _bits(np.concatenate([p.selected[:, s.nodes].T for p, s in zip(kept, structures)])),
    }
    about: dict[str, Any] = {
        "numGraphs": len(order),
        "numLayers": kept[0].num_layers,
        "k": max(kept_nodes(part.method) for part in shown.parts),
        "grid": GRID,
        "hasTruth": data.arrays.truth is not None,
        "symbols": list(data.meta.node_symbols or data.meta.node_label_names) if data.num_node_labels else [],
    }
    for name, array in (("symbol", data.arrays.node_labels), ("truth", data.arrays.truth)):
        if array is not None:
            by_graph = np.split(node_values(data, array), np.cumsum(data.node_counts)[:-1])
            arrays[name] = fewest_bits(np.concatenate([by_graph[g][s.nodes] for g, s in zip(order, structures)]))
    return arrays, about


def _ranks(pooled: Pooled) -> np.ndarray:
    """(L + 1, n) nodes ahead of each node: over all layers first, then in each layer."""
    rows = [pooled.score.astype(np.float64), *pooled.importance]
    return np.stack([shared_ranks(row) - 1 for row in rows])


def _bits(selected: np.ndarray) -> np.ndarray:
    """(N, L) flags as one number per node, layer l at bit l."""
    return (selected * (1 << np.arange(selected.shape[1], dtype=np.uint64))).sum(axis=1).astype(np.uint32)


# ---- patterns and curves ---------------------------------------------------------------------------------------------


def _patterns(subject: Subject, shown: Subject, top: int | None) -> dict[str, Any]:
    """The most salient patterns of every class, counted over the whole subject."""
    if (subject.labels < 0).any():
        return {"rows": [], "note": "Patterns are counted per class, and some graphs have no class."}
    table = find_patterns(subject, top=top)
    visible = set(shown.graphs.tolist())
    rows = []
    for label in range(len(subject.class_names)):
        for rank, pattern in enumerate(table.of_class(label)[:PATTERNS_PER_CLASS], start=1):
            rows.append(_pattern_row(table, pattern, rank, visible))
    note = f"Pooled: the first {table.top} nodes of each layer, {table.pooled_share:.0%} of all nodes."
    return {"rows": rows, "note": note}


def _pattern_row(table: PatternTable, pattern: Pattern, rank: int, visible: set[int]) -> dict[str, Any]:
    tree = table.tree(pattern)
    text = next((t for d in range(tree.depth, 0, -1) if len(t := str(cut(tree, d))) <= 70), str(cut(tree, 1))[:70])
    graph, node = int(table.subject.graphs[pattern.example[0]]), pattern.example[1]
    return {
        "rank": rank,
        "label": pattern.label,
        "layer": pattern.layer,
        "text": text if text == str(tree) else f"{text} …",
        "pooled": pattern.pooled,
        "nodes": pattern.nodes,
        "enrichment": round(pattern.enrichment, 3),
        "share": round(pattern.graph_share, 4),
        "elsewhere": round(pattern.share_elsewhere, 4),
        "q": pattern.q,
        "example": [graph, node] if graph in visible else None,
    }


def _curves(subject: Subject) -> list[dict[str, list[float | None]]]:
    """Loss and accuracy per epoch of every model that has a history."""
    curves = []
    for part in subject.parts:
        history = part.history[:: max(1, len(part.history) // CURVE_POINTS)]
        if history:
            keys = ("epoch", "loss", "accuracy", "validation_loss", "validation_accuracy")
            curves.append({key: [_rounded(line.get(key)) for line in history] for key in keys})
    return curves


def _rounded(value: Any) -> float | None:
    return None if value is None else float(f"{float(value):.4g}")
