"""Compares the controllers that inspections of simulated flows name with the true ones.

Usage: `python validation/inspection/controllers.py [FIRST [COUNT]]`.

Numbers below 3000 were used for development. Results of 3000 to 3399 and 4000 to 4399 were
examined. `--kept` judges a held-out test set: 400 numbers from 5000 on. Half of the flows are
limited by their application, a buffer or the receive window; a controller's name that such a flow
gets must be correct too, and so must its rate.
"""

import math
import random
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2]))

import acklab
from acklab import inspection
from validation.inspection.paths import log_uniform

KEPT = (5000, 400)
FAMILIES = {
    "newreno": {"reno"},
    "dctcp": {"reno"},
    "cubic": {"cubic"},
    "bbr": {"rate-based", "delay-based"},
    "bbr3": {"rate-based", "delay-based"},
    "pcc-allegro": {"rate-based"},
    "pcc-vivace": {"rate-based", "delay-based"},
    "vegas": {"delay-based"},
    "copa": {"delay-based"},
    "verus": {"delay-based"},
    "sprout": {"delay-based"},
    "indigo": {"delay-based"},
}
"""Correct families of each controller. Without marks, DCTCP behaves like Reno (RFC 8257 §3.5)."""
_OFTEN = ("newreno", "cubic", "bbr", "bbr3", "vegas", "copa")
"""Controllers that are drawn twice as often as the others."""
_FULL, _MSS = 1500, 1448
"""Octets of a full-sized packet, and of its payload."""
_PACKETS = 40_000
"""Maximum packets of a flow that fills the path."""
_RATE_OFF = 0.05
"""Maximum relative error of a correct rate."""


@dataclass(frozen=True)
class Flow:
    """A flow over one bottleneck, with the true values."""

    number: int
    scenario: dict[str, Any]
    controller: str
    limit: str
    """Limits of the sender: only its controller, the application, video, the receive window,
    or its own buffer.
    """
    rate: float
    """Rate of the bottleneck in Mbps."""
    files: tuple[str, ...]
    """Captures, which are merged."""


def draw(number: int) -> Flow:
    """Returns the flow with this number."""
    chance = random.Random(f"controller {number}")
    between = partial(log_uniform, chance)
    rate, propagation = round(between(2, 100), 1), round(between(8, 150), 1)
    controller = chance.choice([*FAMILIES, *_OFTEN])
    policy = chance.choice(
        [
            {"policy": "linux"},
            {"policy": "linux"},
            {"policy": "delayed", "segments": 2, "timer": "200ms"},
            {"policy": "per-packet"},
        ]
    )
    bdp = rate * 1e6 * propagation / 1e3 / (8 * _FULL)
    queue = max(int(bdp * between(0.3, 3)), 8)
    loss = chance.choice([0, 0, 0, 0.0002, 0.001, 0.005])
    limit = chance.choice(["none", "none", "none", "none", "application", "window", "video", "buffer"])
    reverse: dict[str, Any] = {"rate": f"{max(rate, 10):g}Mbps"}
    if chance.random() < 1 / 3:
        acks = rate * 1e6 / (8 * _FULL) / 2
        period = round(max(chance.uniform(3, 9) / acks * 1e3, 2.0), 1)
        reverse["gate"] = {"interval": f"{period}ms", "quota": math.ceil(acks * period / 1e3 * 3) + 2}
    position = chance.choice(["sender", "sender", "sender", "sender", "before", "receiver"])
    points = {"sender": ("src",), "receiver": ("dst",), "before": ("btl_forward", "btl_reverse.out")}[position]
    shares = [chance.uniform(0.1, 0.4), chance.uniform(0.1, 0.4)]
    delays = [propagation / 2 * share for share in (shares[0], 1 - sum(shares), shares[1])]
    transport: dict[str, Any] = {
        "protocol": "tcp", "preset": "linux", "congestion": {"algorithm": controller}, "ack": policy,
        "send_buffer": "64MiB", "receive_buffer": "64MiB",
    }  # fmt: skip
    flow: dict[str, Any] = {
        "name": "down", "from": "src", "to": "dst", "start": f"{chance.uniform(0, 20):.3f}ms", "transport": transport,
    }  # fmt: skip
    share, size = chance.uniform(0.2, 0.9), max(int(bdp * chance.uniform(0.2, 1.1)), 4) * _MSS
    if limit == "application":
        write = f"{chance.choice([512, _MSS, 2 * _MSS, 10 * _MSS])}B"
        flow["traffic"] = {"model": "constant", "rate": f"{rate * share:.3f}Mbps", "write": write}
    elif limit == "video":
        flow["traffic"] = {"model": "video", "rate": f"{rate * share:.3f}Mbps"}
    elif limit != "none":
        transport["receive_buffer" if limit == "window" else "send_buffer"] = f"{size}B"
    forward: dict[str, Any] = {
        "rate": f"{rate}Mbps", "delay": f"{delays[1]:.4f}ms", "queue": {"discipline": "fifo", "limit": f"{queue}packets"},
    }  # fmt: skip
    if loss:
        forward["loss"] = {"model": "independent", "probability": loss}

    def access(delay: float) -> dict[str, Any]:
        return {"rate": "1Gbps", "delay": f"{delay:.4f}ms"}

    files = tuple(f"{place}.pcapng" for place in points)
    scenario = {
        "duration": f"{min(max(_PACKETS * 8 * _FULL / rate / 1e6, 8), 60):.2f}s",
        "seed": number,
        "link": [
            {"name": "left", "from": "src", "to": "r1", "forward": access(delays[0]), "reverse": access(delays[0])},
            {"name": "btl", "from": "r1", "to": "r2", "forward": forward, "reverse": reverse | {"delay": f"{delays[1]:.4f}ms"}},
            {"name": "right", "from": "r2", "to": "dst", "forward": access(delays[2]), "reverse": access(delays[2])},
        ],
        "flow": [flow],
        "capture": [{"point": point, "file": file} for point, file in zip(points, files, strict=True)],
    }
    return Flow(number, scenario, controller, limit, rate, files)


def capture(flow: Flow, folder: Path) -> Path:
    """Simulates a flow. Returns the capture in `folder`, which mergecap merges from several."""
    acklab.run(flow.scenario, captures=folder)
    files = [folder / file for file in flow.files]
    if len(files) == 1:
        return files[0]
    both = folder / "both.pcapng"
    subprocess.run(["mergecap", "-w", both, *files], check=True)
    return both


def judge(number: int) -> dict[str, Any]:
    """Returns the true values of a flow, and the findings of the inspection of its capture."""
    flow = draw(number)
    with tempfile.TemporaryDirectory() as folder:
        found = inspection.inspect(capture(flow, Path(folder)))
    way = found.ways[0]
    named, rate = way["controller"], way["rate"]
    return {
        "number": number,
        "controller": flow.controller,
        "limit": flow.limit,
        "family": named["family"] if named else None,
        "evidence": way["evidence"].get("controller"),
        "rate": (flow.rate, rate["value"] if rate else None, way["rate_is_lower_bound"]),
    }


def controllers(found: list[dict[str, Any]]) -> bool:
    """Prints the confusion matrix, and returns `True` if 95 % of the names are correct."""
    families = ["reno", "cubic", "rate-based", "delay-based", None]
    counts: dict[tuple[str, str], Counter[str | None]] = defaultdict(Counter)
    for one in found:
        counts[one["controller"], "" if one["limit"] == "none" else ", limited"][one["family"]] += 1
    print(f"| controller | {' | '.join(str(family or 'not known') for family in families)} |\n{'|---' * 6}|")
    for (controller, limited), row in sorted(counts.items()):
        print(f"| {controller}{limited} | {' | '.join(str(row[family] or '–') for family in families)} |")
    named = [one for one in found if one["family"] is not None]
    wrong = [one for one in named if one["family"] not in FAMILIES[one["controller"]]]
    print(f"\nnamed: {len(named)} of {len(found)}; right: {len(named) - len(wrong)}")
    for one in wrong:
        print(f"    {one['number']}: {one['controller']}, limit {one['limit']}: {one['family']}, {one['evidence']}")
    return len(wrong) <= 0.05 * len(named)


def rates(found: list[dict[str, Any]]) -> bool:
    """Prints how many rates are known, bounds or unknown, by the limit of the sender.

    Returns `True` if 95 % of the rates are correct.
    """
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for one in found:
        true, value, is_bound = one["rate"]
        off = 0.0 if value is None else value / true - 1
        kind = "not known" if value is None else "bound" if is_bound else "known"
        is_wrong = off > _RATE_OFF if is_bound else abs(off) > _RATE_OFF
        counts[one["limit"]][f"{kind}, wrong" if is_wrong else kind] += 1
        if is_wrong:
            print(f"    {one['number']}: {one['controller']}, limit {one['limit']}: {kind}, true {true:.4g}, found {value:.4g}")
    kinds = ["known", "known, wrong", "bound", "bound, wrong", "not known"]
    print(f"| limit | {' | '.join(kinds)} |\n{'|---' * 6}|")
    for limit, row in sorted(counts.items()):
        print(f"| {limit} | {' | '.join(str(row[kind] or '–') for kind in kinds)} |")
    total = sum(counts.values(), Counter())
    return total["known, wrong"] + total["bound, wrong"] <= 0.05 * (total.total() - total["not known"])


def main() -> int:
    """Prints both tables; returns 1 if too many names or rates are wrong."""
    words = [word for word in sys.argv[1:] if word != "--kept"]
    first, count = KEPT if "--kept" in sys.argv else (0, 60)
    first, count = int(words[0]) if words else first, int(words[1]) if len(words) > 1 else count
    with ProcessPoolExecutor() as pool:
        found = list(pool.map(judge, range(first, first + count)))
    are_named = controllers(found)
    print()
    return int(not (rates(found) and are_named))


if __name__ == "__main__":
    sys.exit(main())
