"""Ctrl-C and SIGTERM end each command within two seconds, even if its output is not read."""

import contextlib
import os
import re
import signal
import socket
import struct
import subprocess
import sys
import time
from pathlib import Path

import pytest

import acklab
from acklab.cli import main
from acklab.cli.signals import stopped_by_signals

PROMISED = 2.0
LOADED = 3.0
"""The time that a machine under the load of other tests may add. Without the limits, each of these
commands would go on for ever.
"""

PATH = """
duration = "{duration}"
seed = 1
[[link]]
name = "lan"
from = "a"
to = "b"
forward = {{ rate = "20Mbps", delay = "1ms", queue = {{ discipline = "fifo", limit = "50packets" }} }}
reverse = {{ rate = "20Mbps", delay = "1ms" }}
[[flow]]
from = "a"
to = "b"
preset = "linux"
"""
LOOP = """
import acklab, pathlib
class Mine(acklab.AckPolicy):
    def decide(self, now, arrival, ledger):
        pathlib.Path("begun").touch()
        while True: pass
"""
ENDLESS = "select count(*) from range(100000000000) a, range(1000) b"
OWN = ["--set", 'flow.0.ack={policy = "custom", name = "Mine"}', "--strategy", "mine.py:Mine"]


@pytest.fixture
def desk(tmp_path):
    """Returns a folder with a scenario, a capture, a result, and a strategy that never returns."""
    (tmp_path / "path.toml").write_text(PATH.format(duration="2s"))
    (tmp_path / "long.toml").write_text(PATH.format(duration="100000s"))
    (tmp_path / "mine.py").write_text(LOOP)
    acklab.run(tmp_path / "path.toml").save(tmp_path / "kept")
    return tmp_path


@contextlib.contextmanager
def begun(desk, *words, out=subprocess.PIPE):
    """Starts a command."""
    process = subprocess.Popen([sys.executable, "-m", "acklab", *words], stdout=out, stderr=subprocess.PIPE, text=True, cwd=desk)
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def ended(process, number=signal.SIGINT):
    """Returns the output of a command that ends within a short time after a signal."""
    began = time.monotonic()
    process.send_signal(number)
    # No output is read before the end.
    process.wait(30)
    assert time.monotonic() - began < PROMISED + LOADED
    return process.stderr.read()


def busy(process, seconds):
    """Waits until a process has computed for a while.

    Its imports are complete, and its work has begun.
    """
    ticks = os.sysconf("SC_CLK_TCK")
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline:
        assert process.poll() is None, process.stderr.read()
        fields = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
        if (int(fields[11]) + int(fields[12])) / ticks > seconds:
            return
        time.sleep(0.05)
    raise AssertionError("it has not begun")


def test_ctrl_c_ends_a_library_that_does_not_look_for_signals(desk):
    with begun(desk, "query", ENDLESS, "kept") as process:
        busy(process, 4.0)
        told = ended(process)
    assert process.returncode == 130
    assert told == "error: stopped: nothing incomplete was stored\n"


def test_ctrl_c_ends_a_sweep_whose_strategy_never_returns(desk):
    with begun(desk, "sweep", "path.toml", "--seeds", "4", *OWN, "--out", "swept") as process:
        deadline = time.monotonic() + 60
        while not (desk / "begun").exists() and time.monotonic() < deadline:
            time.sleep(0.05)
        told = ended(process)
    assert process.returncode == 130
    assert "Traceback" not in told


@pytest.mark.parametrize(
    "words",
    [["advise", "path.toml"], ["fit", "capture.pcapng"], ["inspect", "capture.pcapng"], ["plot", "kept"], ["report", "kept"]],
    ids=lambda words: words[0],
)
def test_a_command_that_ctrl_c_ends_says_so(words, monkeypatch, capfd):
    # The signal is sent in this process when the command begins to compute. The time of a signal
    # from another process would be random.
    def interrupted(*_, **__):
        signal.raise_signal(signal.SIGINT)

    for place in (
        "acklab.cli.advise.advise_command",
        "acklab.cli.fit.fit_command",
        "acklab.cli.inspect.inspect_command",
        "acklab.cli.plot.plot_command",
        "acklab.report.write_report",
    ):
        monkeypatch.setattr(place, interrupted)
    monkeypatch.setattr("acklab.cli.signals.Interruption.limit", lambda _: None)
    monkeypatch.setattr(os, "_exit", sys.exit)
    monkeypatch.setattr("acklab.cli.signals.drop_output", lambda *_, **__: None)
    monkeypatch.setattr(sys, "argv", ["acklab", *words])
    handler = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(SystemExit) as done:
            main()
    finally:
        signal.signal(signal.SIGINT, handler)
    assert done.value.code == 130
    assert capfd.readouterr().err.endswith("error: stopped: nothing incomplete was stored\n")


def test_ctrl_c_while_libraries_are_imported_is_no_traceback(tmp_path):
    (tmp_path / "typer.py").write_text("import pathlib, time\npathlib.Path('begun').touch()\ntime.sleep(3600)\n")
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])}
    process = subprocess.Popen([sys.executable, "-m", "acklab"], stderr=subprocess.PIPE, text=True, cwd=tmp_path, env=environment)
    while not (tmp_path / "begun").exists():
        assert process.poll() is None
        time.sleep(0.02)
    assert ended(process) == "error: stopped: nothing incomplete was stored\n"
    assert process.returncode == 130


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_reader_that_takes_nothing_does_not_keep_a_command_from_ending(desk, number):
    # The schema has more bytes than a pipe holds.
    with begun(desk, "schema") as process:
        for _ in range(600):
            waits = Path(f"/proc/{process.pid}/wchan").read_text()
            if "pipe_write" in waits or "pipe_wait" in waits:
                break
            time.sleep(0.1)
        assert process.poll() is None, "it waits for its reader"
        told = ended(process, number)
    assert process.returncode != 0
    assert "Traceback" not in told


@pytest.mark.parametrize("words", [["serve"], ["proxy", "listen"]], ids=" ".join)
def test_a_reader_that_takes_no_lines_does_not_keep_a_server_from_ending(desk, words):
    read, write = os.pipe()
    os.set_blocking(write, False)
    with contextlib.suppress(BlockingIOError):
        while True:
            os.write(write, b"x" * 4096)
    os.set_blocking(write, True)
    command = [sys.executable, "-m", "acklab", *words, "--port", "0", "--bind", "127.0.0.1", "--state", "state"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=write, text=True, cwd=desk) as process:
        try:
            # The first line has the port.
            assert process.stdout is not None
            found = re.search(r"port (\d+)", process.stdout.readline())
            assert found is not None
            port = int(found[1])
            # There is no room for the lines about clients with another protocol. `proxy listen`
            # prints no such lines.
            for _ in range(3):
                with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port)) as client:
                    client.sendall(b"GET / HTTP/1.1\r\n\r\n")
            time.sleep(1)
            began = time.monotonic()
            process.send_signal(signal.SIGTERM)
            process.wait(30)
            assert time.monotonic() - began < PROMISED + LOADED
        finally:
            process.kill()
    for descriptor in (read, write):
        os.close(descriptor)


def test_ctrl_c_ends_an_inspection_whose_capture_comes_to_a_halt(desk):
    os.mkfifo(desk / "capture.pcap")
    with begun(desk, "inspect", "capture.pcap") as process, (desk / "capture.pcap").open("wb") as writer:
        # The header of a pcap file without packets, as a capture program writes it before the first
        # one.
        writer.write(struct.pack("=IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1))
        writer.flush()
        busy(process, 0.1)
        time.sleep(1)
        told = ended(process)
    assert process.returncode == 130
    assert told == "error: stopped: nothing incomplete was stored\n"


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
@pytest.mark.timed
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_emulation_ends_whatever_its_clients_do(desk, number):
    stubborn = (
        '[[application]]\nname = "mark"\nnode = "a"\ncommand = "trap : TERM INT HUP; touch begun; while :; do sleep 1; done"\n'
    )
    (desk / "stubborn.toml").write_text(PATH.format(duration="600s") + stubborn.replace("touch begun", f"touch {desk / 'begun'}"))
    read, write = os.pipe()
    # No process reads its results, for which the pipe has no room.
    os.set_blocking(write, False)
    with contextlib.suppress(BlockingIOError):
        while True:
            os.write(write, b"x" * 4096)
    os.set_blocking(write, True)
    with begun(desk, "emulate", "stubborn.toml", "--watch", "--json", "--out", "kept_emulation", out=write) as process:
        address = process.stderr.readline().split()[-1]
        port = int(address.rstrip("/").rpartition(":")[2])
        idle = [socket.create_connection(("127.0.0.1", port)) for _ in range(3)]
        idle[1].sendall(b"GET / HT")
        idle[2].sendall(b"GET /samples HTTP/1.1\r\nHost: localhost\r\n\r\n")
        deadline = time.monotonic() + 60
        while not (desk / "begun").exists():
            assert time.monotonic() < deadline
            assert process.poll() is None, process.stderr.read()
            time.sleep(0.05)
        time.sleep(2)
        told = ended(process, number)
    assert process.returncode == 130, told
    assert "Traceback" not in told
    # The results are kept nevertheless.
    assert acklab.load_result(desk / "kept_emulation").table("timing")["stopped_time"][0] > 0
    for descriptor in (read, write):
        os.close(descriptor)


def test_a_process_that_ignores_a_signal_still_does():
    # `nohup` lets a process ignore SIGHUP, and a shell lets one in the background ignore Ctrl-C.
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        cancel = acklab.Cancel()
        with stopped_by_signals(cancel):
            assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
            signal.raise_signal(signal.SIGTERM)
            assert cancel.cancelled
            assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL, "a second one ends the process at once"
        assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
        assert signal.getitimer(signal.ITIMER_REAL)[0] == 0
    finally:
        signal.signal(signal.SIGHUP, before)
