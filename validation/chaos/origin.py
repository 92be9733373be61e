"""A server and a client: `python origin.py serve PORT LOG | load PORT WORKERS OCTETS LOG`.

Both write a line of JSON for each finished transfer: the received data, and the error if there was
one. The octets of a transfer are computed from its number, so that received data can be compared.
"""

import contextlib
import hashlib
import json
import random
import socket
import sys
import threading
import time
from pathlib import Path
from typing import Any

_PART = 1 << 16
_PAUSE = 0.002
"""Seconds between two reads of a client.

It limits the rate to about 30 MB/s, so that faults occur during transfers.
"""
_SILENCE = 60.0
"""Seconds without an octet after which a transfer is regarded as broken."""


def content(number: int, octets: int) -> bytes:
    """Returns the content of a transfer."""
    return random.Random(number).randbytes(octets)


class Log:
    """A log file that several threads write."""

    def __init__(self, path: str) -> None:
        """Appends to the file at `path`."""
        self._path = Path(path)
        self._lock = threading.Lock()

    def write(self, **values: Any) -> None:
        """Writes a line."""
        with self._lock, self._path.open("a", encoding="ascii") as file:
            file.write(json.dumps(values) + "\n")


def received(connection: socket.socket, pause: float) -> tuple[bytes, str]:
    """Returns all data and the name of the error, which is empty after a regular end."""
    octets = bytearray()
    try:
        while part := connection.recv(_PART):
            octets += part
            time.sleep(pause)
    except OSError as error:
        return bytes(octets), type(error).__name__
    return bytes(octets), ""


def verdict(number: int, expected: int, octets: bytes, error: str) -> dict[str, Any]:
    """Returns the record of a transfer.

    The transfer is complete, broken with an error, or wrong without an error.
    """
    whole = content(number, expected)
    return {
        "number": number,
        "octets": len(octets),
        "error": error,
        # Number of octets that are wrong or missing although the transfer ended without an error.
        "lost": (expected - len(octets) if not error else 0) if whole.startswith(octets) else expected,
    }


def _serve_one(connection: socket.socket, log: Log) -> None:
    with connection:
        connection.settimeout(_SILENCE)
        try:
            head = b""
            while not head.endswith(b"\n"):
                part = connection.recv(1)
                if not part:
                    return
                head += part
            way, number, octets = json.loads(head)
            if way == "down":
                connection.sendall(content(number, octets))
                connection.shutdown(socket.SHUT_WR)
                received(connection, 0)
                return
        except OSError:
            return
        arrived, error = received(connection, _PAUSE)
        log.write(way="up", **verdict(number, octets, arrived, error))
        with contextlib.suppress(OSError):
            connection.sendall(hashlib.sha256(arrived).hexdigest().encode())


def serve(port: int, path: str) -> None:
    """Accepts connections until the process is killed."""
    log = Log(path)
    with socket.create_server(("127.0.0.1", port), backlog=256) as listener:
        print("serving", flush=True)
        while True:
            connection, _ = listener.accept()
            threading.Thread(target=_serve_one, args=(connection, log), daemon=True).start()


def transfer(port: int, way: str, number: int, octets: int, log: Log) -> None:
    """Performs one transfer, up or down."""
    try:
        connection = socket.create_connection(("127.0.0.1", port), timeout=_SILENCE)
    except OSError as error:
        log.write(way=way, number=number, octets=0, error=type(error).__name__, lost=0)
        time.sleep(0.2)
        return
    with connection:
        connection.settimeout(_SILENCE)
        try:
            connection.sendall(json.dumps([way, number, octets]).encode() + b"\n")
            if way == "up":
                whole = content(number, octets)
                for start in range(0, octets, _PART):
                    connection.sendall(whole[start : start + _PART])
                    time.sleep(_PAUSE)
                connection.shutdown(socket.SHUT_WR)
        except OSError as error:
            log.write(way=way, number=number, octets=0, error=type(error).__name__, lost=0)
            return
        arrived, fault = received(connection, _PAUSE if way == "down" else 0)
        if way == "down":
            log.write(way=way, **verdict(number, octets, arrived, fault))
        else:
            # The server returns a digest. An end without a digest and without an error is a loss.
            right = arrived == hashlib.sha256(content(number, octets)).hexdigest().encode()
            log.write(way="answer", number=number, octets=0, error=fault, lost=0 if right or fault else octets)


def load(port: int, workers: int, octets: int, path: str) -> None:
    """Performs sequential transfers in each of `workers` threads."""
    log = Log(path)

    def work(worker: int) -> None:
        for turn in range(10**6):
            transfer(port, "down" if worker % 2 else "up", worker + workers * turn, octets, log)

    threads = [threading.Thread(target=work, args=(worker,), daemon=True) for worker in range(workers)]
    for thread in threads:
        thread.start()
    print("loading", flush=True)
    for thread in threads:
        thread.join()


if __name__ == "__main__":
    if sys.argv[1] == "serve":
        serve(int(sys.argv[2]), sys.argv[3])
    else:
        load(int(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4]), sys.argv[5])
