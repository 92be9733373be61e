"""Random paths with a fixed seed, and cross traffic, also for other paths."""

import math
import random
from dataclasses import dataclass

PATHS = 200
SEED = 2020
"""Seed of the draws."""

RATES = (2.0, 1000.0)
"""Range of rates [Mbps]. With the longest round trips the product exceeds the flight of TCP with
Pantheon's buffers.
"""
ROUND_TRIPS = (10.0, 300.0)
"""Range of round trips [ms]: from neighbouring cities to intercontinental paths."""
QUEUES = (0.25, 4.0)
"""[bandwidth-delay products]"""
LOSSES = (1e-4, 1e-2)
CROSS_RATES = (0.1, 0.5)
"""Range of the load of a Poisson sender, relative to the rate of the path."""
MIN_QUEUE = 10
"""[packets]"""
LONGEST, SHORTEST = 30.0, 10.0
"""Maximum and minimum duration of a run [s]: Pantheon's 30 s, and less on fast paths whose run
would exceed WORK.
"""
WORK = 3000.0
"""[Mb]"""

Overrides = dict[str, object]

_RANKED = {
    "name": "ranked",
    "from": "src",
    "to": "dst",
    "transport": {"protocol": "tack", "send_buffer": "64MiB", "receive_buffer": "64MiB"},
}
_KERNEL_BUFFERS = {"send_buffer": "16MiB", "receive_buffer": "16MiB"}
"""Buffer limits of Pantheon for the kernel's TCP, as in schemes.toml."""
NONE, POISSON, CUBIC = "", "Poisson", "CUBIC"
"""The kinds of cross traffic."""


@dataclass(frozen=True)
class Path:
    """A path of the ensemble."""

    number: int
    rate: float
    """[Mbps]"""
    round_trip: float
    """[ms]"""
    queue: float
    """[bandwidth-delay products]"""
    loss: float
    """Share of packets that is lost at random."""
    cross: str
    """The kind of cross traffic."""
    cross_rate: float
    """Load of a Poisson sender, relative to the rate."""
    cross_start: float
    """Start of a flow of CUBIC [s]."""

    @property
    def name(self) -> str:
        """Returns the name in reports."""
        lossy = f" {100 * self.loss:.2g} % lost" if self.loss else ""
        with_what = f" + {self.cross}" if self.cross else ""
        return f"{self.number:02d}: {self.rate:.3g} Mbps {self.round_trip:.0f} ms {self.queue:.1f} bdp{lossy}{with_what}"

    @property
    def set(self) -> Overrides:
        """Returns the overrides of path.toml."""
        packets = max(MIN_QUEUE, round(self.queue * self.rate * 1e3 * self.round_trip / 8 / 1500))
        link: Overrides = {
            "rate": f"{round(1000 * self.rate)}kbps",
            "delay": f"{round(500 * self.round_trip)}us",
            "queue": {"discipline": "fifo", "limit": f"{packets}packets"},
        }
        losses = {"loss": {"model": "independent", "probability": round(self.loss, 6)}} if self.loss else {}
        spread = max(1, round(12000 / self.rate))
        duration = min(LONGEST, max(SHORTEST, WORK / self.rate))
        set_to: Overrides = {
            "duration": f"{round(1000 * duration)}ms",
            "link.btl.forward": link | losses,
            "link.btl.reverse": link,
            "link.access.forward.jitter.spread": f"{spread}us",
        }
        return set_to | cross_traffic(self.cross, self.rate * self.cross_rate, self.cross_start)


def cross_traffic(kind: str, rate: float, start: float) -> Overrides:
    """Returns a flow that competes with the ranked flow.

    The flow is a Poisson sender of UDP at `rate` Mbps, or TCP CUBIC that starts at `start` seconds.
    """
    flow: Overrides = {"name": "cross", "from": "src", "to": "dst"}
    if kind == POISSON:
        traffic = {"model": "poisson", "rate": f"{round(1000 * rate)}kbps"}
        return {"flow": [_RANKED, flow | {"transport": {"protocol": "udp"}, "traffic": traffic}]}
    if kind == CUBIC:
        tcp = {"protocol": "tcp", "preset": "linux", "congestion": "cubic", **_KERNEL_BUFFERS}
        return {"flow": [_RANKED, flow | {"transport": tcp, "start": f"{round(1000 * start)}ms"}]}
    return {}


def draw(count: int) -> list[Path]:
    """Returns the first paths of the ensemble.

    Rate, round trip, queue and loss are log-uniform. A half of the paths loses packets at random. A
    third has no cross traffic, a third a Poisson sender of UDP, and a third a flow of TCP CUBIC,
    which starts after a few seconds.
    """
    chance = random.Random(SEED)
    return [_path(chance, number) for number in range(1, count + 1)]


def _path(chance: random.Random, number: int) -> Path:
    rate, round_trip, queue = (_log_uniform(chance, bounds) for bounds in (RATES, ROUND_TRIPS, QUEUES))
    loss, cross_rate = _log_uniform(chance, LOSSES), _log_uniform(chance, CROSS_RATES)
    is_lossy, kind, start = chance.random() < 0.5, chance.randrange(3), chance.uniform(1.0, 10.0)
    cross = (NONE, POISSON, CUBIC)[kind]
    return Path(number, rate, round_trip, queue, loss if is_lossy else 0.0, cross, cross_rate, start)


def _log_uniform(chance: random.Random, bounds: tuple[float, float]) -> float:
    low, high = (math.log(bound) for bound in bounds)
    return math.exp(chance.uniform(low, high))
