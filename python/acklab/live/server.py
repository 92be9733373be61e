"""A live page of an emulation on localhost, which receives samples as server-sent events."""

import contextlib
import ipaddress
from collections.abc import Callable, Iterator, Mapping
from html import escape
from http import HTTPStatus
from importlib import resources
from typing import Any
from urllib.parse import urlsplit

from acklab.errors import UsageError
from acklab.live.clients import LimitedHandler, LimitedServer
from acklab.live.samples import Stream

_HOST = "127.0.0.1"


@contextlib.contextmanager
def served(title: str, port: int = 0) -> Iterator[tuple[str, Callable[[Mapping[str, Any]], None]]]:
    """Serves the page during the run. Yields its address, and a function that shows a sample.

    Port 0 selects a free port. Raises UsageError if the port is in use. Only this machine can
    access the page.
    """
    try:
        server = _Server((_HOST, port), _Handler)
    except OSError as error:
        raise UsageError(f"--port {port}: cannot listen on {_HOST}: {error.strerror}; expected a free port, or 0") from error
    server.title, server.stream = title, Stream()
    with server.running():
        try:
            yield f"http://{_HOST}:{server.server_port}/", server.stream.add
        finally:
            server.stream.end()


class _Server(LimitedServer):
    title: str
    stream: Stream


class _Handler(LimitedHandler):
    server: _Server

    def respond(self) -> None:
        """Sends the page, its scripts, or the stream of samples."""
        if not self._is_of_this_page():
            self.send_error(HTTPStatus.FORBIDDEN, explain="expected a request for localhost, by the page itself")
            return
        page = resources.files("acklab.live") / "page"
        if self.path == "/":
            text = (page / "live.html").read_text(encoding="utf-8")
            self._send("text/html; charset=utf-8", text.replace("{title}", escape(self.server.title)))
        elif self.path == "/live.js":
            self._send("text/javascript; charset=utf-8", (page / "live.js").read_text(encoding="utf-8"))
        elif self.path == "/plotly.js":
            from plotly.offline import get_plotlyjs

            self._send("text/javascript; charset=utf-8", get_plotlyjs())
        elif self.path == "/samples":
            self._stream()
        else:
            self.send_error(HTTPStatus.NOT_FOUND)

    def _is_of_this_page(self) -> bool:
        """Checks `Host` and `Origin`.

        A site whose name resolves to this machine (DNS rebinding) sends its own name as the host.
        The port may differ, as behind `ssh -L`.
        """
        hosts, origins = self.headers.get_all("Host", []), self.headers.get_all("Origin", [])
        if len(hosts) != 1 or not is_loopback(hosts[0]):
            return False
        return all(origin.lower() == f"http://{hosts[0].lower()}" for origin in origins)

    def _head(self, kind: str, **more: str) -> None:
        self.send_response(HTTPStatus.OK)
        headers = {
            "Content-Type": kind,
            "Cache-Control": "no-store",
            "X-Content-Type-Options": "nosniff",
            # Other sites must not frame the page or use its files.
            "Content-Security-Policy": "frame-ancestors 'none'",
            "Cross-Origin-Resource-Policy": "same-origin",
        }
        for name, value in (headers | more).items():
            self.send_header(name, value)
        self.end_headers()

    def _send(self, kind: str, text: str) -> None:
        octets = text.encode()
        self._head(kind, **{"Content-Length": str(len(octets))})
        self.write(octets)

    def _stream(self) -> None:
        self._head("text/event-stream")
        seen = 0
        while True:
            samples, seen, is_over = self.server.stream.after(seen)
            for sample in samples:
                self.write(f"data: {sample}\n\n".encode())
            if is_over:
                self.write(b"event: over\ndata: {}\n\n")
                return
            if not samples:
                self.write(b": the run goes on\n\n")


def is_loopback(host: str) -> bool:
    """Returns whether the value of a header `Host` names this machine.

    That is `localhost` or a loopback address, with any port.
    """
    try:
        split = urlsplit(f"//{host}")
        name = split.hostname or ""
        if split.netloc != host or "@" in host or (split.port is None and host.endswith(":")):
            return False
    except ValueError:
        return False
    if name == "localhost":
        return True
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False
