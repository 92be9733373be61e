"""Compares the report of `acklab inspect` on a capture with the counts of tshark and tcptrace."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from validation.inspection.dissection import end, pair

TOLERANCE = 0.02
QUANTITIES = ("data octets", "pure ACKs", "out of sequence", "below the highest octet", "least RTT")
SLOW, FAST = 0.5, 1500.0
"""Range of plausible rates in Mbps.

A measured rate outside of this range is listed, because few paths of the corpus have such a rate.
"""
_CLOCK = 2e-6
"""Permitted difference of round trips in seconds: captures have a resolution of microseconds."""


@dataclass(frozen=True)
class Pair:
    """A quantity of a direction, as acklab and another tool report it."""

    found: float | None
    expected: float | None
    tolerance: float = TOLERANCE
    slack: float = 0.0

    @property
    def holds(self) -> bool | None:
        """Returns whether both agree, or `None` without data to compare."""
        if self.found is None or self.expected is None:
            return None
        return abs(self.found - self.expected) <= max(self.tolerance * abs(self.expected), self.slack)

    @property
    def error(self) -> float:
        """Returns the difference relative to the larger value."""
        if self.found is None or self.expected is None:
            return 0.0
        return abs(self.found - self.expected) / max(abs(self.found), abs(self.expected), 1e-12)

    def to_list(self) -> list[Any]:
        """Returns both values, and whether they agree."""
        return [self.found, self.expected, self.holds]


def normal(name: str) -> str:
    """Returns an end in the notation of `dissection.end`.

    Libraries shorten addresses differently.
    """
    address, _, port = name.rpartition(":")
    return end(address.strip("[]"), port)


def rows(report: Mapping[str, Any], truth: Mapping[str, Any], tcptrace: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Returns a row for each TCP direction with data that either tool reports.

    Connections on the same ports are added up.
    """
    found: dict[tuple[str, str], list[Mapping[str, Any]]] = defaultdict(list)
    for connection in report["connections"]:
        if connection["protocol"] == "tcp":
            for way in connection["ways"]:
                found[normal(way["from"]), normal(way["to"])].append(way)
    expected = {(one["from"], one["to"]): one for one in truth["directions"]}
    # If a capture has more connections, acklab lists only the largest.
    is_whole = report["counts"]["connections"] <= len(report["connections"])
    ends = [*found, *(one for one in expected if one not in found and is_whole)]
    return [_row(one, found.get(one, []), expected.get(one), tcptrace.get(" > ".join(one))) for one in ends]


def _row(
    ends: tuple[str, str], ways: Sequence[Mapping[str, Any]], truth: Mapping[str, Any] | None, trace: Mapping[str, int] | None
) -> dict[str, Any]:
    row: dict[str, Any] = {
        "from": ends[0],
        "to": ends[1],
        "segments": sum(way["data_segments"] for way in ways),
        "copies": truth["copies"] if truth else 0,
        "is_reported": bool(ways),
        "is_dissected": truth is not None,
    }
    if ways and truth:
        row |= {name: pair.to_list() for name, pair in pairs(ways, truth).items()}
    if ways and trace:
        of_trace = {
            "tcptrace data octets": Pair(sum(way["data_octets"] for way in ways), trace["data_octets"]),
            "tcptrace pure ACKs": Pair(_acks(ways), trace["pure_acks"]),
        }
        row |= {name: pair.to_list() for name, pair in of_trace.items()}
    return row


def _acks(ways: Sequence[Mapping[str, Any]]) -> int | None:
    """Counts the pure ACKs of some directions. Returns `None` if the capture shows none of them."""
    counts = [way["acks"]["count"] for way in ways if way["acks"]]
    return sum(counts) if counts else None


def pairs(ways: Sequence[Mapping[str, Any]], truth: Mapping[str, Any]) -> dict[str, Pair]:
    """Returns pairs of quantities of a direction: acklab's and tshark's."""
    late = [way["losses"]["retransmitted"] + way["losses"]["reordered"] for way in ways if way["losses"]]
    times = [way["round_trip"]["ahead"] for way in ways if way["round_trip"]["ahead"] is not None]
    mss = max(way["mss"] for way in ways)
    found = sum(late) if late else None
    shortest = min(times, default=None)
    # tshark does not print times of zero, which occur with coarse clocks.
    least = None if truth["least_rtt"] is None or shortest == 0 else 1e3 * truth["least_rtt"]
    return {
        "data octets": Pair(sum(way["data_octets"] for way in ways), truth["data_octets"]),
        "pure ACKs": Pair(_acks(ways), truth["pure_acks"]),
        "out of sequence": Pair(found, segments(truth["flagged"], mss)),
        "below the highest octet": Pair(found, segments(truth["out_of_sequence"], mss)),
        "least RTT": Pair(shortest, least, slack=1e3 * _CLOCK),
    }


def segments(lengths: Mapping[str, int], mss: int) -> int:
    """Converts packets, counted by length, into segments of at most full size."""
    return sum(count * max(-(-int(length) // mss), 1) for length, count in lengths.items())


def not_quic(report: Mapping[str, Any], truth: Mapping[str, Any]) -> list[str]:
    """Returns the connections that acklab reports as QUIC and tshark does not."""
    known = {tuple(one) for one in truth["quic"]}
    quic = [one for one in report["connections"] if one["protocol"] == "quic"]
    ends = [pair(*(normal(name) for name in one["ends"])) for one in quic]
    return [" – ".join(one) for one in ends if one not in known]


def statements(report: Mapping[str, Any]) -> dict[str, list[dict[str, Any]]]:
    """Returns the verdicts of a report that need evidence.

    These are removed ACKs, controllers, and rates that are not only lower bounds.
    """
    told: dict[str, list[dict[str, Any]]] = {"thinned": [], "rates": [], "controllers": []}
    for connection in report["connections"]:
        for way in connection["ways"]:
            one = {"from": way["from"], "to": way["to"], "segments": way["data_segments"]}
            if way["acks"] and way["acks"]["thinning"] == "thinned":
                told["thinned"].append(one | {"way": {key: way[key] for key in ("from", "to", "position", "mss", "acks")}})
            if way["rate"] and not way["rate_is_lower_bound"]:
                told["rates"].append(one | {"rate": way["rate"]["value"]})
            if way["controller"]:
                told["controllers"].append(one | {name: way["controller"].get(name) for name in ("family", "episodes")})
    return told
