"""A page on localhost that shows an emulation while it runs: samples are sent to the browser as server-sent events."""

import contextlib
import json
import threading
from collections.abc import Callable, Iterator, Mapping
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib import resources
from typing import Any

from acklab.errors import UsageError

_HOST = "127.0.0.1"
_PATIENCE = 1.0
"""Seconds after which an open stream looks whether the run is over, and tells the browser that it is still there."""


class Stream:
    """The samples of a run so far; readers wait for the next."""

    def __init__(self) -> None:
        """No sample yet."""
        self._samples: list[str] = []
        self._is_over = False
        self._changed = threading.Condition()

    def add(self, sample: Mapping[str, Any]) -> None:
        """Adds a sample."""
        with self._changed:
            self._samples.append(json.dumps(sample))
            self._changed.notify_all()

    def end(self) -> None:
        """No sample follows."""
        with self._changed:
            self._is_over = True
            self._changed.notify_all()

    def after(self, seen: int) -> tuple[list[str], bool]:
        """The samples after the first `seen`, waiting a while if there are none, and whether the run is over."""
        with self._changed:
            self._changed.wait_for(lambda: self._is_over or len(self._samples) > seen, _PATIENCE)
            return self._samples[seen:], self._is_over


@contextlib.contextmanager
def served(title: str, port: int = 0) -> Iterator[tuple[str, Callable[[Mapping[str, Any]], None]]]:
    """Serves the page while the run lasts: gives its address, and a function that shows a sample there.

    Port 0 is a free one. Raises UsageError if the port is taken. Nothing but this machine can reach the page.
    """
    stream = Stream()
    try:
        server = _Server((_HOST, port), _Handler)
    except OSError as error:
        raise UsageError(f"--port {port}: cannot listen on {_HOST}: {error.strerror}; expected a free port, or 0") from error
    server.title, server.stream = title, stream
    thread = threading.Thread(target=server.serve_forever, name="page", daemon=True)
    thread.start()
    try:
        yield f"http://{_HOST}:{server.server_port}/", stream.add
    finally:
        stream.end()
        server.shutdown()
        # Open streams end by themselves, and are waited for, so that browsers get the last sample.
        server.server_close()
        thread.join()


class _Server(ThreadingHTTPServer):
    title: str
    stream: Stream
    daemon_threads = False


class _Handler(BaseHTTPRequestHandler):
    server: _Server

    def do_GET(self) -> None:
        """The page, its scripts, or the stream of samples."""
        page = resources.files("acklab.live") / "page"
        if self.path == "/":
            text = (page / "live.html").read_text(encoding="utf-8")
            self._send("text/html; charset=utf-8", text.replace("{title}", _escaped(self.server.title)))
        elif self.path == "/live.js":
            self._send("text/javascript; charset=utf-8", (page / "live.js").read_text(encoding="utf-8"))
        elif self.path == "/plotly.js":
            from plotly.offline import get_plotlyjs

            self._send("text/javascript; charset=utf-8", get_plotlyjs())
        elif self.path == "/samples":
            self._stream()
        else:
            self.send_error(HTTPStatus.NOT_FOUND)

    def log_message(self, format: str, *args: object) -> None:
        """Says nothing: standard error is for the run."""

    def _send(self, kind: str, text: str) -> None:
        octets = text.encode()
        self.send_response(HTTPStatus.OK)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(octets)))
        self.end_headers()
        with contextlib.suppress(ConnectionError):
            self.wfile.write(octets)

    def _stream(self) -> None:
        self.send_response(HTTPStatus.OK)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Cache-Control", "no-store")
        self.end_headers()
        self.close_connection = True
        seen = 0
        # A browser that has gone ends its stream.
        with contextlib.suppress(ConnectionError):
            while True:
                samples, is_over = self.server.stream.after(seen)
                seen += len(samples)
                for sample in samples:
                    self.wfile.write(f"data: {sample}\n\n".encode())
                if is_over:
                    self.wfile.write(b"event: over\ndata: {}\n\n")
                    return
                if not samples:
                    self.wfile.write(b": the run goes on\n\n")


def _escaped(text: str) -> str:
    from html import escape

    return escape(text)
