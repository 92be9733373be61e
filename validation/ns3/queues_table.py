"""Compares queue disciplines with the queue discs of ns-3 (queues.cc), for the same arrivals.

Run `make queues`, then this script with acklab's Python.

Prints the table of docs/models/queues/README.md. Exits with 1 if drops or delays differ by more
than `DROPS` and `DELAYS`.
"""

import json
import statistics
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import acklab
from acklab.statistics import mean_interval

PROGRAM = Path(__file__).with_name("queues")
FROM, SECONDS = 5, 25
"""What happens before is not counted: ns-3's PIE holds its probability at zero in the burst
allowance of the beginning.
"""
RATE = "10Mbps"
DROPS, DELAYS = 0.03, 0.15
"""Permitted relative differences of drops and delays, for three reasons.

CoDel's square root is exact in acklab, and one Newton step in ns-3. COBALT's first signal is at the
kernel's time in acklab, and an interval later in ns-3. PIE is random.
"""
SEEDS = range(1, 17)
"""Seeds of PIE, which is random."""


@dataclass(frozen=True)
class Flow:
    """Packets of one size at one rate.

    Size and rate refer to the payload. UDP and IPv4 add 28 bytes to each packet.
    """

    start: int
    """Start in nanoseconds. Starts differ, so that no two packets arrive at the same time."""
    payload: int
    rate: int


CASES: Mapping[str, Sequence[Flow]] = {
    "12.3 Mbps": (Flow(0, 1472, 12_267_000),),
    "8, 5 and 0.07 Mbps": (Flow(0, 1472, 8_000_000), Flow(100_000, 1472, 5_000_000), Flow(350_000, 172, 68_800)),
    # The rates have no small common multiple, so that the order of packets varies.
    "six of 1.89 to 2.11 Mbps, 128 to 1472 octets": tuple(
        Flow(130_000 * place, payload, rate)
        for place, (payload, rate) in enumerate(
            ((128, 1_910_000), (256, 2_070_000), (512, 1_970_000), (1024, 2_110_000), (1472, 1_890_000), (1472, 2_030_000))
        )
    ),
}

DISCIPLINES: Mapping[str, tuple[str, Mapping[str, Any]]] = {
    "codel": ("CoDel", {}),
    "fq-codel": ("FqCoDel", {"ecn": False}),
    "cake": ("FqCobalt", {"isolation": "flows", "tins": "best-effort"}),
    "pie": ("Pie", {}),
}
"""For each discipline: the queue disc of ns-3, and the settings that make acklab's discipline equal
to it.
"""


APART = {(list(CASES)[-1], "cake")}
"""Cases that are expected to differ.

Flows near their fair share are served in another order, because ns-3's FqCobalt has the lists of
FQ-CoDel, and CAKE has other lists.
"""


@dataclass(frozen=True)
class Measured:
    """Counts of the packets of a flow."""

    arrived: int
    dropped: int
    delay: float
    """Mean time in ms from arrival to the end of transmission, of transmitted packets."""


def of_ns3(disc: str, flows: Sequence[Flow], seed: int) -> list[Measured]:
    """Runs the program."""
    text = ";".join(f"{flow.start},{flow.payload},{flow.rate}" for flow in flows)
    words = [
        str(PROGRAM),
        f"--disc={disc}",
        f"--rate={RATE}",
        f"--from={FROM}s",
        f"--time={SECONDS}s",
        f"--seed={seed}",
        f"--flows={text}",
    ]
    found = json.loads(subprocess.run(words, check=True, capture_output=True, text=True).stdout)
    return [Measured(one["arrived"], one["dropped"], one["delay_ms"]) for one in found]


def scenario(discipline: str, settings: Mapping[str, Any], flows: Sequence[Flow], seed: int) -> dict[str, Any]:
    """Returns a scenario with the same arrivals at a link with the discipline."""
    return {
        "duration": f"{SECONDS}s",
        "seed": seed,
        "measure": {"from": f"{FROM}s"},
        "link": [
            {
                "name": "link",
                "from": "a",
                "to": "b",
                "forward": {"rate": RATE, "queue": {"discipline": discipline, **settings}},
                "reverse": {"rate": RATE},
            }
        ],
        "flow": [
            {
                "name": f"flow_{place}",
                "from": "a",
                "to": "b",
                "transport": "udp",
                "start": f"{flow.start}ns",
                "traffic": {"model": "constant", "rate": f"{flow.rate}bps", "write": f"{flow.payload}B"},
            }
            for place, flow in enumerate(flows)
        ],
    }


def of_acklab(discipline: str, settings: Mapping[str, Any], flows: Sequence[Flow], seed: int) -> list[Measured]:
    """Runs the scenario."""
    rows = acklab.run(scenario(discipline, settings, flows, seed)).flows.to_dicts()
    return [Measured(row["total_data_packets_l4"], row["total_drops_l2"], row["mean_one_way_delay_l4"]) for row in rows]


def shown(values: Sequence[float]) -> str:
    """Returns a mean over seeds with the half-width of its interval, or a single value."""
    if len(values) == 1:
        return f"{values[0]:,.4g}" if isinstance(values[0], float) else f"{values[0]:,}"
    found = mean_interval(values)
    return f"{found.mean:,.5g} ± {found.half_width:.2g}"


def row(case: str, discipline: str) -> tuple[str, bool]:
    """Returns a row of the table with acklab's and ns-3's values, and whether they agree."""
    flows, (disc, settings) = CASES[case], DISCIPLINES[discipline]
    seeds = SEEDS if discipline == "pie" else SEEDS[:1]
    ours = [of_acklab(discipline, settings, flows, seed) for seed in seeds]
    theirs = [of_ns3(disc, flows, seed) for seed in seeds]
    arrived, expected = ([one.arrived for one in runs[0]] for runs in (ours, theirs))
    if arrived != expected:
        sys.exit(f"error: {case}: found {arrived} arrivals, expected the {expected} of ns-3")
    drops = [[sum(one.dropped for one in run) for run in runs] for runs in (ours, theirs)]
    delays = [[statistics.fmean(run[place].delay for run in runs) for place in range(len(flows))] for runs in (ours, theirs)]
    agrees = close(statistics.fmean(drops[0]), statistics.fmean(drops[1]), DROPS) and all(
        close(one, other, DELAYS) for one, other in zip(*delays, strict=True)
    )
    cells = [
        case,
        f"`{discipline}`",
        f"{sum(arrived):,}",
        *(shown(values) for values in drops),
        *(", ".join(f"{delay:,.3g}" if delay < 100 else f"{delay:,.0f}" for delay in values) for values in delays),
    ]
    return f"| {' | '.join(cells)} |{'' if agrees else ' differs'}", agrees


def close(one: float, other: float, share: float) -> bool:
    """Returns `True` if a number differs from another by at most this share."""
    return abs(one - other) <= share * abs(other)


def main() -> int:
    """Prints the table."""
    print("| arrivals | discipline | packets | dropped | ns-3 | mean delay by flow [ms] | ns-3 |\n|---|---|---|---|---|---|---|")
    found = [row(case, discipline) for case in CASES for discipline in DISCIPLINES if (case, discipline) not in APART]
    print("\n".join(line for line, _ in found))
    return 0 if all(agrees for _, agrees in found) else 1


if __name__ == "__main__":
    sys.exit(main())
