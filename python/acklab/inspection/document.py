"""The report of an inspection, with time–sequence plots."""

from acklab.figures.time_sequence import time_sequence
from acklab.inspection.model import Inspection, Way
from acklab.inspection.notes import notes
from acklab.inspection.tables import shown, tables
from acklab.report.document import Document, Figure, Section

_ROUND_TRIPS = 2.5
"""Of the enlarged plot: enough to see data and their ACKs, little enough to see single packets."""
_DETAIL = 0.3
"""Its seconds where round trips are not known."""
_CENTRES = 20
"""Places that are tried for it."""


def document(found: Inspection) -> Document:
    """The report as sections of text, tables and figures."""
    command = [f"acklab inspect {found.path}"]
    ways = shown(found)
    counts = found.counts
    text = f"{counts['packets']:,} packets, {counts['connections']:,} connection{'' if counts['connections'] == 1 else 's'} in {found.duration:.1f} s."
    text += "".join(f"\n\n**Note:** {note}." for note in notes(found))
    sections = [Section("Connections", text, tables(found))]
    for way in ways:
        curves = way["curves"]
        items = [
            Figure(time_sequence(curves["data"], curves["repeated"], curves["acks"]), _whole(way), command),
        ]
        if (window := _detail(way)) is not None:
            enlarged = time_sequence(*_within(way, window), window=window)
            items.append(Figure(enlarged, "Enlarged", command))
        sections.append(Section(f"{way['from']} → {way['to']}", items=items))
    return Document(
        name=found.path.stem,
        title=f"Capture {found.path.name}",
        sections=tuple(sections),
    )


def _whole(way: Way) -> str:
    seen = len(way["curves"]["data"]) + len(way["curves"]["repeated"])
    return "Octets over time" + ("" if seen >= way["data_segments"] else "; of a long transfer a sample")


def _detail(way: Way) -> tuple[float, float] | None:
    """The span of time of the enlarged plot, which has both data and ACKs if any has: around the first retransmission, the middle, or elsewhere."""
    curves, median = way["curves"], way["round_trip"]["median"]
    length = _DETAIL if median is None else _ROUND_TRIPS * median / 1e3
    if len(curves["data"]) < 2 or way["duration"] <= 2 * length:
        return None
    data, acks = ([point[0] for point in curves[name]] for name in ("data", "acks"))
    step = max(len(data) // _CENTRES, 1)
    middle = len(data) // 2
    centres = [*(point[0] for point in curves["repeated"][:1]), data[middle], *data[middle % step :: step]]
    windows = [(centre - length / 3, centre + 2 * length / 3) for centre in centres]

    def seen(window: tuple[float, float]) -> int:
        return min(sum(window[0] <= at <= window[1] for at in times) for times in (data, acks))

    enough = max(map(seen, windows)) / 2
    return next(window for window in windows if seen(window) >= enough)


def _within(
    way: Way, window: tuple[float, float]
) -> tuple[list[tuple[float, int, int]], list[tuple[float, int, int]], list[tuple[float, int]]]:
    curves = way["curves"]
    length = window[1] - window[0]
    low, high = window[0] - length, window[1] + length
    return (
        [point for point in curves["data"] if low <= point[0] <= high],
        [point for point in curves["repeated"] if low <= point[0] <= high],
        [point for point in curves["acks"] if low <= point[0] <= high],
    )
