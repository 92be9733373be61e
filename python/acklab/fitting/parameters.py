"""What the scenario of a path needs, estimated from an inspection."""

import math
from dataclasses import dataclass, replace

from acklab.errors import UsageError
from acklab.inspection.model import Inspection, Way

_ACK = 52
"""Octets of a pure ACK with timestamps over IPv4."""
_LONGEST, _SHORTEST = 30.0, 2.0
"""Seconds of a simulation: start-up weighs little in the one, and the other has some round trips."""
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
    receive_window: int | None
    """Octets, if the receive window limited the sender for most of the time."""
    application_rate: float | None
    """Mbps that the application wrote, if it limited the sender for most of the time."""
    duration: float
    """Seconds."""

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

    @classmethod
    def of(cls, way: Way) -> "Target":
        """That of a direction."""
        acks = way["acks"]
        return cls(way["goodput"], way["round_trip"]["median"], acks["ratio"] if acks else None)

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


def largest(found: Inspection) -> Way:
    """The direction with the most data. Raises UsageError if it tells too little for a scenario."""
    if not found.ways:
        raise UsageError(f"{found.path}: found no connection with data, expected a transfer over TCP or QUIC")
    way = found.ways[0]
    for what, missing in (
        ("the rate of the bottleneck", way["rate"] is None),
        ("both sides of a round trip", way["round_trip"]["base"] is None),
    ):
        if missing:
            raise UsageError(
                f"{found.path}: found nothing that tells {what} of {way['from']} → {way['to']}, expected a transfer of some hundred packets, with "
                "its handshake or with timestamps"
            )
    return way


def estimate(way: Way) -> Parameters:
    """The first estimate, before any simulation."""
    rate, base, acks, limits = way["rate"], way["round_trip"]["base"], way["acks"], way["limits"]
    assert rate is not None
    assert base is not None
    packets_per_ms = rate["value"] * 1e3 / (way["packet_octets"] * 8)
    p95 = way["round_trip"]["p95"] or base
    usual = acks["usual"] if acks else 2
    thins = acks is not None and acks["thinning"] == "thinned"
    compressed = acks is not None and acks["period"] is not None and (acks["compressed"] is not False)
    ack_rate = acks["count"] / max(way["duration"], 1e-3) if acks else 0.0
    limited_by_window = limits is not None and limits["receive_window"] > 0.5
    limited_by_application = limits is not None and limits["application"] > 0.5
    controller = way["controller"]
    return Parameters(
        rate=rate["value"],
        rate_low=rate["low"],
        rate_high=rate["high"],
        base=base,
        queue=max((p95 - base) * packets_per_ms, 4.0),
        loss=way["losses"]["share"],
        mss=way["mss"],
        packet=way["packet_octets"],
        controller=_CONTROLLERS[controller["family"]] if controller else "cubic",
        segments=2 if thins or usual == 0 else usual,
        gate=acks["period"] if acks and compressed and not thins else None,
        return_rate=ack_rate * _ACK * 8 / 1e6 if thins else None,
        receive_window=round(way["goodput"] * 1e6 / 8 * (way["round_trip"]["median"] or base) / 1e3)
        if limited_by_window
        else None,
        application_rate=way["goodput"] if limited_by_application else None,
        duration=min(max(way["duration"], _SHORTEST), _LONGEST),
    )
