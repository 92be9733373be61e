"""The page of a run and hostile clients.

No client prevents the end of the run, and no other site reads the page.
"""

import contextlib
import socket
import threading
import time
from contextlib import closing

import pytest

from acklab.live import clients, samples
from acklab.live.server import is_loopback, served

END = 1.5
"""Seconds in which a server ends: it gives its clients half a second, and the rest is for a machine
under load.
"""


def port_of(address):
    return int(address.rsplit(":", 1)[1].strip("/"))


def connected(address):
    return closing(socket.create_connection(("127.0.0.1", port_of(address)), timeout=10))


def response(address, request):
    """Returns the bytes that the server sends for a request until it closes the connection."""
    with connected(address) as client:
        client.sendall(request)
        return b"".join(iter(lambda: client.recv(1 << 16), b""))


def status(address, *headers, path="/"):
    lines = [f"GET {path} HTTP/1.1", *headers, "", ""]
    return int(response(address, "\r\n".join(lines).encode()).split()[1])


@pytest.mark.parametrize(
    "octets",
    [
        pytest.param(b"", id="idle"),
        pytest.param(b"GET / HTTP/1.1\r\nHost: lo", id="half a request"),
        pytest.param(b"GET /samples HTTP/1.1\r\nHost: localhost\r\n\r\n", id="a stream that is not read"),
        pytest.param(b"GET /plotly.js HTTP/1.1\r\nHost: localhost\r\n\r\n", id="megabytes that are not read"),
    ],
)
def test_no_client_keeps_the_run_from_ending(octets):
    with served("path.toml") as (address, show):
        opened = [connected(address) for _ in range(5)]
        for client in opened:
            client.thing.sendall(octets)
        for second in range(2000):  # 2 MB: more than the socket takes
            show({"time": second, "filler": "x" * 1000})
        time.sleep(0.3)
        began = time.monotonic()
    assert time.monotonic() - began < END
    for client in opened:
        client.thing.close()


def test_a_request_has_a_time_limit_in_all(monkeypatch):
    # With one byte each 0.1 s the connection is never idle for long, and never completes.
    monkeypatch.setattr(clients, "REQUEST_SECONDS", 0.5)
    with served("path.toml") as (address, _), connected(address) as client:
        began = time.monotonic()
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            while time.monotonic() - began < 10:
                client.sendall(b"x")
                time.sleep(0.1)
        assert time.monotonic() - began < 5


def test_a_client_that_takes_nothing_is_dropped(monkeypatch):
    monkeypatch.setattr(clients.LimitedHandler, "timeout", 0.3)
    with served("path.toml") as (address, _), connected(address) as client:
        client.sendall(b"GET /plotly.js HTTP/1.1\r\nHost: localhost\r\n\r\n")
        time.sleep(2)
        received = b"".join(iter(lambda: client.recv(1 << 16), b""))
    # plotly.js has 4.5 MB. The bytes in the socket buffers of both ends arrive.
    assert 0 < len(received) < 4_000_000


def wait_for(condition):
    deadline = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_more_clients_than_the_limit_are_refused_until_others_leave(monkeypatch):
    monkeypatch.setattr(clients, "REQUEST_SECONDS", 60.0)
    with served("path.toml") as (address, _):
        before = threading.active_count()
        opened = [connected(address) for _ in range(clients.MAX_CLIENTS)]
        full = before + clients.MAX_CLIENTS
        wait_for(lambda: threading.active_count() == full)
        assert status(address, "Host: localhost") == 503
        assert threading.active_count() == full, "a refused client has no thread"
        for client in opened:
            client.thing.close()
        wait_for(lambda: threading.active_count() == before)
        assert status(address, "Host: localhost") == 200


@pytest.mark.parametrize(
    ("expected", "headers"),
    [
        (200, ["Host: localhost:{port}"]),
        (200, ["Host: 127.0.0.1:{port}"]),
        (200, ["Host: LOCALHOST:9000"]),  # `ssh -L 9000:127.0.0.1:{port}`
        (200, ["Host: localhost:{port}", "Origin: http://localhost:{port}"]),
        (403, []),
        (403, ["Host: evil.example:{port}"]),  # a name that resolves to 127.0.0.1
        (403, ["Host: localhost.evil.example"]),
        (403, ["Host: 127.0.0.1.evil.example:{port}"]),
        (403, ["Host: 192.0.2.1:{port}"]),
        (403, ["Host: user@localhost"]),
        (403, ["Host: localhost", "Host: evil.example"]),
        (403, ["Host: localhost/evil.example"]),
        (403, ["Host: localhost:{port}", "Origin: http://evil.example"]),
        (403, ["Host: localhost:{port}", "Origin: null"]),
        (403, ["Host: localhost:{port}", "Origin: https://localhost:{port}"]),
        # another program of this machine
        (403, ["Host: localhost:{port}", "Origin: http://localhost:1"]),
    ],
)
@pytest.mark.parametrize("path", ["/", "/samples", "/live.js"])
def test_another_site_reads_nothing(expected, headers, path):
    with served("path.toml") as (address, show):
        show({"time": 1.0})
        lines = [header.replace("{port}", str(port_of(address))) for header in headers]
        if path == "/samples" and expected == 200:
            lines = [f"GET {path} HTTP/1.1", *lines, "", ""]
            with connected(address) as client:
                client.sendall("\r\n".join(lines).encode())
                assert client.recv(1000).split()[1] == b"200"
        else:
            assert status(address, *lines, path=path) == expected


@pytest.mark.parametrize("host", ["[::1]", "[::1]:80", "127.0.0.2", "localhost"])
def test_loopback_addresses_are_of_this_machine(host):
    assert is_loopback(host)


@pytest.mark.parametrize(
    "host", ["", ":", "localhost:", "[::1", "localhost:x", "127.1", "localhost?", "[::ffff:192.0.2.1]", "\x7f"]
)
def test_other_hosts_are_not(host):
    assert not is_loopback(host)


@pytest.mark.parametrize(
    "octets", [b"\r\n\r\n", b"GET\r\n\r\n", b"\0" * 100, b"GET / HTTP/9.9\r\n\r\n", b"POST / HTTP/1.1\r\n\r\n"]
)
def test_nonsense_is_answered_without_a_word_on_standard_error(octets, capfd):
    with served("path.toml") as (address, _):
        assert b"200 OK" not in response(address, octets)
        with connected(address) as client:
            # closes with a reset
            client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
            client.sendall(b"GET /plotly.js HTTP/1.1\r\nHost: localhost\r\n\r\n")
        time.sleep(0.3)
    assert capfd.readouterr().err == ""


def test_the_stream_keeps_the_last_samples_only(monkeypatch):
    monkeypatch.setattr(samples, "MAX_SAMPLES", 3)
    stream = samples.Stream()
    for number in range(5):
        stream.add({"time": number})
    assert stream.after(0) == (['{"time": 2}', '{"time": 3}', '{"time": 4}'], 5, False)
    assert stream.after(4)[0] == ['{"time": 4}']
    stream.end()
    assert stream.after(5) == ([], 5, True)
