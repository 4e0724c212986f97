"""Bring a public dataset into the data home: download, check, put in place, or leave everything as it was."""

from __future__ import annotations

import re
import shutil
import tempfile
import urllib.parse
import zipfile
from pathlib import Path

from spgnn_dgl.data.benchmarks import BENCHMARKS, Download, count_differences, find_benchmark, find_download
from spgnn_dgl.data.download import Limits, NotPublished, Progress, download, silent
from spgnn_dgl.data.load import DATASETS, known_datasets
from spgnn_dgl.data.readers.formats import read_dataset
from spgnn_dgl.data.readers.sources import ZipSource
from spgnn_dgl.errors import DatasetError, DatasetNotFoundError, DownloadError, OptionError
from spgnn_dgl.registry import did_you_mean

LARGEST_UNPACKED = 16 << 30  # bytes; the largest set of the TU site has about 1 GiB
COLLECTION = "https://chrsmrrs.github.io/datasets"


def fetch(
    name: str,
    home: Path,
    *,
    force: bool = False,
    limits: Limits | None = None,
    progress: Progress = silent,
    source: Download | None = None,
) -> Path:
    """Download a dataset into the data home, and return where it is.

    Parameters
    ----------
    name
        A benchmark's name or alias, or any name of the TU collection, spelled as there.
    home
        The data home; made when it does not exist.
    force
        Fetch it even when it is there already.
    source
        Where to get it from, instead of the place it is published at.

    Raises
    ------
    DownloadError
        It cannot be downloaded, or is not what it should be; the data home is as it was.
    """
    benchmark = find_benchmark(name)
    name = benchmark.name if benchmark else name
    present = known_datasets(home)  # also fills the registry
    if name in DATASETS:
        raise OptionError(f"{DATASETS.canonical(name)} is a registered dataset; there is nothing to fetch.")
    target = home / f"{name}.zip"
    if name in present:
        place = Path(present[name])
        if not force:
            return place
        if place != target:
            raise OptionError(f"{name} is there as {place}, which would go before {target}. Move it away first.")
    if not re.fullmatch(r"[A-Za-z0-9][\w.+-]*", name, re.ASCII):
        raise OptionError(f"'{name}' cannot be the name of a dataset: letters, digits and . + - _ are expected.")
    source = source or find_download(urllib.parse.quote(name))

    workshop = _workshop(home)
    try:
        archive = workshop / f"{name}.zip"
        _download(name, source, archive, target, limits, progress)
        if source.member is not None:
            archive = _only_member(archive, source.member, name)
        _check_archive(archive)
        data = read_dataset(archive, require_classes=False)
        differences = count_differences(data, benchmark) if benchmark else []
        if differences:
            raise DownloadError(
                f"what {source.url} gave is not {name} as it is known ({'; '.join(differences)}). It was not kept; "
                f"a file you trust can be put at {target}."
            )
        archive.replace(target)
        return target
    except DatasetError as problem:
        raise DownloadError(f"what {source.url} gave cannot be used and was not kept. {problem}") from problem
    except OSError as problem:
        if isinstance(problem, DownloadError | DatasetNotFoundError):
            raise
        raise DownloadError(
            f"{home} cannot be written to ({problem}). Make room, or choose another --data-home."
        ) from problem
    finally:
        shutil.rmtree(workshop, ignore_errors=True)


def _workshop(home: Path) -> Path:
    """A new folder inside the data home, made where there is none: from here, putting a file in place is one rename."""
    try:
        home.mkdir(parents=True, exist_ok=True)
        return Path(tempfile.mkdtemp(prefix=".fetch-", dir=home))
    except OSError as problem:
        raise DownloadError(f"{home} cannot be written to ({problem}). Choose another --data-home.") from problem


def _download(
    name: str, source: Download, archive: Path, target: Path, limits: Limits | None, progress: Progress
) -> None:
    try:
        download(source.url, archive, limits=limits, progress=progress)
    except NotPublished as problem:
        near = did_you_mean(name, BENCHMARKS.names())
        raise NotPublished(
            f"{problem}{near} The names of the collection are listed at {COLLECTION}; capital letters count."
        ) from problem
    except DownloadError as problem:
        if source.member is None:
            by_hand = f"download {source.url} and put it at {target}"
        else:
            by_hand = f"download {source.url}, and put {source.member} out of it at {target.with_suffix('.txt')}"
        raise DownloadError(
            f"{problem}\nOn a machine that is online, {by_hand}. MOTIFS and DIGITS need no download."
        ) from problem


def _check_archive(path: Path) -> None:
    """Refuse files that would land outside of their folder (ZipSource does) and archives that swell when unpacked."""
    ZipSource(path)
    unpacked = sum(entry.file_size for entry in zipfile.ZipFile(path).infolist())
    if unpacked > LARGEST_UNPACKED:
        raise DatasetError(f"unpacked it would have {unpacked / 2**30:.0f} GiB.")


def _only_member(archive: Path, member: str, name: str) -> Path:
    """A new archive with one file of a larger one."""
    _check_archive(archive)
    with zipfile.ZipFile(archive) as everything:
        if member not in everything.namelist():
            raise DatasetError(f"there is no {member} in the archive.")
        content = everything.read(member)
    target = archive.with_name("member") / archive.name
    target.parent.mkdir()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as alone:
        alone.writestr(f"{name}/{Path(member).name}", content)
    return target
