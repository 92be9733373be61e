"""A host in the east, a host in the west, and `acklab inline` in the middle, each in a network
namespace. Tests and `validation/inline` use it.
"""

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

_NUMBER = os.environ.setdefault("ACKLAB_BETWEEN", str(os.getpid()))
"""Number of this process, so that several may run on one machine.

Its child processes receive the number.
"""
EAST, MIDDLE, WEST = f"east{_NUMBER}", f"middle{_NUMBER}", f"west{_NUMBER}"
ADDRESSES = {EAST: "10.9.0.1", WEST: "10.9.0.2"}
SIDES = {EAST: "east", WEST: "west"}
"""The interfaces in the middle to which the hosts are connected."""
PRIORITY = 5
"""The real-time priority of iperf3, below that of the thread that carries packets (`CARRIER` in
`crates/live/src/realtime.rs`).

If iperf3 is interrupted while it holds the lock of its socket, the socket's ACKs wait. The receiver
then acknowledges up to twenty segments with one ACK. BBR treats this as ACK aggregation, and
enlarges its window.
"""


def ip(*words: str) -> str:
    """Returns the output of `ip`."""
    done = subprocess.run(["ip", *words], capture_output=True, text=True, check=False)
    assert done.returncode == 0, (words, done.stderr)
    return done.stdout


def within(namespace: str, *command: object) -> list[str]:
    """Returns the command that runs `command` in a namespace."""
    return ["ip", "netns", "exec", namespace, *map(str, command)]


def links(namespace: str = MIDDLE) -> dict[str, dict[str, Any]]:
    """Returns the devices of a namespace."""
    return {link["ifname"]: link for link in json.loads(ip("-n", namespace, "-d", "-j", "link"))}


def bridge() -> None:
    """Connects the interfaces in the middle by a bridge."""
    ip("-n", MIDDLE, "link", "add", "br0", "type", "bridge")
    for side in SIDES.values():
        ip("-n", MIDDLE, "link", "set", side, "master", "br0")
    ip("-n", MIDDLE, "link", "set", "br0", "up")


@contextlib.contextmanager
def hosts() -> Iterator[None]:
    """Yields the two hosts. The middle does not forward yet."""
    _clear()
    try:
        for name in (EAST, MIDDLE, WEST):
            ip("netns", "add", name)
        for name, side in SIDES.items():
            ip("link", "add", "lan", "netns", name, "type", "veth", "peer", "name", side, "netns", MIDDLE)
            ip("-n", name, "addr", "add", f"{ADDRESSES[name]}/24", "dev", "lan")
            ip("-n", name, "addr", "add", f"fd09::{ADDRESSES[name][-1]}/64", "dev", "lan", "nodad")
            ip("-n", name, "link", "set", "lan", "up")
            ip("-n", MIDDLE, "link", "set", side, "up")
        # The kernel reports a carrier shortly after both ends are up.
        while any(links()[side]["operstate"] != "UP" for side in SIDES.values()):
            time.sleep(0.01)
        yield
    finally:
        _clear()


def _clear() -> None:
    for name in (EAST, MIDDLE, WEST):
        subprocess.run(["ip", "netns", "del", name], capture_output=True, check=False)


@dataclass
class Standing:
    """A running `acklab inline`."""

    process: "subprocess.Popen[str]"
    told: str = ""
    """The output until it was running."""
    result: dict[str, Any] = field(default_factory=dict)
    """Tables of the run, once it has ended in order."""

    def stalls(self) -> int:
        """Returns the number of stalls of the run, once it has ended in order."""
        return int(self.result["inline"][0]["stalls"]) if self.result else 0

    def processor_time(self) -> float:
        """Returns the processor time of the process in seconds."""
        with open(f"/proc/{self.process.pid}/stat", encoding="utf-8") as file:
            fields = file.read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _end(path: Standing) -> None:
    if path.process.poll() is None:
        path.process.send_signal(signal.SIGTERM)
    output, errors = path.process.communicate(timeout=60)
    assert path.process.returncode in (0, -signal.SIGKILL), errors
    if path.process.returncode == 0:
        path.result = json.loads(output)


class Stalled(AssertionError):
    """The machine stopped `acklab inline` for so long that traffic bypassed it.

    The results then do not show the behaviour of acklab.
    """


@contextlib.contextmanager
def standing(*words: object, may_stall: bool = False) -> Iterator[Standing]:
    """Starts `acklab inline`, and ends it in order unless it was killed.

    Raises `Stalled` if it stalled and `may_stall` is false.
    """
    command = within(MIDDLE, sys.executable, "-m", "acklab", "inline", *words, "--json")
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    path = Standing(process)
    try:
        assert process.stderr is not None
        while "running between the interfaces" not in path.told:
            line = process.stderr.readline()
            assert line, path.told
            path.told += line
        try:
            yield path
        except AssertionError as error:
            _end(path)
            if path.stalls() > 0:
                raise Stalled from error
            raise
        _end(path)
        if path.stalls() > 0 and not may_stall:
            raise Stalled
    finally:
        if process.poll() is None:
            process.kill()
            process.communicate()


@contextlib.contextmanager
def iperf3(seconds: int, *words: object, sender: str = EAST) -> Iterator[dict[str, Any]]:
    """Yields a running measurement from one host to the other.

    The report of iperf3 is available after the block.
    """
    receiver = WEST if sender == EAST else EAST
    program = ("chrt", "--fifo", PRIORITY, "iperf3")
    server = subprocess.Popen(within(receiver, *program, "-s", "-1"), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    report: dict[str, Any] = {}
    try:
        time.sleep(0.4)
        command = within(sender, *program, "-c", ADDRESSES[receiver], "-t", seconds, "-J", *words)
        client = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        yield report
        output, _ = client.communicate(timeout=seconds + 60)
        report.update(json.loads(output))
        assert "error" not in report, report["error"]
    finally:
        server.kill()
        server.wait()
