"""What the scenario of a path needs, estimated from an inspection."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from acklab.errors import UsageError
from acklab.inspection.model import Inspection, Way

_LONGEST, _SHORTEST = 30.0, 2.0
"""Seconds of a simulation: start-up weighs little in the one, and the other has some round trips."""
_FEWEST = 200
"""Segments of a transfer that is worth fitting although nothing tells the rate of its bottleneck."""
_SYN, _ACK = 60, 52
"""Octets of IP packets of Linux: a SYN, and an ACK with timestamps."""
_LEAST = 0.002
"""Propagation in ms that is left to a path at least."""
_CONTROLLERS = {"reno": "newreno", "cubic": "cubic", "rate-based": "bbr", "delay-based": "bbr"}
"""A controller of each family."""


@dataclass(frozen=True)
class Parameters:
    """A path of one bottleneck, and the connection over it. Rates are in Mbps of IP octets, times in ms."""

    rate: float
    rate_low: float
    rate_high: float
    base: float
    queue: float
    """Packets that wait at most."""
    loss: float
    """Probability that a packet is lost that no queue drops."""
    mss: int
    packet: int
    """Octets of a full IP packet."""
    controller: str
    segments: int
    """Segments that the receiver acknowledges at a time: 1, 2 (as Linux does), or more."""
    gate: float | None
    """Period in which ACKs are released, or None."""
    return_rate: float | None
    """Of a return path whose queue thins ACKs, or None."""
    ack_filter: str
    """The discipline of that queue."""
    receive_window: int | None
    """Octets, if the receive window limited the sender for most of the time."""
    application_rate: float | None
    """Mbps that the application wrote, if it limited the sender for most of the time."""
    duration: float
    """Seconds."""
    is_behind: bool
    """Whether the capture was taken behind the bottleneck."""

    @property
    def propagation(self) -> float:
        """Both ways: the base RTT without the time that the octets of the quicker exchange take on both links, a handshake or data and their ACK."""

        def taken(ahead: int, back: int) -> float:
            return 8e-3 * (ahead / self.rate + (back / self.return_rate if self.return_rate is not None else 0.0))

        return max(self.base - min(taken(_SYN, _SYN), taken(self.packet, _ACK)), _LEAST)

    @property
    def is_random(self) -> bool:
        """Whether the seed matters: for random losses, and for the phases of BBR (`bbr_cycle_rand` of Linux)."""
        return self.loss > 0 or self.controller == "bbr"

    def with_(self, **changes: object) -> "Parameters":
        """The same but for some."""
        return replace(self, **changes)  # type: ignore[arg-type]


@dataclass(frozen=True)
class Target:
    """What a simulation must repeat."""

    goodput: float
    round_trip: float | None
    """The median under load."""
    ack_ratio: float | None
    lost: float
    """The share of segments that were lost. A simulation comes closer by it, but is not judged by it."""

    @classmethod
    def of(cls, way: Way) -> "Target":
        """That of a direction."""
        acks = way["acks"]
        return cls(way["goodput"], way["round_trip"]["median"], acks["ratio"] if acks else None, way["losses"]["share"])

    def errors(self, other: "Target") -> dict[str, float]:
        """Relative errors of another one, by quantity."""
        pairs = {
            "goodput": (self.goodput, other.goodput),
            "RTT": (self.round_trip, other.round_trip),
            "ACK ratio": (self.ack_ratio, other.ack_ratio),
        }
        return {
            name: found / true - 1 if found is not None else math.inf
            for name, (true, found) in pairs.items()
            if true is not None and true > 0
        }

    def worst(self, other: "Target") -> float:
        """The largest relative error of another one, whatever its sign."""
        return max((abs(error) for error in self.errors(other).values()), default=0.0)

    @classmethod
    def mean(cls, several: Sequence["Target"]) -> "Target":
        """The mean of several runs; nothing for what one of them does not have."""

        def of(values: list[float | None]) -> float | None:
            known = [value for value in values if value is not None]
            return sum(known) / len(known) if len(known) == len(values) else None

        return cls(
            sum(one.goodput for one in several) / len(several),
            of([one.round_trip for one in several]),
            of([one.ack_ratio for one in several]),
            sum(one.lost for one in several) / len(several),
        )


def largest(found: Inspection) -> Way:
    """The direction with the most data. Raises UsageError if it tells too little for a scenario."""
    if not found.ways:
        raise UsageError(f"{found.path}: found no connection with data, expected a transfer over TCP or QUIC")
    way = found.ways[0]
    if way["rate"] is None and way["data_segments"] < _FEWEST:
        missing = "the rate of the bottleneck"
    elif way["round_trip"]["base"] is None:
        missing = "both sides of a round trip"
    else:
        return way
    raise UsageError(
        f"{found.path}: found nothing that tells {missing} of {way['from']} → {way['to']}, expected a transfer of some hundred packets, with "
        "its handshake or with timestamps"
    )


def estimate(way: Way) -> Parameters:
    """The first estimate, before any simulation. A rate that nothing tells is that of the goodput; calibration raises it."""
    base, acks, limits = way["round_trip"]["base"], way["acks"], way["limits"]
    assert base is not None
    goodput = way["goodput"] * way["packet_octets"] / way["mss"]
    rate = way["rate"] or {"value": goodput, "low": goodput, "high": goodput}
    packets_per_ms = rate["value"] * 1e3 / (way["packet_octets"] * 8)
    p95 = way["round_trip"]["p95"] or base
    usual = acks["usual"] if acks else 2
    thins = acks is not None and acks["thinning"] == "thinned"
    compressed = acks is not None and acks["period"] is not None and (acks["compressed"] is not False)
    limited_by_window = limits is not None and limits["receive_window"] > 0.5
    limited_by_application = limits is not None and limits["application"] > 0.5
    controller = way["controller"]
    losses = way["losses"]
    return Parameters(
        rate=rate["value"],
        rate_low=rate["low"],
        rate_high=rate["high"],
        base=base,
        queue=max((p95 - base) * packets_per_ms, 4.0),
        loss=losses["share"],
        mss=way["mss"],
        packet=way["packet_octets"],
        controller=_CONTROLLERS[controller["family"]] if controller else "cubic",
        segments=2 if thins or usual == 0 else usual,
        gate=acks["period"] if acks and compressed and not thins else None,
        return_rate=ack_rate(way) if thins else None,
        ack_filter="cake-ack-filter",
        receive_window=round(way["goodput"] * 1e6 / 8 * (way["round_trip"]["median"] or base) / 1e3)
        if limited_by_window
        else None,
        application_rate=way["goodput"] if limited_by_application else None,
        duration=min(max(way["duration"], _SHORTEST), _LONGEST),
        is_behind=way["position"] == "receiver"
        or (way["position"] == "middle" and losses["lost_before"] > losses["lost_behind"]),
    )


def ack_rate(way: Way) -> float | None:
    """The rate of the return path in Mbps, if ACKs tell it, or at least theirs."""
    acks = way["acks"]
    if acks is None:
        return None
    return acks["rate"] or acks["octets"] / max(way["duration"], 1e-3) * 8 / 1e6
