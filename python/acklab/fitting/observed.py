"""The fitted transfer of a capture, and its concurrent transfers."""

from collections.abc import Iterator
from dataclasses import dataclass

from acklab.errors import UsageError
from acklab.inspection.model import Connection, Inspection, Way

_BESIDE = 0.5
"""A transfer is concurrent with another if it shares at least this part of the other's time, and
has at least this part of the other's data; *chosen*.
"""


@dataclass(frozen=True)
class Observed:
    """Describes a transfer, its connection, and the opposite direction.

    Also has the number of concurrent transfers.
    """

    inspection: Inspection
    way: Way
    connection: Connection
    opposite: Way | None
    """The transfer between the same hosts in the opposite direction whose rate is known, or the
    largest one.
    """
    overlap: float
    """Share of the transfer's time in which the opposite transfer is active."""
    beside: int
    """Number of concurrent transfers in the same direction."""

    @property
    def is_log(self) -> bool:
        """Returns `True` if the transfer was read from a log of an endpoint."""
        return self.connection["protocol"] == "log"

    @property
    def is_quic(self) -> bool:
        """Returns `True` if the transport is QUIC. Logs in qlog are of QUIC."""
        return self.connection["protocol"] in ("quic", "log")

    @property
    def name(self) -> str:
        """Returns the direction as text."""
        return self.inspection.name_of(self.way)


def observe(found: Inspection) -> Observed:
    """Selects the transfer with the most data.

    Raises UsageError if the capture has no connection with data.
    """
    if not found.ways:
        raise UsageError(f"{found.path}: found no connection with data, expected a transfer over TCP or QUIC")
    return observe_way(found, found.ways[0])


def observe_way(found: Inspection, way: Way) -> Observed:
    """Returns the transfer of this direction with its concurrent transfers."""
    connection = next(one for one in found.connections if any(other is way for other in one["ways"]))
    span = _span(connection)
    opposite = _opposite(found, way)
    overlap = 0.0
    if opposite is not None:
        other = next(one for one in found.connections if any(one_way is opposite for one_way in one["ways"]))
        overlap = _shared(span, _span(other))
    beside = sum(
        other is not way
        and _hosts(other) == _hosts(way)
        and other["data_octets"] >= _BESIDE * way["data_octets"]
        and _shared(span, _span(one)) >= _BESIDE
        for one, other in _ways(found)
    )
    return Observed(found, way, connection, opposite, overlap, beside)


def _opposite(found: Inspection, way: Way) -> Way | None:
    """Returns the best transfer in the opposite direction.

    A transfer with a known rate is preferred, then one with a lower bound, then the largest.
    """
    there, back = _hosts(way)
    ways = [other for other in found.ways if _hosts(other) == (back, there)]

    def order(other: Way) -> tuple[int, int]:
        knowledge = 2 if other["rate"] is None else 1 if other["rate_is_lower_bound"] else 0
        return knowledge, -other["data_octets"]

    return min(ways, key=order, default=None)


def _ways(found: Inspection) -> Iterator[tuple[Connection, Way]]:
    return ((one, way) for one in found.connections for way in one["ways"])


def _hosts(way: Way) -> tuple[str, str]:
    return _host(way["from"]), _host(way["to"])


def _host(end: str) -> str:
    """Returns the address of an endpoint without its port."""
    return end.rpartition(":")[0] or end


def _span(connection: Connection) -> tuple[float, float]:
    return connection["start"], connection["start"] + connection["duration"]


def _shared(span: tuple[float, float], other: tuple[float, float]) -> float:
    """Returns the share of a span of time that another span covers."""
    length = span[1] - span[0]
    return max(min(span[1], other[1]) - max(span[0], other[0]), 0.0) / length if length > 0 else 0.0
