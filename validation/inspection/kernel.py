"""Inspects captures of the kernel's TCP in emulated paths.

Usage: `python validation/inspection/kernel.py` (requires root or a user namespace, and an idle
machine).

Each path is one of `paths.py` with a rate that an emulation carries easily, captured at the sender
and at the receiver. Numbers 50000 to 50009 are a held-out test set.
"""

import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

import acklab
from acklab import inspection
from acklab.inspection.model import Way
from validation.inspection import paths

KEPT = (50_000, 10)
MAX_RATE = 50.0
"""Maximum rate in Mbps. At higher rates, deliveries are late on a small machine."""


def inspected(path: paths.Path, way: Way) -> list[str]:
    """Returns the true and the inspected rate, base RTT and thinning of ACKs."""
    rate, base, acks = way["rate"], way["round_trip"]["base"], way["acks"]
    assert acks is not None
    bound = " or more" if way["rate_is_lower_bound"] else ""
    return [
        "–" if rate is None else f"{path.rate:.4g} → {rate['value']:.4g}{bound}",
        "–" if base is None else f"{path.base:.4g} → {base:.4g}",
        f"{path.is_thinned} → {acks['thinning']}",
    ]


def main() -> int:
    """Prints the true values of each path, and the values that its captures show."""
    words = sys.argv[1:]
    first, count = int(words[0]) if words else KEPT[0], int(words[1]) if len(words) > 1 else KEPT[1]
    columns = ["path", "at", "trusted", "rate", "base RTT", "ACKs thinned"]
    print(f"| {' | '.join(columns)} |\n{'|---' * len(columns)}|")
    number = first
    while count:
        path = paths.draw(number)
        number += 1
        if path.rate > MAX_RATE:
            continue
        count -= 1
        scenario = path.scenario | {
            "duration": "10s",
            "capture": [{"point": end, "file": f"{end}.pcapng"} for end in ("src", "dst")],
        }
        flow = scenario["flow"][0]
        congestion = {"algorithm": flow["transport"]["congestion"]["algorithm"]}
        scenario["flow"] = [
            flow | {"stack": "kernel", "transport": {"protocol": "tcp", "preset": "linux", "congestion": congestion}}
        ]
        with tempfile.TemporaryDirectory() as folder:
            done = acklab.emulate(scenario, captures=folder, processors="halt")
            trusted = "yes" if done.is_trusted else "no"
            for end in ("src", "dst"):
                found = inspection.inspect(Path(folder) / f"{end}.pcapng")
                cells = inspected(path, found.ways[0])
                print(f"| {number - 1} | {end} | {trusted} | {' | '.join(cells)} |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
