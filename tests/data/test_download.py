"""Downloads against a local server that behaves well, badly and very badly."""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from collections import Counter
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import pytest

from spgnn_dgl.data.download import Limits, NotPublished, download
from spgnn_dgl.errors import DownloadError
from tests.servers import serving

QUICK = Limits(timeout=0.4, total_time=5, size=1 << 20, attempts=3, pause=0.01)
CONTENT = bytes(range(256)) * 1000


class Behaviour(BaseHTTPRequestHandler):
    """Answers by path; ``/<n>/…`` behaves badly for the first n requests."""

    asked: Counter[str]
    over: threading.Event

    def log_message(self, *_: object) -> None:
        """Nothing on stderr."""

    def send(self, content: bytes, length: int | None) -> None:
        self.send_response(200)
        if length is not None:
            self.send_header("Content-Length", str(length))
        self.end_headers()
        self.wfile.write(content)

    def do_GET(self) -> None:
        self.asked[self.path] += 1
        _, bad_times, kind = self.path.split("/")
        if self.asked[self.path] > int(bad_times):
            kind = "good"
        if kind == "good":
            self.send(CONTENT, len(CONTENT))
        elif kind == "unannounced":
            self.send(CONTENT, None)
        elif kind == "truncated":
            self.send(CONTENT[:1000], len(CONTENT))
        elif kind == "huge":
            self.send(b"", 1 << 40)
        elif kind == "endless":
            self.send_response(200)
            self.end_headers()
            while not self.over.is_set():
                self.wfile.write(b"0" * 65536)
        elif kind == "silent":
            self.over.wait(5)
        elif kind == "stalled":
            self.send(CONTENT[:1000], len(CONTENT))
            self.over.wait(5)
        elif kind == "dripping":
            self.send_response(200)
            self.end_headers()
            while not self.over.is_set():
                self.wfile.write(b"0")
                time.sleep(0.05)
        elif kind == "closed":
            self.connection.shutdown(socket.SHUT_RDWR)
        else:
            self.send_error(int(kind))


@pytest.fixture
def server() -> Iterator[tuple[str, Counter[str]]]:
    class Handler(Behaviour):
        def handle(self) -> None:
            with contextlib.suppress(OSError):  # the client went away, as it should
                super().handle()

    Handler.asked, Handler.over = Counter(), threading.Event()
    with serving(Handler) as url:
        yield url, Handler.asked
        Handler.over.set()


@pytest.mark.parametrize("path", ["/0/good", "/9/unannounced"])
def test_a_good_file(server, tmp_path, path):
    url, asked = server
    seen: list[tuple[int, int | None]] = []
    download(url + path, tmp_path / "file", limits=QUICK, progress=lambda *state: seen.append(state))
    assert (tmp_path / "file").read_bytes() == CONTENT
    assert seen[0][0] == 0
    assert seen[-1] == (len(CONTENT), len(CONTENT) if path == "/0/good" else None)
    assert [received for received, _ in seen] == sorted(received for received, _ in seen)
    assert asked[path] == 1


@pytest.mark.parametrize("kind", ["truncated", "closed", "stalled", "silent", "503"])
def test_a_download_that_breaks_off_is_tried_again(server, tmp_path, kind):
    url, asked = server
    download(f"{url}/2/{kind}", tmp_path / "file", limits=QUICK)
    assert (tmp_path / "file").read_bytes() == CONTENT
    assert asked[f"/2/{kind}"] == 3


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        ("truncated", "1000 of 256000 bytes; tried 3 times"),
        ("stalled", r"no answer for 0\.4 s; tried 3 times"),
        ("closed", "broke off"),
        ("503", "status 503; tried 3 times"),
    ],
)
def test_the_last_attempt_is_told_and_nothing_is_left(server, tmp_path, kind, message):
    url, asked = server
    with pytest.raises(DownloadError, match=message):
        download(f"{url}/9/{kind}", tmp_path / "file", limits=QUICK)
    assert asked[f"/9/{kind}"] == 3
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("kind", "error", "message"),
    [
        ("404", NotPublished, "no such file"),
        ("403", DownloadError, "status 403"),
        ("huge", DownloadError, "larger than 1 MiB"),
        ("endless", DownloadError, "larger than 1 MiB"),
    ],
)
def test_what_no_further_attempt_can_mend(server, tmp_path, kind, error, message):
    url, asked = server
    with pytest.raises(error, match=message):
        download(f"{url}/9/{kind}", tmp_path / "file", limits=QUICK)
    assert asked[f"/9/{kind}"] == 1
    assert list(tmp_path.iterdir()) == []


def test_a_server_that_drips_is_left(server, tmp_path):
    url, _ = server
    with pytest.raises(DownloadError, match=r"not finished after 0\.3 s"):
        download(f"{url}/9/dripping", tmp_path / "file", limits=Limits(timeout=1, total_time=0.3, attempts=1))


def test_no_network_fails_at_once(tmp_path):
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]
    began = time.monotonic()
    with pytest.raises(DownloadError, match="cannot be reached"):
        download(f"http://127.0.0.1:{port}/file", tmp_path / "file")
    with pytest.raises(DownloadError, match="cannot be reached"):
        download("http://there-is-no-such-host.invalid/file", tmp_path / "file")
    assert time.monotonic() - began < 5


def test_an_interrupted_download_leaves_nothing(server, tmp_path: Path):
    def interrupt(received: int, expected: int | None) -> None:
        if received:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        download(f"{server[0]}/0/good", tmp_path / "file", limits=QUICK, progress=interrupt)
    assert list(tmp_path.iterdir()) == []
