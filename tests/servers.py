"""A small web server for tests."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@contextmanager
def serving(handler: type[BaseHTTPRequestHandler]) -> Iterator[str]:
    """A server on this machine for the length of a block; gives its address."""
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as service:
        thread = threading.Thread(target=service.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield f"http://127.0.0.1:{service.server_address[1]}"
        finally:
            service.shutdown()
            thread.join()


@contextmanager
def serving_files(files: Mapping[str, bytes]) -> Iterator[str]:
    """A server that has these files, by path."""

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            """Nothing on stderr."""

        def do_GET(self) -> None:
            content = files.get(self.path.removeprefix("/"))
            if content is None:
                self.send_error(404)
                return
            self.send_response(200)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

    with serving(Handler) as url:
        yield url
