"""Tools for real hosts: measurements between a server and a client, both on this host."""

import json
import signal
import socket
import subprocess
import sys
import threading
import time
from contextlib import closing, contextmanager
from typing import Any

import pytest

import acklab
from acklab import hosts, inspection
from acklab.errors import UsageError
from commands import ROOT
from commands import acklab as command

HOST = "127.0.0.1"


@contextmanager
def process(*words):
    """Starts a command that prints one JSON object when it is ready, and ends it by Ctrl-C."""
    arguments = [sys.executable, "-m", "acklab", *map(str, words), "--json"]
    with subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT) as running:
        try:
            assert running.stdout is not None
            yield json.loads(running.stdout.readline())
        finally:
            running.send_signal(signal.SIGINT)
            _, messages = running.communicate(timeout=30)
            assert running.returncode == 0, messages
            assert "Traceback" not in messages


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    """Returns the port and the fingerprint of a server."""
    with process("serve", "--port", 0, "--bind", HOST, "--state", tmp_path_factory.mktemp("state")) as ready:
        yield ready


@pytest.fixture(autouse=True)
def state(tmp_path, monkeypatch):
    """Returns the state folder of the client."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    return tmp_path / "acklab"


def perf(served, *words):
    return command("perf", HOST, "--port", served["port"], "--time", "0.2", *words)


def test_perf_sets_transports_side_by_side(served):
    done = perf(served, "--fingerprint", served["fingerprint"], "--repeat", 2, "--interval", "0.1")
    assert done.returncode == 0, done.stderr
    head = done.stdout.splitlines()[0].split()
    assert head == ["unit", "tack", "quic", "tcp"]
    assert " is fastest with " in done.stdout
    assert "95 % interval over 2 rounds" in done.stdout
    assert "tack (round 2 of 2)" in done.stderr
    assert "Mbps" in done.stderr


def test_perf_prints_one_json_object(served):
    done = perf(served, "--fingerprint", served["fingerprint"], "--with", "tack:congestion=cubic,tcp", "-R", "-P", 2, "--json")
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert [row["contender"] for row in document["measurements"]] == ["tack:congestion=cubic", "tcp"]
    for row in document["measurements"]:
        assert row["reverse"]
        assert row["streams"] == 2
        assert row["goodput"] > 1
        assert row["acks"] > 0
    assert document["summary"][0]["goodput"]["low"] is None, "one round has no interval"
    assert "--repeat 5" in document["conclusion"]


def test_servers_are_known_as_to_ssh(served, state):
    done = perf(served, "--with", "tack")
    assert done.returncode == 1
    assert f"the server is unknown and presents {served['fingerprint']}" in done.stderr
    assert not (state / "known_hosts").exists()
    assert perf(served, "--with", "tack", "--accept-new").returncode == 0
    assert perf(served, "--with", "quic").returncode == 0, "it is known from now on"
    known = state / "known_hosts"
    assert known.read_text(encoding="utf-8") == f"{HOST}:{served['port']} {served['fingerprint']}\n"
    assert known.stat().st_mode & 0o777 == 0o600
    other = "sha256:" + "0" * 64
    known.write_text(f"{HOST}:{served['port']} {other}\n", encoding="utf-8")
    for words in ([], ["--accept-new"]):
        done = perf(served, "--with", "tack", *words)
        assert done.returncode == 1
        assert "THE SERVER IS NOT THE ONE YOU EXPECT" in done.stderr
    known.write_text("nonsense\n", encoding="utf-8")
    done = perf(served, "--with", "tack")
    assert f'{known}:1: found "nonsense", expected HOST:PORT sha256:' in done.stderr


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--with", "nothing here"], '--with: found "nothing here", expected tack, quic, tcp'),
        (["--with", "tcp,tcp"], 'found "tcp" twice'),
        (["--with", "tcp", "-n", "much"], "found 'much', expected a size such as 500K"),
        (["--with", "tcp", "-b", "1"], "bitrate: found 1, expected 1 kbit/s"),
        (["--with", "tack", "--fingerprint", "sha256:00"], 'fingerprint: found "sha256:00"'),
    ],
)
def test_nonsense_is_refused(served, words, message):
    arguments = words if "-n" in words else ["--time", "0.2", *words]
    done = command("perf", HOST, "--port", served["port"], *arguments)
    assert done.returncode == 2, done.stderr
    assert message in done.stderr


def test_a_server_keeps_its_identity(tmp_path):
    found = []
    for _ in range(2):
        with process("serve", "--port", 0, "--bind", HOST, "--state", tmp_path / "kept") as ready:
            found.append(ready["fingerprint"])
    assert found[0] == found[1]
    for name in ("key.pem", "reset_key"):
        assert (tmp_path / "kept" / name).stat().st_mode & 0o777 == 0o600


def test_measurements_are_a_typed_value(served):
    told: list[dict[str, Any]] = []
    measured = acklab.perf(
        HOST, contenders=["tcp"], port=served["port"], bytes=1_000_000, bitrate=40_000_000, interval=0.05, watch=told.append
    )
    assert measured.frame["octets"].to_list() == [1_000_000]
    assert measured.rows[0].transport == "tcp"
    assert measured.conclusion.startswith("tcp: ")
    assert "begins" in told[0]
    assert any("interval" in one for one in told)


def measurement(contender, round_, goodput):
    return hosts.Measurement(
        round=round_,
        contender=contender,
        transport="tcp",
        congestion=None,
        reverse=False,
        streams=1,
        seconds=1.0,
        octets=1,
        goodput=goodput,
        data_packets=1,
        retransmissions=0,
        retransmitted_share=0.0,
        acks=1,
        acks_per_second=1.0,
        mean_rtt=1.0,
        p95_rtt=1.0,
        cpu_sender=0.0,
        cpu_receiver=0.0,
        cpu_per_gigabyte=0.0,
    )


def perf_of(**goodputs):
    rows = [measurement(name, place, value) for name, values in goodputs.items() for place, value in enumerate(values)]
    return hosts.Perf(HOST, tuple(rows))


def test_the_conclusion_says_whether_it_may_be_chance():
    sure = perf_of(tack=[110.0, 111.0, 112.0], tcp=[100.0, 101.0, 102.0])
    assert sure.conclusion.startswith(
        "tack is fastest with 111.00 Mbps. That is 9.9 % more than tcp (95 % interval over 3 rounds:"
    )
    assert sure.conclusion.endswith("and the interval excludes zero.")
    unsure = perf_of(tack=[110.0, 90.0, 105.0], tcp=[100.0, 101.0, 102.0])
    assert "the interval includes zero" in unsure.conclusion
    once = perf_of(tack=[110.0], quic=[105.0], tcp=[100.0])
    assert once.conclusion == (
        "tack is fastest with 110.00 Mbps. That is 4.8 % more than quic. That is 10.0 % more than tcp. "
        "One round has no interval; add --repeat 5 to test the significance."
    )


def test_amounts_have_the_prefixes_of_iperf3():
    assert hosts.bits_per_second("10M") == 10_000_000
    assert hosts.octets("1.5k") == 1536
    for text in ("", "M", "10 Mbps", "-1"):
        with pytest.raises(UsageError, match="expected a size"):
            hosts.octets(text)


@pytest.fixture
def greeter():
    """Returns the port of a server that sends a greeting and closes the connection."""
    with socket.create_server((HOST, 0)) as listener:

        def serve():
            while True:
                try:
                    stream, _ = listener.accept()
                except OSError:
                    return
                with stream:
                    stream.sendall(b"hello")

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield listener.getsockname()[1]
        listener.shutdown(socket.SHUT_RDWR)
        thread.join()


def read(address):
    host, _, port = address.rpartition(":")
    with closing(socket.create_connection((host, int(port)), timeout=20)) as stream:
        return stream.recv(100)


def test_a_proxy_carries_tcp(tmp_path, monkeypatch, greeter):
    words = ["--port", 0, "--bind", HOST, "--state", tmp_path / "far", "--to", f"{HOST}:{greeter}"]
    with process("proxy", "listen", *words) as far:
        assert (tmp_path / "far" / "proxy_token").stat().st_mode & 0o777 == 0o600
        via = ["--via", f"{HOST}:{far['port']}", "--forward", f"0:{HOST}:{greeter}"]
        monkeypatch.setenv("ACKLAB_PROXY_TOKEN", far["token"])
        with process("proxy", "connect", *via, "--socks", f"{HOST}:0", "--accept-new") as near:
            assert len(near["listening"]) == 2
            assert read(near["listening"][1]) == b"hello"
        other = "sha256:" + "0" * 64
        done = command("proxy", "connect", *via, "--fingerprint", other)
        assert done.returncode == 1
        assert "THE SERVER IS NOT THE ONE YOU EXPECT" in done.stderr


def connect_again_and_again(host, port):
    while True:
        socket.create_connection((host, port), timeout=20).close()
        time.sleep(0.02)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_what_is_unfinished_has_the_time_to_drain(tmp_path, monkeypatch, number):
    """After the first signal, the tool accepts no new connection, and the others continue.

    The second signal resets them.
    """
    with socket.create_server((HOST, 0)) as target:
        to = f"{HOST}:{target.getsockname()[1]}"
        with process("proxy", "listen", "--port", 0, "--bind", HOST, "--state", tmp_path / "far", "--to", to) as far:
            monkeypatch.setenv("ACKLAB_PROXY_TOKEN", far["token"])
            words = ["--via", f"{HOST}:{far['port']}", "--forward", f"0:{to}", "--accept-new", "--drain", "60s"]
            arguments = [sys.executable, "-m", "acklab", "proxy", "connect", *words, "--json"]
            with subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT) as near:
                assert near.stdout is not None
                host, port = json.loads(near.stdout.readline())["listening"][0].split(":")
                with socket.create_connection((host, int(port)), timeout=20) as program, target.accept()[0] as server:
                    server.sendall(b"before")
                    assert program.recv(100) == b"before"
                    near.send_signal(number)
                    with pytest.raises(ConnectionRefusedError):
                        connect_again_and_again(host, int(port))
                    server.sendall(b"after")
                    assert program.recv(100) == b"after"
                    near.send_signal(number)
                    with pytest.raises(ConnectionResetError):
                        program.recv(100)
                    with pytest.raises(ConnectionResetError):
                        server.recv(100)
                _, messages = near.communicate(timeout=30)
                assert (near.returncode, messages) == (0, "stopped\n")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["listen", "--drain", "10"], "--drain: found"),
        (["listen", "--allow", "10.0.0.0/99"], '--allow: found "10.0.0.0/99", expected public, *, a name'),
        (
            ["connect", "--via", "host", "--token", "ab", "--fingerprint", "sha256:" + "0" * 64, "--socks", "127.0.0.1:1"],
            "token: found 2 characters",
        ),
        (["connect", "--via", "host", "--token", "ab"], "found no listener, expected --socks or --forward"),
        (["connect", "--via", "host", "--socks", "127.0.0.1:1"], "found no token"),
        (["connect", "--via", "fd00::1:80", "--socks", "127.0.0.1:1"], "--via: found 'fd00::1:80'"),
        (
            ["connect", "--via", "host", "--token", "0" * 64, "--fingerprint", "sha256:" + "0" * 64, "--forward", "x"],
            '--forward: found "x"',
        ),
    ],
)
def test_nonsense_is_refused_by_proxies(words, message):
    done = command("proxy", *words)
    assert done.returncode == 2, done.stderr
    assert message in done.stderr


def test_the_log_of_a_measurement_is_advised(served, tmp_path):
    """From a measurement between two hosts to advice.

    The larger log is that of the connection that carried the data.
    """
    done = perf(
        served, "--fingerprint", served["fingerprint"], "--with", "tack", "-b", "20M", "--time", "3", "--qlog", tmp_path / "logs"
    )
    assert done.returncode == 0, done.stderr
    log = max((tmp_path / "logs").glob("*.sqlog"), key=lambda file: file.stat().st_size)
    (way,) = inspection.inspect(log).ways
    assert way["position"] == "sender"
    # The application writes 20 Mbps.
    assert way["goodput"] == pytest.approx(20, rel=0.1)
    assert way["acks"] is not None
    # No middlebox can read them.
    assert way["acks"]["thinning"] in ("none", "sparse-receiver")
    advised = command("advise", log, "--use", "download", "--time", "3", "--json")
    assert advised.returncode == 0, advised.stderr
    # The application wrote 20 Mbps, so the log does not show the capacity of the path.
    (download,) = json.loads(advised.stdout)["uses"]
    assert download["winner"] is None
    assert "application limited the transfer" in download["nothing"] or "not known" in download["nothing"]
    assert "tcpdump" in download["settle"]
