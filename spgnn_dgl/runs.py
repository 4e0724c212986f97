"""Run folders: opened, resumed, or refused. Every file in one is written whole or not at all."""

from __future__ import annotations

import errno
import json
import logging
import os
import re
import secrets
import shutil
from collections.abc import Callable, Iterator, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

from spgnn_dgl.errors import RunError

log = logging.getLogger("spgnn_dgl")

VERSION = 1
CONFIG, ENVIRONMENT, FOLDS = "config.json", "environment.json", "folds.json"
RESULTS, TIMINGS, HISTORY, PREDICTIONS = "results.json", "timings.json", "history.csv", "predictions.csv"
REPORT, FIGURES, CHECKPOINTS, UNITS = "report.md", "figures", "checkpoints", "units"
HEARTBEAT = ".epoch"  # suffix of the file in which a unit under way says how far it is
LOCK = ".lock"
FORMER = "before"  # suffix of a folder that --force moved aside
LONGEST_NAME = 100
_UNFINISHED = re.compile(r"\.+.+\.\d+-[0-9a-f]{6}")  # names that write_whole gives to files it has not finished


class RunDir:
    """The folder of one experiment.

    Parameters
    ----------
    path
        ``runs/<dataset>/<method>[@changed-options]/<protocol>-seed<N>``; see :func:`run_path`.

    Notes
    -----
    A *unit* is the smallest piece of work that is done or not done: one training. Its record is
    ``units/<name>.json``, and all other results are assembled from these records.
    """

    def __init__(self, path: str | Path):
        self.path = Path(path)
        self._lock: Any = None

    # ---- opening ----------------------------------------------------------------------------------------------

    @classmethod
    def start(cls, path: str | Path, config: Mapping[str, Any], *, force: bool = False) -> RunDir:
        """A new run folder, or the one that is there when its configuration is the same.

        Parameters
        ----------
        config
            What decides the results; another configuration in the same place is refused.
        force
            Move what is there aside and start over.
        """
        run = cls(path)
        if force and run.path.exists():
            run.lock()  # not away from under another process
            aside = _free_name(run.path, FORMER)
            try:
                with _explained(run.path):
                    os.rename(run.path, aside)
            finally:
                run.close()
            log.warning("%s was moved to %s", run.path, aside)
        with _explained(run.path):
            (run.path / UNITS).mkdir(parents=True, exist_ok=True)
        run.lock()
        wanted = json.loads(json.dumps({"version": VERSION, **config}))  # tuples become lists, as in the file
        try:
            if (run.path / CONFIG).exists():
                run._refuse_another(wanted)
            else:
                run.write_json(CONFIG, wanted)
            run._set_damaged_aside(RESULTS)
            run._tidy()
        except BaseException:
            run.close()
            raise
        return run

    @classmethod
    def open(cls, path: str | Path) -> RunDir:
        """A run folder that is there, to read from."""
        run = cls(path)
        if not (run.path / CONFIG).is_file():
            raise RunError(
                f"'{run.path}' is not a run folder: it has no {CONFIG}. `spgnn train DATASET` makes one and prints "
                "its path."
            )
        run._check_version(run.config)
        return run

    def _refuse_another(self, wanted: dict[str, Any]) -> None:
        found = self.config
        self._check_version(found)
        if lines := differences(found, wanted):
            raise RunError(
                f"'{self.path}' holds a run with another configuration:\n{lines}\n"
                "Choose another --out, or start over with --force, which moves the old folder aside."
            )

    def _check_version(self, config: Mapping[str, Any]) -> None:
        version = config.get("version")
        if not isinstance(version, int):
            raise RunError(f"'{self.path / CONFIG}' says no version; it is not the configuration of a run.")
        if version > VERSION:
            raise RunError(
                f"'{self.path}' was written by a newer spgnn_dgl (run version {version}, this one reads up to "
                f"{VERSION}). Update spgnn_dgl, or choose another --out."
            )

    def lock(self) -> None:
        """Keep a second process out of this folder. The lock goes with the process, however it ends."""
        try:
            import fcntl
        except ImportError:  # not on Windows: there the folder is not locked
            return
        with _explained(self.path):
            self._lock = open(self.path / LOCK, "w")  # noqa: SIM115  (held as long as the run)
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as problem:
            self._lock.close()
            if problem.errno not in (errno.EAGAIN, errno.EACCES):
                return  # a file system without locks
            raise RunError(
                f"another process is working in '{self.path}'. Wait for it, or choose another --out."
            ) from None

    def close(self) -> None:
        """Let go of the lock."""
        if self._lock is not None:
            self._lock.close()
            self._lock = None

    # ---- reading ----------------------------------------------------------------------------------------------

    @property
    def config(self) -> dict[str, Any]:
        try:
            return dict(json.loads((self.path / CONFIG).read_text(encoding="utf-8")))
        except (ValueError, TypeError, OSError) as problem:
            raise RunError(
                f"'{self.path / CONFIG}' cannot be read ({problem}). Start over with --force, which moves the folder "
                "aside."
            ) from problem

    def read_json(self, name: str) -> dict[str, Any] | None:
        """Content of a JSON file of this folder; None where it is missing or damaged."""
        try:
            content = json.loads((self.path / name).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None
        return content if isinstance(content, dict) else None

    @property
    def results(self) -> dict[str, Any]:
        """Content of results.json; an error where the run has none yet."""
        results = self.read_json(RESULTS)
        if results is None:
            raise RunError(
                f"'{self.path}' has no readable {RESULTS}: the run is not finished. The same `spgnn train` finishes "
                f"it; `spgnn report {self.path}` assembles what is there."
            )
        return results

    def unit(self, name: str) -> dict[str, Any] | None:
        """The record of a unit; None when it is not done yet. A damaged record is moved aside."""
        file = f"{UNITS}/{name}.json"
        record = self.read_json(file)
        if record is None or record.get("unit") != name:
            self._set_damaged_aside(file, always=True)
            return None
        return record

    def units(self) -> Iterator[dict[str, Any]]:
        """All records, in the order of their names."""
        for path in sorted((self.path / UNITS).glob("[!.]*.json")):
            if (record := self.unit(path.stem)) is not None:
                yield record

    def _tidy(self) -> None:
        """Remove what a killed process left half-written: such files have names that begin with a dot."""
        for path in self.path.rglob(".*"):
            if _UNFINISHED.match(path.name) or path.name.endswith(HEARTBEAT):
                remove(path)

    def _set_damaged_aside(self, name: str, *, always: bool = False) -> None:
        path = self.path / name
        if path.exists() and (always or self.read_json(name) is None):
            aside = _free_name(path, "damaged")
            with _explained(path):
                os.replace(path, aside)
            log.warning("%s is damaged; it was moved to %s, and is made again", path, aside.name)

    # ---- writing ----------------------------------------------------------------------------------------------

    def write_json(self, name: str, content: Any) -> Path:
        return write_whole(self.path / name, json.dumps(content, indent=1, allow_nan=False) + "\n")

    def write_text(self, name: str, text: str) -> Path:
        return write_whole(self.path / name, text)


def differences(found: Mapping[str, Any], wanted: Mapping[str, Any]) -> str:
    """The keys in which two configurations differ, a line each; empty where they are the same.

    >>> print(differences({"lr": 0.1, "k": 30}, {"lr": 0.01, "k": 30}))
      lr: 0.1 there, 0.01 now
    """
    keys = sorted(key for key in {*found, *wanted} if found.get(key) != wanted.get(key))
    return "\n".join(f"  {key}: {found.get(key)!r} there, {wanted.get(key)!r} now" for key in keys)


def run_path(out: str | Path, dataset: str, method: str, changed: Mapping[str, Any], protocol: str, seed: int) -> Path:
    """Where the run of a configuration lives; without a time in it, so that a rerun finds itself.

    >>> run_path("runs", "MUTAG", "spgnn", {"lr": 0.01, "k": 50}, "paper", 0).as_posix()
    'runs/MUTAG/spgnn@k=50,lr=0.01/paper-seed0'
    """
    name = method
    if changed:
        name += "@" + ",".join(f"{key}={_plain(value)}" for key, value in sorted(changed.items()))
    if len(name) > LONGEST_NAME:
        name = f"{name[: LONGEST_NAME - 11]}~{sha256(name.encode()).hexdigest()[:10]}"
    return Path(out) / _safe(dataset) / _safe(name) / f"{protocol}-seed{seed}"


def _plain(value: Any) -> str:
    return "+".join(map(str, value)) if isinstance(value, list | tuple) else str(value)


def _safe(name: str) -> str:
    return re.sub(r"[^\w@=,.+~-]", "_", name)


def find_runs(paths: list[Path]) -> list[RunDir]:
    """The run folders at or below the given paths; below, those that --force moved aside do not count."""
    found: dict[Path, RunDir] = {}
    for path in paths:
        below = (place.parent for place in path.rglob(CONFIG))
        current = (place for place in below if not place.suffix.startswith(f".{FORMER}"))
        places = [path] if (path / CONFIG).is_file() else sorted(current)
        if not places:
            raise RunError(f"there is no run folder at or below '{path}'. `spgnn train DATASET` makes one.")
        for place in places:
            found.setdefault(place.resolve(), RunDir.open(place))
    return list(found.values())


def write_whole(path: Path, content: str | bytes | Callable[[Path], Any]) -> Path:
    """Write a file aside, then rename it: a kill at any moment leaves the old file or the new one.

    `content` may be a function that writes to the path it is given. A full disk or a folder that cannot be written
    to is one clear error, and what was there stays whole.
    """
    aside = path.with_name(f".{path.stem[:40]}.{os.getpid()}-{secrets.token_hex(3)}{path.suffix}")
    with _explained(path):
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            if callable(content):
                content(aside)
            elif isinstance(content, bytes):
                aside.write_bytes(content)
            else:
                aside.write_text(content, encoding="utf-8")
            os.replace(aside, path)
        finally:
            aside.unlink(missing_ok=True)
    return path


class _explained:
    """Turns an OSError into a RunError that says what to do."""

    def __init__(self, path: Path):
        self.path = path

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: Any, problem: BaseException | None, trace: Any) -> None:
        if not isinstance(problem, OSError):
            return
        if problem.errno in (errno.ENOSPC, errno.EDQUOT):
            remedy = "the disk is full. What was there stays whole: free some space, then the same command goes on"
        elif problem.errno in (errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOTDIR, errno.EEXIST):
            remedy = "the folder cannot be written to. Choose another with --out, or change its permissions"
        else:
            remedy = "what was there stays whole; mend the cause, then the same command goes on"
        raise RunError(f"cannot write '{self.path}' ({problem.strerror or problem}): {remedy}.") from problem


def _free_name(path: Path, why: str) -> Path:
    """The first of ``NAME.why``, ``NAME.why2`` … that is not taken."""
    number = 1
    while (aside := path.with_name(f"{path.name}.{why}{number if number > 1 else ''}")).exists():
        number += 1
    return aside


def remove(path: Path) -> None:
    """Remove a file or folder that need not be there."""
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)
