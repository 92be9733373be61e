"""Measures the limits of paths between two interfaces on this machine, as tables.

`sudo .venv/bin/python validation/inline/table.py [--quick]`.

Takes six minutes on an idle machine (two minutes with --quick). Measures the capacity in packets
per second and the added delay, on veth between three network namespaces. Measures the kernel's
CUBIC and BBR over asymmetric links and a cell of 802.11n. Compares the results with simulations of
the same paths, and with a published number if there is one.
"""

import argparse
import contextlib
import copy
import json
import re
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests"))
import acklab
from acklab.inliner import line
from between import ADDRESSES, EAST, WEST, Standing, bridge, hosts, ip, iperf3, standing, within

LOAD = """
import os, socket, sys, time
os.sched_setaffinity(0, {0})
address, payload, seconds, rate = sys.argv[1], *map(int, sys.argv[2:])
sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
sender.setsockopt(socket.SOL_UDP, 103, payload)  # UDP_SEGMENT, linux/udp.h
sender.connect((address, 9))
octets, start, sent = bytes(payload * 40), time.monotonic(), 0
while (now := time.monotonic() - start) < seconds:
    if sent < now * rate:
        try: sender.send(octets)
        except OSError: pass
        sent += 40
print(sent / now)
"""
"""Program that sends UDP datagrams at a rate, forty per system call, on the first processor."""


NOBODY = "10.9.0.9"
"""An address in the west that no host has."""


@dataclass(frozen=True)
class Carried:
    """Delivered part of a load."""

    offered: float
    """Packets per second."""
    passed: float
    """Packets per second that arrived over the path."""
    cpu: float
    """Processor time of the process per packet, in microseconds."""
    lost: float
    """Share of the packets that were lost before they entered the path."""

    @property
    def is_whole(self) -> bool:
        """Returns whether at least 99.9 % of the packets passed."""
        return self.lost < 0.001 and self.passed > 0.99 * self.offered


@contextlib.contextmanager
def between() -> Iterator[Standing]:
    """Yields a path without delay, loss or rate limit, in a bridge between two hosts."""
    with hosts():
        bridge()
        with standing("east", "west", may_stall=True) as path:
            yield path


def carried(payload: int, rate: int, seconds: int) -> Carried:
    """Measures the share of packets with this payload that is delivered at a rate."""
    with between() as path:
        # The frames have the address of a host that does not exist. An existing host would use the
        # same processor, and respond with ICMP errors.
        ip("-n", EAST, "neigh", "replace", NOBODY, "lladdr", "02:00:00:00:00:09", "dev", "lan")
        load = within(EAST, sys.executable, "-c", LOAD, NOBODY, payload, seconds, rate)
        before = path.processor_time()
        done = subprocess.run(load, capture_output=True, text=True, check=True)
        used = path.processor_time() - before
        offered = float(done.stdout)
    east, west = path.result["interfaces"]
    lost = east["overruns"] / max(1, east["overruns"] + east["entered"])
    passed = (west["left"] - east["bypassed"]) / seconds
    return Carried(offered, passed, used / max(1, west["left"]) * 1e6, lost)


def capacity(payload: int, seconds: int) -> Carried:
    """Returns the maximum load at which at least 99.9 % of the packets pass."""
    best = Carried(0, 0, 0, 1)
    for rate in (100_000, 200_000, 300_000, 350_000, 400_000, 450_000, 500_000, 600_000, 700_000):
        found = carried(payload, rate, seconds)
        if not found.is_whole:
            return best
        best = found
    return best


def round_trips(count: int) -> list[float]:
    """Returns the RTTs of pings at intervals of a millisecond, in microseconds."""
    done = subprocess.run(
        within(EAST, "ping", "-c", count, "-i", "0.001", ADDRESSES[WEST]), capture_output=True, text=True, check=False
    )
    return sorted(float(found) * 1000 for found in re.findall(r"time=([\d.]+)", done.stdout))[: count - 1]


def latency(count: int) -> tuple[list[float], list[float]]:
    """Measures RTTs over the bridge alone, and with a path without delay in it."""
    with hosts():
        bridge()
        round_trips(100)
        without = round_trips(count)
        with standing("east", "west", may_stall=True):
            round_trips(100)
            return without, round_trips(count)


def quantile(values: list[float], share: float) -> float:
    """Returns the quantile: the value that this share of all values does not exceed."""
    return sorted(values)[min(len(values) - 1, int(share * len(values)))]


@dataclass(frozen=True)
class Case:
    """A path, and the published goodput; None if there is none."""

    name: str
    scenario: dict[str, Any]
    sender: str = EAST
    published: str = "–"


def cases() -> list[Case]:
    """Returns the paths of the comparison."""

    def asymmetric(**settings: Any) -> dict[str, Any]:
        return line(("east", "west"), **settings)

    # RFC 3449, §2: the goodput at which the return link is full of ACKs of 52 bytes, one per two
    # segments.
    slow = 64_000 / (52 * 8) * 2 * 1448 * 8 / 1e6
    cell = {
        "seed": 1,
        "link": [
            {
                "name": "wire",
                "from": "east",
                "to": "ap",
                "forward": {"rate": "100Mbps", "delay": "10ms"},
                "reverse": {"rate": "100Mbps", "delay": "10ms"},
            }
        ],
        "wifi": [
            {
                "name": "cell",
                "standard": "802.11n",
                "rate": {"control": "fixed"},
                "ap": {"name": "ap", "queue": {"discipline": "fifo", "limit": "500packets"}},
                "station": [{"name": "west", "queue": {"discipline": "fifo", "limit": "500packets"}}],
            }
        ],
        "interface": [{"node": "east", "device": "east"}, {"node": "west", "device": "west"}],
    }
    return [
        Case(
            "100/2 Mbps", asymmetric(rate="100Mbps/2Mbps", delay="10ms", queue="200packets"), published=f"{100 * 1448 / 1500:.1f}"
        ),
        Case(
            "10 Mbps, 64 kbit/s back",
            asymmetric(rate="10Mbps/64kbps", delay="10ms", queue="50packets/10packets"),
            published=f"{slow:.2f}",
        ),
        Case(
            "10 Mbps, 64 kbit/s back, ACK filter",
            asymmetric(rate="10Mbps/64kbps", delay="10ms", queue="50packets/10packets", ack_filter="none/news"),
            published=f"{10 * 1448 / 1500:.2f}",
        ),
        Case("802.11n download", cell),
        Case("802.11n upload", cell, sender=WEST),
    ]


SETTLED = 12
"""Time in seconds from which goodput is measured.

BBR's first ProbeRTT, after ten seconds, removes the excess window of Startup.
"""
STARTS = range(0, 20, 4)
"""Start times of the simulated flow in milliseconds.

In the measurement, the phase of the path at the start is random.
"""
TOLERANCE = 0.05
"""Maximum relative distance of a goodput from the range of the simulations."""
MAX_RUNS = 3
"""A goodput outside of the range is measured this many times, and the median is used.

So interruptions of a host by other processes do not affect the result.
"""


def simulated(case: Case, congestion: str, seconds: int, from_: int) -> list[float]:
    """Simulates the path once for each start time. Returns the goodputs in Mbps."""
    scenario = copy.deepcopy(case.scenario)
    del scenario["interface"]
    source, target = ("east", "west") if case.sender == EAST else ("west", "east")
    flow = {"name": "flow", "from": source, "to": target, "preset": "linux", "congestion": congestion}
    scenario |= {"duration": f"{seconds}s", "measure": {"from": f"{from_}s"}}
    runs = [acklab.run({**scenario, "flow": [{**flow, "start": f"{start}ms"}]}) for start in STARTS]
    return sorted(float(run.flows["mean_throughput_l4"][0]) for run in runs)


def beyond(goodput: float, expected: list[float]) -> float:
    """Returns the relative distance of a goodput from the simulated range; 0 within it."""
    return min(0.0, goodput / expected[0] - 1) + max(0.0, goodput / expected[-1] - 1)


@dataclass(frozen=True)
class Measured:
    """The goodput of runs between interfaces."""

    goodputs: list[float]
    lateness: float
    """Maximum over the runs of the 99th percentile of the lateness, in microseconds."""

    @property
    def goodput(self) -> float:
        """Returns the median, in Mbps."""
        return statistics.median(self.goodputs)


def measured(case: Case, congestion: str, seconds: int, from_: int, expected: list[float]) -> Measured:
    """Measures one run, or three if the first is outside the expected range."""
    goodputs: list[float] = []
    lateness: list[float] = []
    while not goodputs or (abs(beyond(goodputs[0], expected)) > TOLERANCE and len(goodputs) < MAX_RUNS):
        goodput, tables = stood_between(case, congestion, seconds, from_)
        goodputs.append(goodput)
        lateness.append(tables["timing"][0]["p99_lateness"])
    return Measured(goodputs, max(lateness))


def stood_between(case: Case, congestion: str, seconds: int, from_: int) -> tuple[float, dict[str, Any]]:
    """Returns the kernel's goodput over the path between interfaces [Mbps], and its tables."""
    with tempfile.TemporaryDirectory() as folder, hosts():
        bridge()
        file = Path(folder) / "scenario.json"
        file.write_text(json.dumps(case.scenario), encoding="utf-8")
        with (
            standing(file, may_stall=True) as path,
            iperf3(seconds - from_, "-C", congestion, "-O", from_, sender=case.sender) as report,
        ):
            pass
    return report["end"]["sum_received"]["bits_per_second"] / 1e6, path.result


def main() -> int:
    """Prints the tables. Returns 1 if a goodput is over 5 % outside the simulated range."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--only", choices=["speed", "tcp"])
    chosen = parser.parse_args()
    if chosen.only != "tcp":
        for payload in (18, 1472):
            found = capacity(payload, 2 if chosen.quick else 4)
            print(
                f"packets of {payload + 28} octets: {found.passed:,.0f} per second, {found.cpu:.2f} us of processor time for each",
                flush=True,
            )
        without, with_path = latency(1000 if chosen.quick else 5000)
        for share in (0.5, 0.99):
            added = (quantile(with_path, share) - quantile(without, share)) / 2
            print(
                f"added delay, one way, p{share * 100:.0f}: {added:.0f} us (round trips {quantile(without, share):.0f} and {quantile(with_path, share):.0f} us)"
            )
    differs = False
    if chosen.only != "speed":
        seconds, from_ = (SETTLED + 6 if chosen.quick else SETTLED + 12), SETTLED
        print(
            "| path | congestion control | published | simulated | inline | outside of that | p99 lateness, us |\n|---|---|---|---|---|---|---|"
        )
        for case in cases():
            for congestion in ("cubic", "bbr"):
                expected = simulated(case, congestion, seconds, from_)
                inline = measured(case, congestion, seconds, from_, expected)
                outside = beyond(inline.goodput, expected)
                differs |= abs(outside) > TOLERANCE
                runs = f" (of {', '.join(f'{goodput:.2f}' for goodput in inline.goodputs)})" if len(inline.goodputs) > 1 else ""
                print(
                    f"| {case.name} | {congestion} | {case.published} | {expected[0]:.2f}–{expected[-1]:.2f} | {inline.goodput:.2f}{runs} | {outside:+.1%} | {inline.lateness:.0f} |",
                    flush=True,
                )
    return int(differs)


if __name__ == "__main__":
    sys.exit(main())
