"""Measures the growth of a run's cost with its size: scripts/growth.py [NAME …] (`make growth`).

Increases one dimension of a scenario at a time, such as flows or links. Writes docs/growth.json and
the tables of docs/models/growth.md. Fails if the cost of a dimension grows faster than its work.
Each size runs in a separate process, whose processor time and memory are measured. With names, only
these dimensions are measured.
"""

import argparse
import contextlib
import json
import math
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import acklab
from acklab.cli.run import View, show

ROOT = Path(__file__).resolve().parents[1]
DATA = Path("docs") / "growth.json"
PAGE = Path("docs") / "models" / "growth.md"
STEEPEST = 1.5
"""Maximum exponent of the cost; above it, the cost grows faster than the work.

A quadratic cost has the exponent 2. Data that exceed the caches cause an exponent of up to 1.4 on
the measured machine.
"""

Scenario = dict[str, Any]


def _chain(links: int) -> Scenario:
    """Returns one flow of 12 Mbps over this many links."""
    way = {"rate": "100Mbps", "delay": "10us"}
    return {
        "duration": "2s",
        "link": [{"name": f"l{n}", "from": f"n{n}", "to": f"n{n + 1}", "forward": way, "reverse": way} for n in range(links)],
        "flow": [{"from": "n0", "to": f"n{links}", "transport": "udp", "traffic": _constant("12Mbps")}],
    }


def _dumbbell(rate: float, delay: float, queue: int, loss: float = 0.0) -> list[dict[str, Any]]:
    """Returns a bottleneck of `rate` Mbps with a limit of `queue` packets.

    The delay is `delay` ms in each direction.
    """
    forward: dict[str, Any] = {
        "rate": f"{rate:g}Mbps",
        "delay": f"{delay:g}ms",
        "queue": {"discipline": "fifo", "limit": f"{queue}packets"},
    }
    if loss:
        forward["loss"] = {"model": "independent", "probability": loss}
    return [
        {"name": "btl", "from": "a", "to": "b", "forward": forward, "reverse": {"rate": f"{rate:g}Mbps", "delay": f"{delay:g}ms"}}
    ]


def _constant(rate: str) -> dict[str, Any]:
    return {"model": "constant", "rate": rate, "write": "1460B"}


def _flows(flows: int) -> Scenario:
    """Returns flows of CUBIC that share a bottleneck of 1 Mbps per flow."""
    return {
        "duration": "4s",
        "link": _dumbbell(flows, 20, 4 * flows),
        "flow": [{"from": "a", "to": "b", "preset": "linux", "congestion": "cubic"} for _ in range(flows)],
    }


def _stations(stations: int) -> Scenario:
    """Returns stations of 802.11n, whose uploads add up to 20 Mbps."""
    cell = {
        "name": "cell",
        "standard": "802.11n",
        "ap": {"name": "ap"},
        "station": [{"name": "sta", "count": stations}],
    }
    rate = f"{20_000 // stations}kbps"
    flow = {"from": "sta", "to": "ap", "transport": "udp", "traffic": _constant(rate)}
    return {"duration": "4s", "wifi": [cell], "flow": [flow]}


def _duration(seconds: int) -> Scenario:
    """Returns one flow of CUBIC over 20 Mbps for this many seconds."""
    flow = {"from": "a", "to": "b", "preset": "linux", "congestion": "cubic"}
    return {"duration": f"{seconds}s", "link": _dumbbell(20, 20, 67), "flow": [flow]}


def _series(seconds: int) -> Scenario:
    """Returns the scenario of `_duration` with series of packets, events and operating points."""
    return _duration(seconds) | {"measure": {"series": ["packets", "events", "operating_point", "decisions"]}}


def _window(transport: Mapping[str, Any]) -> Callable[[int], Scenario]:
    def scenario(packets: int) -> Scenario:
        """Returns a path with a BDP of `packets` packets and a loss of one in a thousand.

        It runs until the path has carried as many packets as 120 Mbps carry in 8 s.
        """
        # The rate is 10,000 packets per second. BBR fills the path in spite of the losses.
        delay = packets / 10_000 * 1e3 / 2
        flow = {"from": "a", "to": "b", "transport": {**transport, "send_buffer": "256MiB"}}
        return {"duration": "8s", "link": _dumbbell(120, delay, packets, 0.001), "flow": [flow]}

    return scenario


WAYS: Mapping[str, tuple[str, Callable[[int], Scenario], Sequence[int]]] = {
    "flows": ("flows of CUBIC, 1 Mbps per flow, 4 s", _flows, (64, 256, 1024, 4096)),
    "stations": ("stations of 802.11n that upload 20 Mbps in all, 4 s", _stations, (8, 32, 128, 500)),
    "links": ("links in a chain, one flow of 12 Mbps, 2 s", _chain, (64, 256, 1024, 4096)),
    "duration": ("seconds of CUBIC over 20 Mbps", _duration, (16, 64, 256, 1024)),
    "series": ("seconds of CUBIC over 20 Mbps with four series", _series, (16, 64, 256)),
    "window of TCP": (
        "packets that the path holds, BBR, 120 Mbps, 0.1 % lost, 8 s",
        _window({"protocol": "tcp", "preset": "linux", "congestion": "bbr", "receive_buffer": "256MiB"}),
        (100, 400, 1600),
    ),
    "window of TACK": (
        "packets that the path holds, as above, over TACK",
        _window({"protocol": "tack", "receive_buffer": "256MiB"}),
        (100, 400, 1600),
    ),
    "window of QUIC": (
        "packets that the path holds, as above, over QUIC",
        _window(
            {
                "protocol": "quic",
                "congestion": "bbr",
                "flow_control": {"model": "fixed", "stream": "256MiB", "connection": "256MiB"},
            }
        ),
        (100, 400, 1600),
    ),
}


@dataclass(frozen=True)
class Point:
    """The cost of one size."""

    size: int
    hops: int
    """Packets sent on links; for a cell, the number of PPDUs times the nodes that receive each
    PPDU.
    """
    cpu: float
    """Seconds of processor time, of the run and its tables."""
    text: float
    """Seconds of processor time to print the result (`--all`)."""
    memory: float
    """Peak memory in megabytes, without the memory of a process that has run a small scenario."""


def measure(way: str, size: int) -> Point:
    """Runs one size in this process."""
    small = {"duration": "1s", "seed": 1, "link": _dumbbell(1, 1, 10), "flow": [{"from": "a", "to": "b", "preset": "linux"}]}
    acklab.run(small)
    before, start = _peak(), time.process_time()
    result = acklab.run({"seed": 1, **WAYS[way][1](size)})
    ran, peak = time.process_time(), _peak()
    with (
        Path(os.devnull).open("w", encoding="utf-8") as nowhere,
        contextlib.redirect_stdout(nowhere),
        contextlib.redirect_stderr(nowhere),
    ):
        show(result, view=View(everything=True))
    told = time.process_time()
    if "stations" in result.tables:
        work = int(result.stations["total_ppdus_l2"].sum()) * result.stations.height
    else:
        work = int(result.links["total_packets_out_l2"].sum())
    return Point(size, work, ran - start, told - ran, max(peak - before, 0.0))


def _peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3


def measured(way: str, sizes: Sequence[int], times: int = 2) -> list[Point]:
    """Returns the cheapest of several runs of each size.

    Other processes on the machine make runs more expensive, never cheaper.
    """
    points = []
    for size in sizes:
        runs = []
        for _ in range(times):
            words = [sys.executable, __file__, "--one", way, str(size)]
            done = subprocess.run(words, stdout=subprocess.PIPE, text=True, check=True, cwd=ROOT)
            runs.append(Point(**json.loads(done.stdout.splitlines()[-1])))
        points.append(min(runs, key=lambda run: run.cpu))
    return points


def exponent(points: Sequence[Point]) -> float:
    """Returns the exponent with which the processor time grows with the packets.

    1 is proportional, 2 is quadratic. It is computed from the two largest sizes.
    """
    one, other = points[-2:]
    if one.hops and other.hops > 1.5 * one.hops:
        return math.log(other.cpu / one.cpu) / math.log(other.hops / one.hops)
    # The number of packets is constant, and the size makes each packet more expensive.
    return 1.0 + math.log((other.cpu / max(other.hops, 1)) / (one.cpu / max(one.hops, 1))) / math.log(other.size / one.size)


def tables(kept: Mapping[str, Sequence[Mapping[str, Any]]]) -> str:
    """Returns the tables of the page."""
    lines = []
    for way, (title, _, _) in WAYS.items():
        points = [Point(**point) for point in kept[way]]
        lines += [
            f"**{way[0].upper()}{way[1:]}**: {title}. Exponent {exponent(points):.2f}.",
            "",
            "| size | packet hops | CPU, s | ns per hop | text, s | memory, MB |",
            "|---:|---:|---:|---:|---:|---:|",
        ]
        lines += [
            f"| {point.size:,} | {point.hops:,} | {point.cpu:.2f} | {point.cpu / max(point.hops, 1) * 1e9:,.0f} | {point.text:.2f} | {point.memory:.0f} |"
            for point in points
        ]
        lines.append("")
    return "\n".join(lines)


BEGIN, END = "<!-- measured -->\n", "<!-- /measured -->\n"


def put(root: Path, kept: Mapping[str, Sequence[Mapping[str, Any]]]) -> None:
    """Replaces the tables of the page."""
    page = root / PAGE
    before, rest = page.read_text(encoding="utf-8").split(BEGIN)
    _, after = rest.split(END)
    page.write_text(f"{before}{BEGIN}\n{tables(kept)}\n{END}{after}", encoding="utf-8")


def main() -> None:
    """Measures, and rewrites the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(WAYS))
    parser.add_argument("--one", nargs=2, metavar=("NAME", "SIZE"), help="measure one size in this process, and print it as JSON")
    given = parser.parse_args()
    if given.one:
        print(json.dumps(asdict(measure(given.one[0], int(given.one[1])))))
        return
    data = ROOT / DATA
    kept = json.loads(data.read_text(encoding="utf-8")) if data.is_file() else {}
    for way in given.names or WAYS:
        if way not in WAYS:
            parser.error(f"found {way!r}, expected one of {', '.join(WAYS)}")
        points = measured(way, WAYS[way][2])
        kept[way] = [asdict(point) for point in points]
        print(
            f"{way}: " + ", ".join(f"{point.size}: {point.cpu:.2f} s" for point in points) + f"; exponent {exponent(points):.2f}"
        )
    data.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")
    put(ROOT, kept)
    steep = [way for way in WAYS if exponent([Point(**point) for point in kept[way]]) > STEEPEST]
    if steep:
        sys.exit(f"error: found {', '.join(steep)}, whose cost grows faster than its work (exponent above {STEEPEST})")


if __name__ == "__main__":
    main()
