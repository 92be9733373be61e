"""Inspects captures of QUIC with the latency spin bit (RFC 9000, §17.4).

Usage: `python validation/inspection/quic.py [FIRST [COUNT]]`.

The paths are those of `paths.py` without ACK filters, alternately with acklab's QUIC and with
quinn. Each end of quinn sets the bit at random in an eighth of its connections. A third of the
paths deliver one packet in a hundred late, in both directions. Numbers below 1000 and 60000 to
60399 were used for development. Results of 63000 to 63399 were examined. Numbers from 67000 on are
a held-out test set.
"""

import random
import sys
import tempfile
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2]))

from acklab import inspection
from validation.inspection import judging, paths

KEPT = (67_000, 100)
_HEADERS = 28
"""Octets of IPv4 and UDP."""
_INITIAL = 1200 + _HEADERS
"""Size of the datagrams of a handshake, which are padded (RFC 9000, §14.1)."""
_ACK = 42 + _HEADERS
"""Size of a datagram with an ACK."""
_HANDSHAKE = "base RTT, of a handshake or less"
TOLERANCES = {"rate": 0.05, "base RTT": 0.02, _HANDSHAKE: 0.02, "mean RTT": 0.10}


def with_late_packets(path: paths.Path, number: int) -> paths.Path:
    """Returns the path.

    In one of three cases, the path delivers some packets late, in both directions.
    """
    chance = random.Random(f"quic/{number}")
    if chance.random() > 1 / 3:
        return path
    late = {"reorder": {"probability": 0.01, "by": f"{path.propagation * chance.uniform(0.02, 0.3):.3f}ms"}}
    left, bottleneck, right = path.scenario["link"]
    bottleneck = bottleneck | {way: bottleneck[way] | late for way in ("forward", "reverse")}
    return replace(path, scenario=path.scenario | {"link": [left, bottleneck, right]})


def is_late(path: paths.Path) -> bool:
    """Returns whether the path delivers some packets late."""
    return "reorder" in path.scenario["link"][1]["forward"]


def judge(number: int) -> dict[str, Any]:
    """Returns the true and the found value of each quantity: {quantity: (truth, found)}."""
    path = paths.draw(number)
    flow = path.scenario["flow"][0]
    congestion = {"algorithm": flow["transport"]["congestion"]["algorithm"]}
    if number % 2:
        transport: dict[str, Any] = {"protocol": "quinn", "congestion": congestion}
    else:
        transport = {"protocol": "quic", "congestion": congestion, "spin_bit": True}
    path = with_late_packets(path.with_flows(flow | {"transport": transport}), number)
    with tempfile.TemporaryDirectory() as folder:
        result, capture = path.capture(folder)
        way = inspection.inspect(capture).ways[0]
    told = result.flows.row(0, named=True)
    # Datagrams of a handshake are padded, so a handshake takes longer than data and their ACK.
    handshake = path.base_of((_INITIAL, _INITIAL))
    least = min(handshake, path.base_of((_INITIAL if number % 2 else paths.FULL, _ACK)))
    rate = way["rate"]["value"] if way["rate"] else None
    spins, found = way["round_trip"]["by_spin_bit"], way["round_trip"]["base"]
    return {
        "number": number,
        "kind": f"{path.position}, {transport['protocol']} {congestion['algorithm']}{', late packets' if is_late(path) else ''}",
        "spins": spins,
        "lower": way["rate_is_lower_bound"],
        "rate": (path.rate, rate),
        "base RTT": (least, found),
        _HANDSHAKE: None if path.period else (min(max(found or 0.0, least), handshake), found),
        "mean RTT": (told["mean_rtt_l4"], way["round_trip"]["mean"]) if spins else None,
    }


def main() -> int:
    """Prints the table."""
    words = sys.argv[1:]
    first, count = int(words[0]) if words else KEPT[0], int(words[1]) if len(words) > 1 else KEPT[1]
    numbers = [number for number in range(first, first + 2 * count) if not paths.draw(number).is_thinned][:count]
    with ProcessPoolExecutor() as pool:
        found = list(pool.map(judge, numbers))
    print(f"spin bit found in {sum(one['spins'] for one in found)} of {len(found)}")
    judging.show(found, TOLERANCES)
    return 0


if __name__ == "__main__":
    sys.exit(main())
