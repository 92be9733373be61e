"""Inspects captures of QUIC whose ends spin the bit (RFC 9000, §17.4): `python validation/inspection/quic.py [FIRST [COUNT]]`.

The paths are those of `paths.py` without ACK filters, in turn with our QUIC and with quinn, which leaves the bit still in an eighth of its connections. Numbers below 1000 are for
building, 60000 to 60099 are kept aside.
"""

import sys
import tempfile
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2]))

from acklab import inspection
from validation.inspection import judging, paths

KEPT = (60_000, 100)
TOLERANCES = {"rate": 0.05, "base RTT": 0.02, "mean RTT": 0.10}


def judge(number: int) -> dict[str, Any]:
    """What is true of a path, and what the inspection of its capture finds: {quantity: (truth, found)}."""
    path = paths.draw(number)
    flow = path.scenario["flow"][0]
    congestion = {"algorithm": flow["transport"]["congestion"]["algorithm"]}
    if number % 2:
        transport: dict[str, Any] = {"protocol": "quinn", "congestion": congestion}
    else:
        transport = {"protocol": "quic", "congestion": congestion, "spin_bit": True}
    path = path.with_flows(flow | {"transport": transport})
    with tempfile.TemporaryDirectory() as folder:
        result, capture = path.capture(folder)
        way = inspection.inspect(capture).ways[0]
    told = result.flows.row(0, named=True)
    rate = way["rate"]["value"] if way["rate"] else None
    spins = way["round_trip"]["by_spin_bit"]
    return {
        "number": number,
        "kind": f"{path.position}, {transport['protocol']} {congestion['algorithm']}",
        "spins": spins,
        "lower": way["rate_is_lower_bound"],
        "rate": (path.rate, rate),
        "base RTT": (path.base, way["round_trip"]["base"]) if spins else None,
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
