"""Molecules written as SMILES in a table, as graphs of atoms and bonds (RDKit)."""

from __future__ import annotations

import dataclasses
import logging
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from spgnn_dgl.data.arrays import DatasetMeta, assemble, codes
from spgnn_dgl.data.benchmarks import BIOINFORMATICS
from spgnn_dgl.data.readers.table import Table, class_codes
from spgnn_dgl.data.store import GraphDataset
from spgnn_dgl.errors import DatasetError, DatasetNotFoundError, missing_extra
from spgnn_dgl.registry import did_you_mean

logger = logging.getLogger("spgnn_dgl")

SUFFIXES = (".csv", ".tsv")
LABEL_COLUMNS = ("label", "class", "y", "target", "activity")  # usual names, in the order of preference
BLOCK = 1 << 12  # rows that are read together
LISTED = 20  # unreadable rows that the log names one by one


def is_smiles_table(path: Path) -> bool:
    """Whether a file is a table; that it has a column of SMILES is seen when it is read."""
    return path.is_file() and path.suffix in SUFFIXES


def has_smiles(path: Path) -> bool:
    """Whether the first line of a table names a column of SMILES."""
    return "smiles" in _first_line(path).lower()


def from_smiles(
    path: str | Path,
    *,
    smiles_column: str | None = None,
    label_column: str | None = None,
    hydrogens: bool = False,
    strict: bool = False,
    require_classes: bool = True,
) -> GraphDataset:
    """Molecules from a CSV (or TSV) file with a column of SMILES and one of classes.

    Nodes are atoms, labelled by element; edges are bonds, labelled by type. Rows that RDKit cannot read are left out
    and listed, with line and reason, in ``meta.unreadable`` and in the log.

    Parameters
    ----------
    path
        The file; its first line names the columns.
    smiles_column
        Default: the column called ``smiles``, or the only one whose name contains that word.
    label_column
        Default: ``label``, ``class``, ``y``, ``target`` or ``activity``, or the only other column there is.
    hydrogens
        Whether hydrogens are nodes too, also those that SMILES leave out.
    strict
        Refuse the whole file when a row cannot be read.
    require_classes
        Whether every molecule must have a class, as training needs.

    Examples
    --------
    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "drinks.csv"
    >>> _ = file.write_text("smiles,drinkable\\nO,yes\\nCCO,yes\\nCO,no\\n")
    >>> data = from_smiles(file)
    >>> data.node_counts.tolist(), data.meta.node_symbols, data.meta.class_names
    ([1, 3, 2], ('C', 'O'), ('no', 'yes'))
    """
    path = Path(path)
    if not path.is_file():
        raise DatasetNotFoundError(f"{path} does not exist. Give the path of a CSV file with a column of SMILES.")
    table = Table(path, delimiter=_delimiter(path))
    columns = _columns(table, smiles_column, label_column, require_classes)
    data, unreadable = _read(table, columns, hydrogens, require_classes)
    if unreadable and (strict or data is None):
        raise DatasetError(
            f"{path}: {len(unreadable)} of {len(table.lines)} rows cannot be read:{_listed(unreadable)}\n"
            "Correct them" + (", or leave strict=True out to go on without them." if data is not None else ".")
        )
    assert data is not None  # a table has rows, and these are readable or not
    data = _with_unreadable(data, unreadable, name=smiles_name(path, label_column))
    tell_unreadable(data)
    return data


def read_smiles_parts(
    path: Path, position: Any, label_column: str | None, require_classes: bool
) -> Iterator[tuple[GraphDataset, Any]]:
    """Parts of ``BLOCK`` rows, each with the number of rows read so far."""
    columns = None
    pending: tuple[GraphDataset, int] | None = None  # one part is held back: rows after it may be unreadable
    left_out: list[str] = []
    read = position or 0
    for table in Table.blocks(path, BLOCK, delimiter=_delimiter(path), skip=read):
        columns = columns or _columns(table, None, label_column, require_classes)
        data, unreadable = _read(table, columns, False, require_classes)
        read += len(table.lines)
        if data is not None:
            if pending is not None:
                yield pending
            pending = _with_unreadable(data, (*left_out, *unreadable)), read
            left_out = []
        elif pending is not None:
            pending = _with_unreadable(pending[0], (*pending[0].meta.unreadable, *unreadable)), read
        else:
            left_out += unreadable
    if pending is None and not position:
        from_smiles(path, label_column=label_column, require_classes=require_classes)  # says what is wrong
    if pending is not None:
        yield pending


def smiles_name(path: Path, label_column: str | None) -> str:
    """What a table's dataset is called: a set of another column is another set."""
    return path.stem if label_column is None else f"{path.stem}#{label_column}"


def _columns(table: Table, smiles: str | None, label: str | None, require_classes: bool) -> tuple[str, str | None]:
    smiles = _smiles_column(table, smiles)
    return smiles, _label_column(table, smiles, label, require_classes)


def _read(
    table: Table, columns: tuple[str, str | None], hydrogens: bool, require_classes: bool
) -> tuple[GraphDataset | None, tuple[str, ...]]:
    """The molecules of a table, where one can be read, and what is said of the rows that cannot."""
    smiles, label_column = table[columns[0]], columns[1]
    molecules, problems = _molecules(smiles, hydrogens)
    unreadable = tuple(f"line {table.lines[row]}: '{smiles[row]}': {reason}" for row, reason in problems.items())
    if not molecules:
        return None, unreadable
    rows = list(molecules)
    labels, class_names = class_codes(
        [table[label_column][row] if label_column else "" for row in rows],
        lambda i, problem: table.fail(rows[i], problem),
        require_classes,
    )
    meta = DatasetMeta(table.path.stem, class_names, domain=BIOINFORMATICS, source=str(table.path))
    return _dataset(list(molecules.values()), labels, meta), unreadable


def _with_unreadable(data: GraphDataset, unreadable: Sequence[str], **changes: Any) -> GraphDataset:
    return GraphDataset(data.arrays, dataclasses.replace(data.meta, unreadable=tuple(unreadable), **changes))


def tell_unreadable(data: GraphDataset) -> None:
    """One warning in the log that lists the rows that are not in the dataset, where there are any."""
    rows = data.meta.unreadable
    if rows:
        logger.warning(
            "%s: rows that cannot be read are left out (%d), and graphs are numbered without them:%s",
            data.name,
            len(rows),
            _listed(rows),
        )


def _listed(rows: Sequence[str]) -> str:
    more = f"\n  and {len(rows) - LISTED} more; `spgnn audit` lists all" if len(rows) > LISTED else ""
    return "".join(f"\n  {row}" for row in rows[:LISTED]) + more


# ---- the table -------------------------------------------------------------------------------------------------------


def _delimiter(path: Path) -> str:
    """Comma, semicolon or tabulator, whichever the first line has most of."""
    return max(",;\t", key=_first_line(path).count)


def _first_line(path: Path) -> str:
    with path.open(encoding="utf-8-sig", errors="replace") as stream:
        return stream.readline()


def _smiles_column(table: Table, asked: str | None) -> str:
    names = list(table.columns)
    if asked is not None:
        return _known(table, asked)
    exact = [name for name in names if name.lower() == "smiles"]
    found = exact or [name for name in names if "smiles" in name.lower()]
    if len(found) != 1:
        problem = "has no column of SMILES" if not found else f"has several columns of SMILES: {', '.join(found)}"
        raise DatasetError(
            f"{table.path} {problem}; its columns are {', '.join(names)}. Call the one to read 'smiles', or name it: "
            "from_smiles(…, smiles_column=…)."
        )
    return found[0]


def _label_column(table: Table, smiles: str, asked: str | None, require_classes: bool) -> str | None:
    if asked is not None:
        return _known(table, asked)
    others = [name for name in table.columns if name != smiles]
    usual = [name for wanted in LABEL_COLUMNS for name in others if name.lower() == wanted]
    if usual or len(others) == 1:
        return (usual or others)[0]
    if not require_classes:
        return None
    if not others:
        raise DatasetError(f"{table.path} has no column of classes beside the SMILES. Add one, called 'label'.")
    raise DatasetError(
        f"{table.path}: which column holds the classes: {', '.join(others)}? Name it after the file, as in "
        f"'{table.path}#{others[-1]}', or with from_smiles(…, label_column=…)."
    )


def _known(table: Table, name: str) -> str:
    if name not in table.columns:
        raise DatasetError(
            f"{table.path} has no column '{name}'.{did_you_mean(name, table.columns)} Its columns are "
            f"{', '.join(table.columns)}."
        )
    return name


# ---- the molecules ---------------------------------------------------------------------------------------------------


def _molecules(smiles: Sequence[str], hydrogens: bool) -> tuple[dict[int, Any], dict[int, str]]:
    """Row → molecule where RDKit can read it, row → reason where it cannot."""
    try:
        from rdkit import Chem, rdBase
    except ImportError:
        raise missing_extra("rdkit", "chem", "reading SMILES") from None
    molecules, problems = {}, {}
    with rdBase.BlockLogs():  # the reasons are asked for below instead
        for row, text in enumerate(smiles):
            molecule = Chem.MolFromSmiles(text)
            if molecule is None:
                problems[row] = _reason(Chem, text)
            elif molecule.GetNumAtoms() == 0:
                problems[row] = "there is no atom in it"
            else:
                molecules[row] = Chem.AddHs(molecule) if hydrogens else molecule
    return molecules, problems


def _reason(Chem: Any, text: str) -> str:
    """Why RDKit does not take a SMILES."""
    rough = Chem.MolFromSmiles(text, sanitize=False)
    if rough is None:
        return "not SMILES"
    problems = [problem.Message() for problem in Chem.DetectChemistryProblems(rough)]
    return "; ".join(problems) or "not a possible molecule"


def _dataset(molecules: Sequence[Any], labels: np.ndarray, meta: DatasetMeta) -> GraphDataset:
    """The molecules as graphs; `meta` is completed by the names of atoms and bonds."""
    counts = np.array([molecule.GetNumAtoms() for molecule in molecules])
    atoms, symbols = codes([atom.GetSymbol() for molecule in molecules for atom in molecule.GetAtoms()])
    bonds = [
        (bond.GetBeginAtomIdx() + start, bond.GetEndAtomIdx() + start, str(bond.GetBondType()).lower())
        for molecule, start in zip(molecules, (np.cumsum(counts) - counts).tolist())
        for bond in molecule.GetBonds()
    ]
    ends = np.array([(first, second) for first, second, _ in bonds], dtype=np.int64).reshape(-1, 2)
    kinds, kind_names = codes([kind for *_, kind in bonds]) if bonds else (None, ())
    arrays, mended = assemble(
        counts,
        np.concatenate([ends[:, 0], ends[:, 1]]),
        np.concatenate([ends[:, 1], ends[:, 0]]),
        labels=labels,
        node_labels=atoms,
        edge_labels=None if kinds is None else np.concatenate([kinds, kinds]),
    )
    meta = dataclasses.replace(
        meta, node_label_names=symbols, node_symbols=symbols, edge_label_names=kind_names, mended=mended
    )
    return GraphDataset(arrays, meta)
