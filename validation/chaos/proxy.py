"""Faults of the path and of both ends while transfers go through `acklab proxy`."""

import contextlib
import json
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from validation.chaos.hosts import ADDRESSES, FAR, NEAR, SIDES, WIRE, Running, address, ip, losing, running, two_hosts, within
from validation.chaos.rows import Row

HERE = Path(__file__).parent
PORT, FORWARD, ORIGIN, SOCKS = 8225, 9001, 9000, 1080
WORKERS = 8
"""Number of concurrent transfers, half of them uploads."""
OCTETS = 8 << 20
"""Octets of a transfer."""
GROWTH = 200e6
"""Maximum growth of the far side's memory in bytes.

Chosen: each of its 8 transfers may buffer 16 MB, the window of a stream.
"""
_READY = 20.0
"""Maximum seconds until transfers succeed again after a fault."""


@dataclass
class Proxy:
    """Both sides of a proxy, with a server behind the far side and programs at the near side."""

    folder: Path
    sides: dict[str, Running]
    stack: contextlib.ExitStack
    fingerprint: str = ""
    token: str = ""

    def far(self, prefix: tuple[str, ...] = (), environment: dict[str, str] | None = None) -> None:
        """Starts the far side, with the state of an earlier far side."""
        words = ["proxy", "listen", "--json", "--port", PORT, "--to", f"127.0.0.1:{ORIGIN}", "--state", self.folder / "state"]
        self.sides[FAR] = self._started(FAR, words, prefix, environment)
        told = json.loads(self.sides[FAR].line())
        assert self.fingerprint in ("", told["fingerprint"]), "the identity of a server survives its end"
        self.fingerprint, self.token = told["fingerprint"], told["token"]

    def near(self, prefix: tuple[str, ...] = (), environment: dict[str, str] | None = None) -> None:
        """Starts the near side."""
        via = ["--via", f"{ADDRESSES[FAR]}:{PORT}", "--fingerprint", self.fingerprint, "--token", self.token]
        words = ["proxy", "connect", "--json", *via, "--forward", f"{FORWARD}:127.0.0.1:{ORIGIN}"]
        self.sides[NEAR] = self._started(NEAR, words, prefix, environment)
        self.sides[NEAR].line()

    def _started(self, host: str, words: list[Any], prefix: tuple[str, ...], environment: dict[str, str] | None) -> Running:
        command = running(host, sys.executable, "-m", "acklab", *words, prefix=prefix, environment=environment)
        return self.stack.enter_context(command)

    def seen(self) -> list[dict[str, Any]]:
        """Returns the records of all transfers that ended at one of the two ends."""
        lines = []
        for path in self.folder.glob("*.log"):
            # The last line may be incomplete.
            lines += [
                json.loads(line) for line in path.read_text(encoding="ascii").splitlines(keepends=True) if line.endswith("\n")
            ]
        return lines

    def whole(self) -> int:
        """Returns the number of complete transfers."""
        return sum(not seen["error"] and not seen["lost"] and seen["way"] != "answer" for seen in self.seen())

    def goes_on(self, row: Row, what: str) -> None:
        """Waits until transfers succeed again after a fault."""
        before, until = self.whole(), time.monotonic() + _READY
        while time.monotonic() < until:
            if self.whole() >= before + 2:
                row.faults += 1
                return
            time.sleep(0.1)
        row.broken.append(f"no transfer succeeds within {_READY:g} s after {what}")


@contextlib.contextmanager
def standing(folder: Path, **how: Any) -> Iterator[Proxy]:
    """Yields a proxy between two hosts, under load."""
    folder.mkdir(parents=True, exist_ok=True)
    with two_hosts(), contextlib.ExitStack() as stack:
        proxy = Proxy(folder, {}, stack)
        origin = stack.enter_context(running(FAR, sys.executable, HERE / "origin.py", "serve", ORIGIN, folder / "origin.log"))
        origin.line()
        proxy.far(**how)
        proxy.near(**how)
        load = [sys.executable, HERE / "origin.py", "load", FORWARD, WORKERS, OCTETS, folder / "load.log"]
        stack.enter_context(running(NEAR, *load)).line()
        yield proxy


def account(row: Row, proxy: Proxy) -> None:
    """Adds the transferred and the lost bytes to the row."""
    seen = proxy.seen()
    row.lost += sum(one["lost"] for one in seen)
    carried = sum(one["octets"] for one in seen)
    ended = Counter("reset" if one["error"] else "whole" for one in seen if one["way"] != "answer")
    row.load = f"{WORKERS} transfers, {carried / 1e6:,.0f} MB: {ended['whole']} whole, {ended['reset']} reset"
    row.expect(ended["whole"] > 0, "no transfer was whole")


def path(row: Row, folder: Path, seconds: float) -> None:
    """Breaks the path during transfers: links, addresses, packet sizes, and loss."""
    chance = random.Random(1)

    def link_down() -> None:
        side = chance.choice(list(SIDES.values()))
        ip("-n", WIRE, "link", "set", side, "down")
        time.sleep(chance.uniform(0.2, 3))
        ip("-n", WIRE, "link", "set", side, "up")
        # The kernel removes the route together with the link.
        for host in (NEAR, FAR):
            ip("-n", host, "route", "replace", "default", "via", f"{ADDRESSES[host].rpartition('.')[0]}.1")

    def addresses() -> None:
        for _ in range(4):
            address(NEAR, f"10.8.1.{chance.randrange(10, 250)}")
            time.sleep(0.5)

    def sizes() -> None:
        for mtu in (600, 1280, 1500, 9000, 1500):
            for host, side in SIDES.items():
                ip("-n", host, "link", "set", "lan", "mtu", mtu)
                ip("-n", WIRE, "link", "set", side, "mtu", mtu)
            time.sleep(0.5)

    def loss() -> None:
        losing(40)
        time.sleep(3)
        losing(0)

    faults: dict[str, Callable[[], None]] = {
        "a link was down": link_down,
        "addresses changed": addresses,
        "sizes changed": sizes,
        "40 % were lost": loss,
    }
    with standing(folder) as proxy:
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            what = chance.choice(list(faults))
            faults[what]()
            proxy.goes_on(row, what)
        account(row, proxy)


def ends(row: Row, folder: Path, seconds: float) -> None:
    """Suspends, kills, stops and restarts both ends."""
    chance = random.Random(2)
    with standing(folder) as proxy:
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            host = chance.choice([NEAR, FAR])
            number = chance.choice([signal.SIGSTOP, signal.SIGKILL, signal.SIGTERM])
            side = proxy.sides[host]
            side.signal(number)
            if number == signal.SIGSTOP:
                time.sleep(chance.uniform(0.5, 4))
                side.signal(signal.SIGCONT)
            else:
                try:
                    side.process.wait(10)
                except subprocess.TimeoutExpired:
                    row.broken.append(f"a side does not end on {signal.Signals(number).name}")
                proxy.far() if host == FAR else proxy.near()
            proxy.goes_on(row, f"{signal.Signals(number).name} of the {'near' if host == NEAR else 'far'} side")
        account(row, proxy)


HOSTILE = """
import json, random, socket, sys, time
until, address, port = time.monotonic() + float(sys.argv[1]), sys.argv[2], int(sys.argv[3])
chance, sender, sent = random.Random(3), socket.socket(socket.AF_INET, socket.SOCK_DGRAM), 0
seen = [b"\\xc0" + chance.randbytes(1199), b"\\x40" + chance.randbytes(99), bytes(1200), b""]
while time.monotonic() < until:
    octets = bytearray(chance.choice(seen))
    for _ in range(chance.randrange(4)):
        if octets:
            octets[chance.randrange(min(64, len(octets)))] = chance.randrange(256)
    try: sender.sendto(octets[: chance.randrange(1, 1500)], (address, port))
    except OSError: pass
    sent += 1
    if sent % 100 == 0: time.sleep(0.005)
print(json.dumps([sent, 0]))
"""


def strangers(row: Row, folder: Path, seconds: float) -> None:
    """Sends datagrams without a connection, wrong tokens and malformed requests.

    Transfers run meanwhile.
    """
    with standing(folder) as proxy:
        via = [ADDRESSES[FAR], PORT, proxy.fingerprint]
        words = ["proxy", "connect", "--json", "--via", f"{ADDRESSES[FAR]}:{PORT}", "--fingerprint", proxy.fingerprint]
        socks = [*words, "--token", proxy.token, "--socks", f"127.0.0.1:{SOCKS}"]
        before = proxy.sides[FAR].memory()
        with running(NEAR, sys.executable, "-m", "acklab", *socks) as near:
            near.line()
            scripts: list[tuple[str, list[Any]]] = [(HOSTILE, via[:2]), (TOKENS, [*via, proxy.token]), (REQUESTS, [SOCKS])]
            commands = [within(NEAR, sys.executable, "-c", script, seconds, *given) for script, given in scripts]
            tries = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for command in commands]
            for one in tries:
                printed, _ = one.communicate()
                row.expect(one.returncode == 0, "the attempts fail")
                tried, answered = json.loads(printed or "[0, 0]")
                row.inputs += tried
                row.expect(answered == 0, f"{answered} connections of strangers were answered")
        proxy.goes_on(row, "the flood")
        grown = proxy.sides[FAR].memory() - before
        row.expect(grown < GROWTH, f"the far side has grown by {grown / 1e6:.0f} MB")
        account(row, proxy)


TOKENS = """
import json, random, sys, time
from acklab import _core, core
from acklab.errors import AcklabError
until, chance, tried, answered = time.monotonic() + float(sys.argv[1]), random.Random(4), 0, 0
address, port, fingerprint, right = sys.argv[2], int(sys.argv[3]), *sys.argv[4:]
cancel = core.Cancel()
def ready(bound):
    global answered
    answered += 1
    cancel.cancel()
while time.monotonic() < until:
    place, tried = chance.randrange(len(right)), tried + 1
    # All digits are wrong, or one is.
    wrong = [f"{chance.getrandbits(256):064x}", right[:place] + f"{int(right[place], 16) ^ 1:x}" + right[place + 1 :]]
    try:
        _core.proxy_connect(
            address, port, chance.choice(wrong), "127.0.0.1:0", [], ready, fingerprint=fingerprint, cancel=cancel
        )
    except AcklabError:
        pass
print(json.dumps([tried, answered]))
"""

REQUESTS = """
import json, random, socket, sys, time
until, chance, tried = time.monotonic() + float(sys.argv[1]), random.Random(4), 0
while time.monotonic() < until:
    tried += 1
    try:
        with socket.create_connection(("127.0.0.1", int(sys.argv[2])), timeout=3) as one:
            one.sendall(chance.choice([b"", b"\\5\\1\\0", b"\\5\\1\\0\\5\\1\\0\\1"]) + chance.randbytes(chance.randrange(1, 300)))
            one.shutdown(socket.SHUT_WR)
            while one.recv(100): pass
    except OSError: pass
print(json.dumps([tried, 0]))
"""


def full_disk(row: Row, folder: Path, seconds: float) -> None:
    """During transfers, runs programs that store a download on a disk until it is full."""
    with standing(folder) as proxy:
        before = proxy.sides[FAR].memory()
        until = time.monotonic() + seconds
        disk = folder / "disk"
        disk.mkdir()
        script = "mount -t tmpfs -o size=1m none disk && exec python3 receive.py"
        (folder / "receive.py").write_text(RECEIVE.replace("FORWARD", str(FORWARD)), encoding="utf-8")
        while time.monotonic() < until:
            command = within(NEAR, "unshare", "--mount", "sh", "-c", script)
            done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder)
            row.expect(done.stdout == "No space left on device\n", f"the disk did not fill: {done.stdout}{done.stderr[-200:]}")
            proxy.goes_on(row, "a disk that filled")
        grown = proxy.sides[FAR].memory() - before
        row.expect(grown < GROWTH, f"the far side has grown by {grown / 1e6:.0f} MB")
        account(row, proxy)


RECEIVE = """
import socket
with socket.create_connection(("127.0.0.1", FORWARD)) as one, open("disk/file", "wb", buffering=0) as file:
    one.sendall(b'["down", 7, 8000000]\\n')
    try:
        while part := one.recv(65536):
            file.write(part)
    except OSError as error:
        print(error.strerror)
"""
