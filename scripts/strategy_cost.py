"""Measures the cost of a strategy in Python.

Compares copies in Python (tests/test_strategies.py) with the original strategies in Rust. Prints
the CPU time in milliseconds per simulated second of one flow over 100 Mbps with an RTT of 20 ms:
the minimum of three runs.
"""

import sys
import time
from pathlib import Path
from typing import Any

import acklab

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from test_strategies import MINE, Delayed, NewReno

SECONDS = 60


def cost(strategies: dict[str, Any] | None = None, **flow: Any) -> float:
    """Milliseconds of CPU per simulated second."""
    scenario = {
        "duration": f"{SECONDS}s",
        "seed": 1,
        "link": [
            {
                "name": "btl",
                "from": "src",
                "to": "dst",
                "forward": {"rate": "100Mbps", "delay": "10ms", "queue": {"discipline": "fifo", "limit": "200packets"}},
                "reverse": {"delay": "10ms"},
            }
        ],
        "flow": [{"from": "src", "to": "dst", "preset": "rfc", **flow}],
    }
    times = []
    for _ in range(3):
        start = time.process_time()
        acklab.run(scenario, strategies=strategies)
        times.append(time.process_time() - start)
    return min(times) / SECONDS * 1e3


built_in = cost()
print(f"built in                {built_in:5.1f} ms")
for name, mirror in (
    ("delayed ACKs in Python", cost({"mine": Delayed}, ack=MINE)),
    ("NewReno in Python", cost({"mine": NewReno}, congestion={"custom": "mine"})),
):
    print(f"{name:<23} {mirror:5.1f} ms, {mirror / built_in:.1f}× the built-in one")
