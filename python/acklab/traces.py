"""Traces that are generated: when a link may deliver, as mahimahi's traces tell it. The same values give the same text on every machine."""

import random
from functools import cache

OPPORTUNITY_BITS = 1504 * 8
"""Octets per opportunity: a packet of 1500 octets and its header of 4, as in mahimahi."""


@cache
def poisson(rate: float, seconds: int, seed: int) -> str:
    """A line for each opportunity, with its millisecond: a Poisson process with a mean of `rate` Mbps."""
    chance = random.Random(seed)
    lines, now = [], 0.0
    while (now := now + 1000 * chance.expovariate(rate * 1e6 / OPPORTUNITY_BITS)) < seconds * 1000:
        lines.append(f"{int(now)}\n")
    return "".join(lines)


_FASTEST = 1000.0
"""Maximum rate in Sprout's model of a cellular link, packets per second."""
_WANDER = 200.0
"""Standard deviation of the Brownian motion of the rate after one second, packets per second."""
_TICK = 0.02
"""Seconds between two values of the rate."""


@cache
def cellular(seconds: int, seed: int, start: float = 500.0) -> str:
    """A line for each opportunity, with its millisecond: a Poisson process whose rate is a Brownian motion between 0 and 1000 packets/s.

    The model that Sprout has of a cellular link, with its constants; `start` is the first rate in packets per second. An outage, which
    Sprout's rate of zero tends to stay in, is no more than the walk's touch of zero here.
    Source: Winstein, Sivaraman, Balakrishnan, NSDI 2013, section 3.1.
    """
    chance = random.Random(seed)
    rate, lines = start, []
    for tick in range(round(seconds / _TICK)):
        rate = abs(rate + chance.gauss(0, _WANDER * _TICK**0.5))
        rate = 2 * _FASTEST - rate if rate > _FASTEST else rate
        now = tick * _TICK
        while rate > 0 and (now := now + chance.expovariate(rate)) < (tick + 1) * _TICK:
            lines.append(f"{int(1000 * now)}\n")
    return "".join(lines)
