"""Holds the result of an inspection, as the core reports it."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypedDict

from acklab import _core, core
from acklab.errors import UsageError
from acklab.files import path_of, printable

_MAX_ID_LENGTH = 16
"""Maximum characters of a connection id in the name of a direction."""


class Estimate(TypedDict):
    """A number with its 95 % confidence interval."""

    value: float
    low: float
    high: float


class RoundTrip(TypedDict):
    """Round-trip times in ms: minimum, its parts on both sides of the capture, and those of data.

    `base_below` is the tick of the capture's clock if the minimum is below it. Samples of `lone`
    segments are used only for the minimum. `late` echoes of timestamps are not used.
    """

    base: float | None
    base_below: float | None
    ahead: float | None
    behind: float | None
    median: float | None
    mean: float | None
    mean_interval: tuple[float, float] | None
    p95: float | None
    samples: int
    lone: int
    late: int
    by_spin_bit: bool
    tick: float


class Losses(TypedDict):
    """Losses in segments, and their share.

    `misfiled` segments are out of order in the file only. `uncaptured_octets` are missing in the
    capture.
    """

    retransmitted: int
    spurious: int
    lost_before: int
    lost_behind: int
    share: float
    share_interval: tuple[float, float] | None
    reordered: int
    misfiled: int
    uncaptured_octets: int


class Acks(TypedDict):
    """Describes acknowledgments, and their changes on the path.

    The fields are counts, segments per ACK, and spacing and period in ms.

    `rate`, in Mbps, is the rate of a return path that the ACKs keep busy after a middlebox has
    removed some of them.
    """

    count: int
    duplicates: int
    octets: int
    ratio: float | None
    ratio_interval: tuple[float, float] | None
    usual: int
    agreement: float
    spacing: float | None
    rate: float | None
    burst: float | None
    period: float | None
    compressed: bool | None
    thinning: str
    missing: float | None


class Limits(TypedDict):
    """Shares of the time in which the receive window or the application limited the sender."""

    receive_window: float
    application: float


class Controller(TypedDict):
    """Names the likely family of the congestion controller.

    The evidence is the number of reductions, pauses or swings of the window (`episodes`), and the
    share of episodes that agree with the family.
    """

    family: str
    ratio: float | None
    episodes: int
    agreement: float


class Window(TypedDict):
    """A span of time with all of its packets: time in seconds, first octet, number of octets.

    An ACK has the number of the octet that it acknowledges, and the right edge of the receive
    window.
    """

    data: list[tuple[float, int, int]]
    retransmitted: list[tuple[float, int, int]]
    reordered: list[tuple[float, int, int]]
    acks: list[tuple[float, int, int | None]]
    sacked: list[tuple[float, int, int]]


class Point(TypedDict):
    """Describes the state of a direction at an instant.

    The instant is in seconds, the state in bytes. `retransmitted` and `reordered` are the extents
    of such data since the previous point.
    """

    at: float
    sent: int | None
    acknowledged: int | None
    edge: int | None
    retransmitted: tuple[int, int] | None
    reordered: tuple[int, int] | None


class Curves(TypedDict):
    """Holds the points of the time–sequence graph.

    `windows` have all packets of a span of time. `overview` shows the whole direction if the
    windows omit packets.
    """

    windows: list[Window]
    overview: list[Point]


Way = TypedDict(
    "Way",
    {
        "from": str,
        "to": str,
        "position": str,
        "duration": float,
        "data_octets": int,
        "data_segments": int,
        "mss": int,
        "packet_octets": int,
        "goodput": float,
        "goodput_interval": tuple[float, float] | None,
        "rate": Estimate | None,
        "rate_is_lower_bound": bool,
        "round_trip": RoundTrip,
        "losses": Losses,
        "acks": Acks | None,
        "limits": Limits | None,
        "controller": Controller | None,
        "marked": int,
        "timestamps": bool,
        "sack": bool,
        "evidence": dict[str, str],
        "not_known": dict[str, str],
        "curves": Curves,
    },
)
"""One direction of a connection. Rates are in Mbps, times in ms, the duration in seconds.

`evidence` has the evidence of each known quantity. `not_known` has the reason why each other
quantity is not known.
"""


class Source(TypedDict):
    """Names the source of a connection of a log.

    `trace` is the number of the trace, from 1. The other fields are the trace's own description.
    """

    trace: int
    vantage_point: str
    title: str | None
    connection_id: str | None
    description: str | None
    protocol: str | None


class Connection(TypedDict):
    """A connection.

    `source` is None in captures. `duplicates` are copies of its packets that the capture made, on
    average `duplicate_distance` ms after them.
    """

    protocol: str
    ends: list[str]
    source: Source | None
    start: float
    duration: float
    packets: int
    octets: int
    duplicates: int
    duplicate_distance: float | None
    ways: list[Way]


class Step(TypedDict):
    """Describes a step of the capture's clock by `size` seconds.

    The step precedes packet number `packet`, counted from 1, `at` seconds after the start.
    """

    packet: int
    at: float
    size: float


class Clock(TypedDict):
    """Describes the clock of the capture.

    `tick` is in ms. `steps` are the first steps, and `step_count` counts all. `gap` is the longest
    gap that may be a step.

    `out_of_order` packets follow later ones in the file, and are at most `out_of_order_by` ms
    earlier.
    """

    tick: float
    steps: list[Step]
    step_count: int
    gap: Step | None
    out_of_order: int
    out_of_order_by: float | None


class Log(TypedDict):
    """Counts the records that were read from a log.

    `packets` counts packets sent, received and declared lost. `not_understood` counts, by name, the
    events that were not understood.
    """

    version: str | None
    traces: int
    events: int
    packets: list[int]
    packets_with_data: int
    not_understood: dict[str, int]
    note: str | None


class Counts(TypedDict):
    """Counts of read packets.

    `others` includes `other_udp_packets`: UDP packets other than QUIC, in `other_udp_flows` flows.
    """

    packets: int
    others: int
    other_udp_packets: int
    other_udp_flows: int
    malformed: int
    duplicates: int
    connections: int
    closed: dict[str, int]
    """Packets by the innermost protocol, which is not decoded."""
    cut: dict[str, int]
    """Packets by the header that the snap length cut.

    Packets with cut TCP options are analysed nevertheless.
    """
    damaged: dict[str, int]
    """Packets by the header that is inconsistent, or within which the frame ends."""
    retried: int
    """Retransmitted frames of 802.11."""


@dataclass(frozen=True, repr=False)
class Inspection:
    """Holds the findings of a capture."""

    path: Path
    start: float
    """The time of the first packet, in seconds since 1970."""
    duration: float
    counts: Counts
    connections: tuple[Connection, ...]
    """The connections, in descending order of octets."""
    cut: str | None
    """Reason why the rest of the file was not read; None if the whole file was read."""
    clock: Clock
    """The clock of the capture.

    No duration, rate or round trip spans a step of the clock.
    """
    log: Log | None = None
    """Counts of a log; None for a capture."""

    @property
    def ways(self) -> list[Way]:
        """Returns the directions with data of all connections, those with the most data first."""
        ways = [way for connection in self.connections for way in connection["ways"]]
        return sorted(ways, key=lambda way: -way["data_octets"])

    def protocol_of(self, way: Way) -> str:
        """Returns the protocol of the connection that a direction belongs to: tcp, quic, or log."""
        return next(one["protocol"] for one in self.connections if any(other is way for other in one["ways"]))

    def name_of(self, way: Way) -> str:
        """Returns the name of a direction: its ends.

        In a log, the title and the connection id follow, with the trace if there are several.
        """
        ends = f"{way['from']} → {way['to']}"
        source = next((one["source"] for one in self.connections if any(other is way for other in one["ways"])), None)
        if source is None:
            return ends
        connection_id = source["connection_id"]
        if connection_id is not None and len(connection_id) > _MAX_ID_LENGTH:
            connection_id = connection_id[: _MAX_ID_LENGTH - 1] + "…"
        trace = f"trace {source['trace']}" if self.log is not None and self.log["traces"] > 1 else None
        parts = [part for part in (trace, source["title"], connection_id) if part is not None]
        return f"{ends} ({', '.join(parts)})" if parts else ends

    def to_dict(self) -> dict[str, Any]:
        """Returns the output of `acklab inspect --json`: all except the points of figures."""
        connections = [
            dict(one) | {"ways": [{key: value for key, value in way.items() if key != "curves"} for way in one["ways"]]}
            for one in self.connections
        ]
        return {
            "capture": printable(self.path),
            "start": self.start,
            "duration": self.duration,
            "counts": dict(self.counts),
            "clock": dict(self.clock),
            "log": None if self.log is None else dict(self.log),
            "connections": connections,
            "cut": self.cut,
        }

    def __repr__(self) -> str:
        """Returns a short text, because a capture may have a thousand connections."""
        return f"Inspection({str(self.path)!r}, {self.counts['packets']} packets, {self.counts['connections']} connections)"


def inspect(
    capture: str | Path,
    *,
    trace: int | None = None,
    watch: Callable[[float], None] | None = None,
    cancel: core.Cancel | None = None,
) -> Inspection:
    """Reads a capture or the log of an endpoint, and returns the findings of an inspection.

    A capture has the format pcap, pcapng or snoop, and a log has qlog. Both may have any length.

    Either may be compressed by gzip or zstd. `trace` selects one trace of a log, from 1. `watch`
    repeatedly receives the share of the file that has been read. Raises UsageError for a file that
    cannot be read or has another format, and for a missing trace of a log, RunError for a log
    without data, Cancelled once `cancel` is cancelled. A file that ends within a packet is read up
    to that packet; `cut` reports this.
    """
    path = path_of(capture, "capture")
    text, cut = _core.inspect(path, cancel=cancel, watch=watch, trace=_number_of(trace))
    report = json.loads(text)
    counts, connections = report["counts"], tuple(report["connections"])
    return Inspection(path, report["start"], report["duration"], counts, connections, cut, report["clock"], report["log"])


def _number_of(trace: int | None) -> int | None:
    if trace is not None and (not isinstance(trace, int) or isinstance(trace, bool) or trace < 1):
        raise UsageError(f"trace: found {trace!r}, expected the number of a trace, from 1")
    return trace
