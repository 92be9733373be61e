"""The report of an inspection, with time–sequence graphs."""

from collections.abc import Sequence

from acklab.figures.time_sequence import SEQUENCE, Axis, time_sequence
from acklab.inspection.model import Curves, Inspection, Way, Window
from acklab.inspection.notes import notes
from acklab.inspection.tables import shown, tables
from acklab.report.document import Document, Figure, Section

_ROUND_TRIPS = 2.5
"""Duration of the enlarged plot in round trips.

It shows data with their ACKs, and few enough packets to distinguish them.
"""
_DETAIL = 0.3
"""Seconds of the enlarged plot if round trips are not known."""
_CENTRES = 20
"""Number of candidate positions of the enlarged plot."""

_AXES = {"tcp": SEQUENCE, "quic": Axis("Payload", "datagram"), "log": Axis("Data of streams", "packet")}
"""Units of the bytes of a protocol."""


def document(found: Inspection) -> Document:
    """Returns the report as sections of text, tables and figures."""
    command = [f"acklab inspect {found.path}"]
    ways = shown(found)
    counts = found.counts
    text = f"{counts['packets']:,} packets, {counts['connections']:,} connection{'' if counts['connections'] == 1 else 's'} in {found.duration:.1f} s."
    text += "".join(f"\n\n**Note:** {note}." for note in notes(found))
    sections = [Section("Connections", text, tables(found))]
    for way in ways:
        items = _figures(way, _AXES[found.protocol_of(way)], command)
        sections.append(Section(found.name_of(way), items=items))
    return Document(
        name=found.path.stem,
        title=f"Capture {found.path.name}",
        sections=tuple(sections),
    )


def _figures(way: Way, axis: Axis, command: Sequence[str]) -> list[Figure]:
    """Returns the time–sequence graphs of a direction.

    One graph shows the whole direction, the other a part in which single packets are visible.
    """
    curves = way["curves"]
    if not curves["windows"]:
        return []
    whole = time_sequence(curves, "Time–sequence graph of the whole transfer", axis)
    figures = [Figure(whole, _whole(curves, axis), command)]
    if (span := _detail(way)) is not None:
        enlarged = time_sequence(curves, f"Enlarged: {_within(curves, span)} at {span[0]:.3g} s", axis, span)
        figures.append(
            Figure(enlarged, f"{axis.quantity} over time. A bar is a {axis.packet}, from its first to its last octet", command)
        )
    return figures


def _whole(curves: Curves, axis: Axis) -> str:
    has_acks = any(window["acks"] for window in curves["windows"])
    sentences = [
        f"{axis.quantity} over time. Drag to enlarge a part, double-click to return",
        f"Shaded spans show each {axis.packet}, the others the course of the transfer" if curves["overview"] else "",
        "" if has_acks else "No acknowledgments of these data are visible in the capture",
    ]
    return ". ".join(sentence for sentence in sentences if sentence)


def _within(curves: Curves, span: tuple[float, float]) -> str:
    """Returns what a span of time contains, for the title of its figure."""
    windows = curves["windows"]
    if any(span[0] <= point[0] <= span[1] for window in windows for point in window["retransmitted"]):
        return "retransmissions"
    return "data and acknowledgments" if any(window["acks"] for window in windows) else "data"


def _detail(way: Way) -> tuple[float, float] | None:
    """Returns the span of time of the enlarged plot.

    It surrounds the first retransmission, or else the middle. It contains both data and ACKs if any
    span does.
    """
    windows, median = way["curves"]["windows"], way["round_trip"]["median"]
    length = _DETAIL if median is None else _ROUND_TRIPS * median / 1e3
    data = [point[0] for window in windows for point in window["data"]]
    acks = [point[0] for window in windows for point in window["acks"]]
    if len(data) < 2 or way["duration"] <= 2 * length:
        return None
    step = max(len(data) // _CENTRES, 1)
    middle = len(data) // 2
    lossy = _first_retransmitted(windows)
    centres = [*lossy, data[middle], *data[middle % step :: step]]
    spans = [_moved(centre - length / 3, length, windows) for centre in centres]

    def seen(span: tuple[float, float]) -> int:
        kinds = [times for times in (data, acks) if times]
        return min(sum(span[0] <= at <= span[1] for at in times) for times in kinds)

    # After a timeout, few packets surround the retransmission.
    if around := [span for span in spans[: len(lossy)] if seen(span)]:
        return around[0]
    enough = max(map(seen, spans)) / 2
    return next(span for span in spans if seen(span) >= enough)


def _moved(start: float, length: float, windows: Sequence[Window]) -> tuple[float, float]:
    """Returns a span of this length, moved from `start` until the packets of its window fill it."""
    middle = start + length / 3
    times = [(window["data"][0][0], window["data"][-1][0]) for window in windows if window["data"]]
    first, last = next((one for one in reversed(times) if one[0] <= middle), times[0])
    start = max(min(start, last - length), first)
    return start, start + length


def _first_retransmitted(windows: Sequence[Window]) -> list[float]:
    return [point[0] for window in windows for point in window["retransmitted"]][:1]
