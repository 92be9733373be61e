"""Writes the traces of links whose opportunities to deliver are a Poisson process, for the paths that are called so.

Run it in this folder: `python poisson.py`. A line is a millisecond at which 1504 octets may leave, as in mahimahi's traces.
"""

import random
from pathlib import Path

RATES = (0.57, 2.64, 3.04)
"""Mbps."""
SECONDS = 60
OPPORTUNITY_BITS = 1504 * 8


def trace(rate: float, seed: int) -> list[int]:
    """The milliseconds of one cycle."""
    chance = random.Random(seed)
    times, now = [], 0.0
    while (now := now + 1000 * chance.expovariate(rate * 1e6 / OPPORTUNITY_BITS)) < SECONDS * 1000:
        times.append(int(now))
    return times


if __name__ == "__main__":
    for order, megabits in enumerate(RATES):
        lines = "".join(f"{at}\n" for at in trace(megabits, seed=order))
        Path(f"poisson_{megabits}Mbps.trace").write_text(lines, encoding="ascii")
