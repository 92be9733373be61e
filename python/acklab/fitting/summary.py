"""Statistics of a transfer that a simulation must repeat.

A summary has statistics with their intervals, by which the distance of two transfers is measured.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass

from acklab.inspection.model import Way

_FLOOR = {"goodput": 0.02, "RTT": 0.05, "RTT, 95 %": 0.10, "ACK ratio": 0.05, "lost": 0.0}
"""Minimum half-width of the interval of a statistic, relative to the statistic.

It covers the parts of a path that a model of one bottleneck omits. *Chosen*: 5 % is half of the
earlier tolerance of fits. The 95th percentile has the whole tolerance of 10 %, and goodput has 2 %,
by which link headers change it.
"""


@dataclass(frozen=True)
class Statistic:
    """A number and the half-width of its 95 % confidence interval."""

    value: float
    half: float


@dataclass(frozen=True)
class Summary:
    """Statistics of a transfer by name. Unknown statistics are absent."""

    statistics: Mapping[str, Statistic]

    @classmethod
    def of(cls, way: Way) -> "Summary":
        """Returns the statistics of a direction."""
        times, acks, losses = way["round_trip"], way["acks"], way["losses"]
        found: dict[str, Statistic] = {}
        if "goodput" not in way["not_known"] and way["goodput"] > 0:
            found["goodput"] = _statistic(way["goodput"], way["goodput_interval"])
        if times["mean"] is not None:
            found["RTT"] = _statistic(times["mean"], times["mean_interval"])
        if times["p95"] is not None:
            found["RTT, 95 %"] = Statistic(times["p95"], found["RTT"].half if "RTT" in found else 0.0)
        if acks is not None and acks["ratio"] is not None:
            found["ACK ratio"] = _statistic(acks["ratio"], acks["ratio_interval"])
        if acks is not None and way["data_segments"]:
            found["lost"] = _lost(losses["share"], losses["share_interval"], way["data_segments"])
        return cls(found)

    def distances(self, other: "Summary") -> dict[str, float]:
        """Returns the difference of each statistic, relative to both intervals.

        Two summaries agree if every difference is at most 1. The difference is infinite if the
        other summary lacks the statistic.
        """
        found = {}
        for name, own in self.statistics.items():
            reference = other.statistics.get(name)
            if reference is None:
                found[name] = math.inf
                continue
            allowed = max(math.hypot(own.half, reference.half), _FLOOR[name] * abs(own.value))
            difference = abs(reference.value - own.value)
            found[name] = 0.0 if difference == 0 else difference / allowed if allowed > 0 else math.inf
        return found

    def distance(self, other: "Summary") -> float:
        """Returns the maximum of the distances of all statistics."""
        return max(self.distances(other).values(), default=math.inf)

    def errors(self, other: "Summary") -> dict[str, float]:
        """Returns the relative errors of another summary, by statistic."""
        pairs = ((name, own, other.statistics.get(name)) for name, own in self.statistics.items())
        return {
            name: reference.value / own.value - 1 for name, own, reference in pairs if reference is not None and own.value > 0
        }


def _statistic(value: float, interval: tuple[float, float] | None) -> Statistic:
    return Statistic(value, 0.0 if interval is None else (interval[1] - interval[0]) / 2)


def _lost(share: float, interval: tuple[float, float] | None, segments: int) -> Statistic:
    """Returns the share of losses, with at least the 95 % confidence interval of a Poisson count.

    That interval is the normal approximation. Fewer than two losses are treated as two.
    """
    counted = max(share * segments, 2.0)
    half = 1.96 * math.sqrt(counted) / segments
    return Statistic(share, max(half, 0.0 if interval is None else (interval[1] - interval[0]) / 2))
