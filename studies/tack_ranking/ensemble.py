"""Paths drawn at random, always the same."""

import math
import random

PATHS = 120
SEED = 2020
"""Of the draws."""

RATES = (2.0, 1000.0)
"""[Mbps]: with the longest round trips the product exceeds what a TCP with Pantheon's buffers keeps in flight."""
ROUND_TRIPS = (10.0, 300.0)
"""[ms]: from one city to the next, to the other side of the world."""
QUEUES = (0.25, 4.0)
"""[bandwidth-delay products]"""
LOSSES = (1e-4, 1e-2)
CROSS_RATES = (0.1, 0.5)
"""Of the rate of the path."""
LEAST_QUEUE = 10
"""[packets]"""

_RANKED = {
    "name": "ranked",
    "from": "src",
    "to": "dst",
    "transport": {"protocol": "tack", "send_buffer": "64MiB", "receive_buffer": "64MiB"},
}
_KERNEL_BUFFERS = {"send_buffer": "16MiB", "receive_buffer": "16MiB"}
"""The limits that Pantheon sets for the kernel's TCP, as in schemes.toml."""


def paths(count: int) -> dict[str, dict[str, object]]:
    """The first paths of the ensemble: overrides by name.

    Rate, round trip, queue and loss are log-uniform. A half of the paths loses packets at random. A third has no cross traffic, a third
    a Poisson sender of UDP, and a third a flow of TCP CUBIC, which starts after a few seconds.
    """
    chance = random.Random(SEED)
    return dict(_path(chance, index) for index in range(count))


def _path(chance: random.Random, index: int) -> tuple[str, dict[str, object]]:
    rate, round_trip, queue = (_log_uniform(chance, bounds) for bounds in (RATES, ROUND_TRIPS, QUEUES))
    loss, cross_rate = _log_uniform(chance, LOSSES), _log_uniform(chance, CROSS_RATES)
    is_lossy, kind, start = chance.random() < 0.5, chance.randrange(3), chance.uniform(1.0, 10.0)
    packets = max(LEAST_QUEUE, round(queue * rate * 1e3 * round_trip / 8 / 1500))
    link: dict[str, object] = {
        "rate": f"{round(1000 * rate)}kbps",
        "delay": f"{round(500 * round_trip)}us",
        "queue": {"discipline": "fifo", "limit": f"{packets}packets"},
    }
    losses = {"loss": {"model": "independent", "probability": round(loss, 6)}} if is_lossy else {}
    set_to: dict[str, object] = {
        "link.btl.forward": link | losses,
        "link.btl.reverse": link,
        "link.access.forward.jitter.spread": f"{max(1, round(12000 / rate))}us",
    }
    cross: dict[str, object] = {"name": "cross", "from": "src", "to": "dst"}
    if kind == 1:
        traffic = {"model": "poisson", "rate": f"{round(1000 * rate * cross_rate)}kbps"}
        set_to["flow"] = [_RANKED, cross | {"transport": {"protocol": "udp"}, "traffic": traffic}]
    elif kind == 2:
        tcp = {"protocol": "tcp", "preset": "linux", "congestion": "cubic", **_KERNEL_BUFFERS}
        set_to["flow"] = [_RANKED, cross | {"transport": tcp, "start": f"{round(1000 * start)}ms"}]
    with_what = ("", " + Poisson", " + CUBIC")[kind]
    lossy = f" {100 * loss:.2g} % lost" if is_lossy else ""
    return f"{index + 1:02d}: {rate:.3g} Mbps {round_trip:.0f} ms {queue:.1f} bdp{lossy}{with_what}", set_to


def _log_uniform(chance: random.Random, bounds: tuple[float, float]) -> float:
    low, high = (math.log(bound) for bound in bounds)
    return math.exp(chance.uniform(low, high))
