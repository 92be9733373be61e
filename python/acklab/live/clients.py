"""An HTTP server whose clients cannot delay the end of its process.

Each client has a thread that ends with the process, a time limit for its request, and a time limit
for each part of the response.
"""

import contextlib
import socket
import sys
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

MAX_CLIENTS = 32
"""Maximum number of connections; more are refused.

Chosen: a browser opens six connections per page, and a page keeps one open.
"""
REQUEST_SECONDS = 5.0
"""Maximum seconds of a whole request, from the connection to the end of its header. Chosen: clients
are on this machine or behind `ssh -L`.
"""
IDLE_SECONDS = 10.0
"""Maximum seconds for a client to read the next part of a response. Chosen for the same reason."""
LAST_SECONDS = 0.5
"""Maximum seconds for clients to read the rest when the server ends. Chosen: a quarter of the two
seconds in which a command ends.
"""
_POLL_SECONDS = 0.2
"""Interval of the checks for late requests and for the end."""
_PART = 1 << 16
"""Bytes of a response for which a client has `IDLE_SECONDS`."""
_BUSY = b"HTTP/1.0 503 Service Unavailable\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"


class LimitedServer(ThreadingHTTPServer):
    """Server that limits the number of clients and the time of each."""

    daemon_threads = True
    block_on_close = False
    request_queue_size = MAX_CLIENTS

    def __init__(self, address: tuple[str, int], handler: type["LimitedHandler"]) -> None:
        """Listens immediately. Raises OSError for a port in use."""
        self._clients: dict[socket.socket, float | None] = {}
        self._changed = threading.Condition()
        super().__init__(address, handler)

    @contextlib.contextmanager
    def running(self) -> Iterator[None]:
        """Serves clients during the block, and gives them `LAST_SECONDS` at its end."""
        thread = threading.Thread(target=self.serve_forever, args=(_POLL_SECONDS,), name="page", daemon=True)
        thread.start()
        try:
            yield
        finally:
            self.shutdown()
            self.server_close()
            with self._changed:
                self._changed.wait_for(lambda: not self._clients, LAST_SECONDS)
                for client in self._clients:
                    _disconnect(client)
            thread.join()

    def process_request(self, request: Any, client_address: Any) -> None:
        """Starts the thread of a client, or refuses it."""
        with self._changed:
            is_full = len(self._clients) >= MAX_CLIENTS
            if not is_full:
                self._clients[request] = time.monotonic() + REQUEST_SECONDS
        if is_full:
            request.setblocking(False)
            with contextlib.suppress(OSError):
                request.send(_BUSY)
            self.shutdown_request(request)
        else:
            super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        """Closes the connection of a client."""
        super().shutdown_request(request)
        with self._changed:
            self._clients.pop(request, None)
            self._changed.notify_all()

    def requested(self, client: socket.socket) -> None:
        """Records that the request of a client is complete."""
        with self._changed:
            if client in self._clients:
                self._clients[client] = None

    def service_actions(self) -> None:
        """Disconnects clients whose requests take too long, even if they send some bytes."""
        now = time.monotonic()
        with self._changed:
            for client, deadline in self._clients.items():
                if deadline is not None and deadline < now:
                    _disconnect(client)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignores clients that disconnected or are too slow."""
        if not isinstance(sys.exc_info()[1], OSError):
            super().handle_error(request, client_address)


class LimitedHandler(BaseHTTPRequestHandler):
    """Handler that reads one request, and writes the response in parts."""

    server: LimitedServer
    timeout = IDLE_SECONDS

    def respond(self) -> None:
        """Responds to a request. Raises OSError for a client that disconnected or does not read."""
        raise NotImplementedError

    def do_GET(self) -> None:
        """Responds to a GET; other methods are refused."""
        self.respond()

    def parse_request(self) -> bool:
        """Reads the header of a request."""
        is_valid = super().parse_request()
        self.server.requested(self.connection)
        return is_valid

    def write(self, octets: bytes) -> None:
        """Writes a part of a response.

        Raises OSError for a client that disconnected or does not read.
        """
        view = memoryview(octets)
        for start in range(0, len(view), _PART):
            self.wfile.write(view[start : start + _PART])

    def log_message(self, format: str, *args: object) -> None:
        """Prints nothing: standard error is for the run."""


def _disconnect(client: socket.socket) -> None:
    with contextlib.suppress(OSError):
        client.shutdown(socket.SHUT_RDWR)
