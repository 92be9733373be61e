"""Compares inspections of captures of simulated paths with the truth.

Usage: `python validation/inspection/table.py [FIRST [COUNT]]`.

Numbers below 1000, 10000 to 10099, 30000 to 30199 and 40000 to 40239 were used for development.
Results of 31000 to 31199, 33000 to 33199, 34000 to 34199 and 41000 to 41299 were examined. `--kept`
judges a held-out test set: 200 numbers from 35000 on.
"""

import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2]))

from acklab import inspection
from validation.inspection import judging, paths

KEPT = (35_000, 200)
TOLERANCES = {"rate": 0.05, "base RTT": 0.02, "ACK ratio": 0.10, "period": 0.10}


def judge(number: int) -> dict[str, Any]:
    """Returns the true and the found value of each quantity: {quantity: (truth, found)}."""
    path = paths.draw(number)
    with tempfile.TemporaryDirectory() as folder:
        result, capture = path.capture(folder)
        way = inspection.inspect(capture).ways[0]
    flow = result.flows.row(0, named=True)
    acks = way["acks"]
    assert acks is not None
    found: dict[str, Any] = {
        "number": number,
        "position": (path.position, way["position"]),
        "rate": (path.rate, way["rate"]["value"] if way["rate"] else None),
        "base RTT": (path.base, way["round_trip"]["base"]),
        "ACK ratio": (judging.ack_ratio(path, flow), acks["ratio"]),
        "kind": f"{path.position}, {path.scenario['flow'][0]['transport']['congestion']['algorithm']} {path.scenario['flow'][0]['transport']['ack']['policy']}",
    }
    if path.period is not None and path.position in ("sender", "before"):
        found["period"] = (path.period, acks["period"])
    removed = 1 - flow["total_acks_delivered_l4"] / flow["total_acks_sent_l4"]
    # A filter may remove only one ACK in twenty, or none because too few ACKs wait. Such a case is
    # neither removal nor no removal.
    if path.position in ("sender", "before") and not 0.03 < removed < 0.1:
        found["thinned"] = (removed > 0.1, acks["thinning"])
        found["why"] = way["evidence"].get("thinning") or way["not_known"].get("thinning")
    return found


def show_thinners(cases: Sequence[dict[str, Any]]) -> bool:
    """Prints the verdicts on removed ACKs by the truth, and the wrong verdicts.

    Returns `True` if no removal is reported where ACKs are not removed, and if at most one removal
    in 20 is missed. An unknown verdict is neither correct nor wrong, and does not miss a removal.
    """
    counts = Counter(one["thinned"] for one in cases)
    for is_thinned in (True, False):
        verdicts = ", ".join(f"{name} {count}" for (truth, name), count in sorted(counts.items()) if truth is is_thinned)
        print(f"{'thinned' if is_thinned else 'whole'}: {verdicts}")
    named = [one for one in cases if one["thinned"] == (False, "thinned")]
    missed = [one for one in cases if one["thinned"] in ((True, "none"), (True, "sparse-receiver"))]
    for one in named + missed:
        print(f"    {one['number']}: {one['kind']}: {one['thinned'][1]}, {one['why']}")
    return not named and len(missed) <= 0.05 * sum(truth for truth, _ in (one["thinned"] for one in cases))


def main() -> int:
    """Prints the table; returns 1 if a quantity misses its target."""
    words = [word for word in sys.argv[1:] if word != "--kept"]
    first, count = KEPT if "--kept" in sys.argv else (0, 60)
    first, count = int(words[0]) if words else first, int(words[1]) if len(words) > 1 else count
    with ProcessPoolExecutor() as pool:
        found = list(pool.map(judge, range(first, first + count)))
    holds = judging.show(found, TOLERANCES)
    holds &= show_thinners([one for one in found if "thinned" in one])
    return int(not holds)


if __name__ == "__main__":
    sys.exit(main())
