"""Inspects captures of one flow that shares its bottleneck with flows that are not captured.

Usage: `python validation/inspection/competing.py [FIRST [COUNT]]`.

The paths are those of `paths.py` without gates and filters, with one to three flows between other
hosts, which start during the capture. Numbers below 1000 are for development. Results of 61000 to
61399 and 64000 to 64399 were examined. Numbers from 66000 on are a held-out test set.
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

KEPT = (66_000, 100)
_SENDER = "10.0.0.4:"
"""The address of `src`, the fourth node by name."""
TOLERANCES = {"rate": 0.05, "base RTT": 0.02, "ACK ratio": 0.10}


def shared(number: int) -> tuple[paths.Path, int]:
    """Returns a path and the number of its competing flows."""
    path = paths.draw(number)
    chance = random.Random(f"competing/{number}")
    others = chance.choice([1, 1, 2, 3])
    flow = path.scenario["flow"][0]
    seconds = float(path.scenario["duration"].removesuffix("s"))
    access = {"rate": "1Gbps", "delay": f"{chance.uniform(0.1, 20):.3f}ms"}
    link = [
        *path.scenario["link"],
        {"name": "their_left", "from": "their_src", "to": "r1", "forward": access, "reverse": access},
        {"name": "their_right", "from": "r2", "to": "their_dst", "forward": {"rate": "1Gbps"}, "reverse": {"rate": "1Gbps"}},
    ]
    flows = [
        {
            "name": f"other_{place}",
            "from": "their_src",
            "to": "their_dst",
            "start": f"{chance.uniform(0, seconds / 3):.3f}s",
            "transport": flow["transport"] | {"congestion": {"algorithm": chance.choice(["cubic", "bbr", "newreno"])}},
        }
        for place in range(others)
    ]
    return replace(path, scenario=path.scenario | {"link": link}).with_flows(flow, *flows), others


def judge(number: int) -> dict[str, Any]:
    """Returns the true and the found value of each quantity: {quantity: (truth, found)}."""
    path, others = shared(number)
    with tempfile.TemporaryDirectory() as folder:
        result, capture = path.capture(folder)
        ways = inspection.inspect(capture).ways
    way = next(way for way in ways if way["from"].startswith(_SENDER))
    told = result.flows.row(0, named=True)
    acks = way["acks"]
    assert acks is not None
    return {
        "number": number,
        "kind": f"{path.position}, {path.scenario['flow'][0]['transport']['congestion']['algorithm']} beside {others}",
        "lower": way["rate_is_lower_bound"],
        "rate": (path.rate, way["rate"]["value"] if way["rate"] else None),
        "base RTT": (path.base, way["round_trip"]["base"]),
        "ACK ratio": (judging.ack_ratio(path, told), acks["ratio"]),
        "thinned": acks["thinning"] == "thinned",
    }


def main() -> int:
    """Prints the table."""
    words = sys.argv[1:]
    first, count = int(words[0]) if words else KEPT[0], int(words[1]) if len(words) > 1 else KEPT[1]
    plain = [
        number
        for number in range(first, first + 4 * count)
        if (path := paths.draw(number)).period is None and not path.is_thinned
    ]
    with ProcessPoolExecutor() as pool:
        found = list(pool.map(judge, plain[:count]))
    judging.show(found, TOLERANCES)
    print(f"thinner found where there is none: {sum(one['thinned'] for one in found)} of {len(found)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
