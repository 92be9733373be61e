"""Two hosts and a router between them, each in a network namespace, and processes there."""

import contextlib
import os
import signal
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass

_NUMBER = os.getpid()
NEAR, WIRE, FAR = (f"{name}{_NUMBER}" for name in ("near", "wire", "far"))
ADDRESSES = {NEAR: "10.8.1.2", FAR: "10.8.2.2"}
"""The addresses of the two hosts; the router has .1 in both networks."""
SIDES = {NEAR: "to_near", FAR: "to_far"}
"""The interfaces of the router."""


def ip(*words: object) -> None:
    """Runs `ip`."""
    subprocess.run(["ip", *map(str, words)], capture_output=True, check=True)


def within(host: str, *words: object) -> list[str]:
    """Returns the words that run a command on a host."""
    return ["ip", "netns", "exec", host, *map(str, words)]


@contextlib.contextmanager
def two_hosts() -> Iterator[None]:
    """Creates the two hosts and the router between them, and removes them at the end."""
    _clear()
    try:
        for host in (NEAR, WIRE, FAR):
            ip("netns", "add", host)
            ip("-n", host, "link", "set", "lo", "up")
        for host, side in SIDES.items():
            network = ADDRESSES[host].rpartition(".")[0]
            ip("link", "add", "lan", "netns", host, "type", "veth", "peer", "name", side, "netns", WIRE)
            ip("-n", WIRE, "addr", "add", f"{network}.1/24", "dev", side)
            ip("-n", WIRE, "link", "set", side, "up")
            ip("-n", host, "link", "set", "lan", "up")
            address(host, ADDRESSES[host])
        subprocess.run(within(WIRE, "sysctl", "-qw", "net.ipv4.ip_forward=1"), check=True)
        yield
    finally:
        _clear()


def address(host: str, new: str) -> None:
    """Gives a host another address, and restores its default route."""
    subprocess.run(["ip", "-n", host, "addr", "flush", "dev", "lan"], capture_output=True, check=True)
    ip("-n", host, "addr", "add", f"{new}/24", "dev", "lan")
    ip("-n", host, "route", "replace", "default", "via", f"{new.rpartition('.')[0]}.1")


def losing(percent: int) -> None:
    """Makes the router drop this percentage of UDP datagrams in both directions; 0 stops it."""
    subprocess.run(within(WIRE, "nft", "delete", "table", "ip", "chaos"), capture_output=True, check=False)
    if percent:
        rules = f"table ip chaos {{ chain f {{ type filter hook forward priority 0; meta l4proto udp numgen random mod 100 < {percent} drop; }}; }}"
        subprocess.run(within(WIRE, "nft", rules), check=True, capture_output=True)


@dataclass
class Running:
    """A process and its children, which form a process group."""

    process: "subprocess.Popen[str]"

    def signal(self, number: int) -> None:
        """Sends a signal to the process and its children."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, number)

    def line(self) -> str:
        """Returns the next line of the process's output."""
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        assert line, "the process has ended"
        return line

    def memory(self) -> int:
        """Returns the resident memory of the process, in bytes."""
        with open(f"/proc/{self.process.pid}/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGESIZE")

    def end(self) -> None:
        """Kills the process and its children."""
        self.signal(signal.SIGCONT)
        self.signal(signal.SIGKILL)
        self.process.wait()


@contextlib.contextmanager
def running(
    host: str, *words: object, environment: dict[str, str] | None = None, prefix: tuple[str, ...] = ()
) -> Iterator[Running]:
    """Runs a command on a host until the end of the block."""
    process = subprocess.Popen(
        # The namespace has another /sys, without control groups.
        [*prefix, *within(host, *words)],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        start_new_session=True,
        env=os.environ | (environment or {}),
    )
    found = Running(process)
    try:
        yield found
    finally:
        found.end()


def _clear() -> None:
    for host in (NEAR, WIRE, FAR):
        subprocess.run(["ip", "netns", "del", host], capture_output=True, check=False)
