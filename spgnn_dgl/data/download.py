"""Download one file: in pieces, with retries, a time-out and a size limit. Standard library only."""

from __future__ import annotations

import http.client
import logging
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from spgnn_dgl.errors import DownloadError

logger = logging.getLogger(__name__)

PIECE_BYTES = 1 << 16
USER_AGENT = "spgnn_dgl"
RETRIED_STATUS = {408, 429, 500, 502, 503, 504}

Progress = Callable[[int, int | None], None]
"""Called with the bytes received, and the bytes expected where the server says so."""


@dataclass(frozen=True)
class Limits:
    """When to give up.

    Parameters
    ----------
    timeout
        Seconds without an answer or without another byte.
    total_time
        Seconds for one attempt.
    size
        Bytes of the file.
    attempts
        How often a download that broke off is begun.
    pause
        Seconds before the second attempt; doubled before each further one.
    """

    timeout: float = 15.0
    total_time: float = 3600.0
    size: int = 2 << 30
    attempts: int = 3
    pause: float = 1.0


class NotPublished(DownloadError):
    """The server has no such file."""


class _BrokenOff(Exception):
    """A failure that another attempt may mend."""


def silent(received: int, expected: int | None) -> None:
    """No progress is shown."""


def download(url: str, target: Path, *, limits: Limits | None = None, progress: Progress = silent) -> None:
    """Write the file at `url` to `target`; on failure nothing is left there.

    Raises
    ------
    DownloadError
        The server cannot be reached (at once, without further attempts), the file is too large, or every attempt
        broke off.
    NotPublished
        The server has no such file.
    """
    limits = limits or Limits()
    for attempt in range(1, limits.attempts + 1):
        try:
            _attempt(url, target, limits, progress)
            return
        except _BrokenOff as problem:
            target.unlink(missing_ok=True)
            if attempt == limits.attempts:
                raise DownloadError(f"{url}: {problem}; tried {attempt} times. Try again later.") from problem
            pause = limits.pause * 2 ** (attempt - 1)
            logger.info("%s: %s; trying again in %g s", url, problem, pause)
            time.sleep(pause)
        except BaseException:
            target.unlink(missing_ok=True)
            raise


def _attempt(url: str, target: Path, limits: Limits, progress: Progress) -> None:
    request = urllib.request.Request(url, headers={"User-Agent": USER_AGENT})
    began = time.monotonic()
    try:
        with urllib.request.urlopen(request, timeout=limits.timeout) as answer, target.open("wb") as file:
            length = answer.headers.get("Content-Length", "")
            expected = int(length) if length.isdigit() else None
            _check_size(url, expected or 0, limits)
            received = 0
            progress(received, expected)
            while piece := answer.read1(PIECE_BYTES):  # what is there: read() would wait for a full piece
                file.write(piece)
                received += len(piece)
                _check_size(url, received, limits)
                if time.monotonic() - began > limits.total_time:
                    raise _BrokenOff(f"not finished after {limits.total_time:g} s")
                progress(received, expected)
            if expected is not None and received < expected:
                raise _BrokenOff(f"the connection ended after {received} of {expected} bytes")
    except urllib.error.HTTPError as problem:
        problem.close()
        if problem.code in (404, 410):
            raise NotPublished(f"{url}: there is no such file (status {problem.code}).") from problem
        if problem.code in RETRIED_STATUS:
            raise _BrokenOff(f"the server answered with status {problem.code}") from problem
        raise DownloadError(f"{url}: the server answered with status {problem.code} ({problem.reason}).") from problem
    except urllib.error.URLError as problem:  # before any answer: no network, no such host, refused
        raise DownloadError(f"{url} cannot be reached ({problem.reason}). Is this machine online?") from problem
    except TimeoutError as problem:
        raise _BrokenOff(f"no answer for {limits.timeout:g} s") from problem
    except (http.client.HTTPException, ConnectionError) as problem:
        raise _BrokenOff(f"the connection broke off ({type(problem).__name__})") from problem


def _check_size(url: str, size: int, limits: Limits) -> None:
    if size > limits.size:
        raise DownloadError(
            f"{url} is larger than {limits.size / 2**20:.0f} MiB, the most that is fetched unasked. "
            "Allow more with --max-megabytes, or get the file yourself and put it into the data home."
        )
