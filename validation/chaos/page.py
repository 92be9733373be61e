"""Clients that hold connections to the page of an emulation, until a signal ends the run."""

import contextlib
import random
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

from validation.chaos.rows import Row
from validation.chaos.store import SCENARIO

_PROMISED = 2.0
"""Maximum seconds until a command ends after a signal."""


def hostile(row: Row, folder: Path, connections: int) -> None:
    """Opens idle and hostile connections, then sends a signal. Checks that the run ends in time."""
    folder.mkdir(exist_ok=True)
    (folder / "path.toml").write_text(SCENARIO.replace("30ms", "600s"), encoding="utf-8")
    chance = random.Random(7)
    for number in (signal.SIGINT, signal.SIGTERM):
        command = [sys.executable, "-m", "acklab", "emulate", "path.toml", "--watch", "--json"]
        with subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as run:
            assert run.stderr is not None
            port = int(run.stderr.readline().split()[-1].rstrip("/").rpartition(":")[2])
            opened: list[socket.socket] = []
            requests = [
                b"",
                b"GET / HT",
                b"GET /samples HTTP/1.1\r\nHost: localhost\r\n\r\n",
                b"GET /plotly.js HTTP/1.1\r\nHost: localhost\r\n\r\n",
            ]
            for _ in range(connections):
                row.inputs += 1
                one = socket.create_connection(("127.0.0.1", port), timeout=5)
                one.settimeout(0.05)
                with contextlib.suppress(OSError):
                    one.sendall(chance.choice([*requests, chance.randbytes(chance.randrange(1, 2000))]))
                opened.append(one)
                if len(opened) > 40:
                    opened.pop(chance.randrange(len(opened))).close()
            stranger = socket.create_connection(("127.0.0.1", port), timeout=5)
            stranger.sendall(b"GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n")
            row.expect(b" 200 " not in stranger.recv(100), "the page answers another site")
            time.sleep(1)
            began = time.monotonic()
            run.send_signal(number)
            try:
                run.wait(20)
            except subprocess.TimeoutExpired:
                run.kill()
            row.expect(
                time.monotonic() - began < 2 * _PROMISED, f"the run ends {time.monotonic() - began:.1f} s after {number.name}"
            )
            row.expect(run.returncode == 130, f"status {run.returncode} after {number.name}")
            row.faults += 1
            for one in [*opened, stranger]:
                one.close()
    row.load = "an emulation with its page"
