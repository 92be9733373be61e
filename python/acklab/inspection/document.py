"""The report of an inspection, with time–sequence plots."""

from acklab.figures.time_sequence import time_sequence
from acklab.inspection.model import Inspection, Way
from acklab.inspection.tables import shown, tables
from acklab.report.document import Document, Figure, Section

_DETAIL = 0.3
"""Seconds of the enlarged plot: enough for some round trips, little enough to see single packets."""


def document(found: Inspection) -> Document:
    """The report as sections of text, tables and figures."""
    command = [f"acklab inspect {found.path}"]
    ways = shown(found)
    counts = found.counts
    text = f"{counts['packets']:,} packets, {counts['connections']:,} connection{'' if counts['connections'] == 1 else 's'} in {found.duration:.1f} s."
    if found.cut is not None:
        text += f"\n\n**Note:** {found.cut}."
    sections = [Section("Connections", text, tables(found))]
    for way in ways:
        curves = way["curves"]
        items = [
            Figure(time_sequence(curves["data"], curves["repeated"], curves["acks"]), "Octets over time", command),
        ]
        if (window := _detail(way)) is not None:
            enlarged = time_sequence(*_within(way, window), window=window)
            items.append(Figure(enlarged, "Enlarged, around the first retransmission or the middle", command))
        sections.append(Section(f"{way['from']} → {way['to']}", items=items))
    return Document(
        name=found.path.stem,
        title=f"Capture {found.path.name}",
        sections=tuple(sections),
    )


def _detail(way: Way) -> tuple[float, float] | None:
    curves = way["curves"]
    if len(curves["data"]) < 2 or way["duration"] <= 2 * _DETAIL:
        return None
    middle = curves["repeated"][0][0] if curves["repeated"] else curves["data"][len(curves["data"]) // 2][0]
    return middle - _DETAIL / 3, middle + 2 * _DETAIL / 3


def _within(
    way: Way, window: tuple[float, float]
) -> tuple[list[tuple[float, int, int]], list[tuple[float, int, int]], list[tuple[float, int]]]:
    curves = way["curves"]
    low, high = window[0] - _DETAIL, window[1] + _DETAIL
    return (
        [point for point in curves["data"] if low <= point[0] <= high],
        [point for point in curves["repeated"] if low <= point[0] <= high],
        [point for point in curves["acks"] if low <= point[0] <= high],
    )
