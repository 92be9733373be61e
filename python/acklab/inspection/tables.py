"""The tables of an inspection."""

from collections.abc import Callable, Sequence

from acklab.inspection.evidence import evidence_table
from acklab.inspection.model import Inspection, Way
from acklab.metrics import written
from acklab.tables import Table

MAX_SHOWN = 6
"""Maximum number of directions side by side."""
_SMALL = 20
"""Minimum segments of a direction in the table, because smaller directions show too little.

Smaller directions are shown only if no direction has more.
"""

THINNING = {
    "none": "none",
    "sparse-receiver": "the receiver acknowledges rarely",
    "thinned": "ACKs are removed",
    "not-visible": "not visible here",
    "unknown": "not known",
}
"""Descriptions of removed packets."""


def shown(found: Inspection, limit: int = MAX_SHOWN) -> list[Way]:
    """Returns the directions that are shown: those with the most data."""
    ways = found.ways
    return ([way for way in ways if way["data_segments"] >= _SMALL] or ways)[:limit]


def tables(found: Inspection, limit: int = MAX_SHOWN) -> list[Table]:
    """Returns the tables of an inspection.

    The first has a column for each of the largest directions. Their evidence and the list of the
    other directions follow.
    """
    ways = shown(found, limit)
    if not ways:
        return []
    head = ["quantity", "unit", *(_heading(number, found.name_of(way), len(ways)) for number, way in enumerate(ways, start=1))]
    rows = [[name, unit, *(of(way) for way in ways)] for name, unit, of in _ROWS]
    known = [row for row in rows if any(cell != "–" for cell in row[2:])]
    largest = Table(head, known, "Connections", numeric_from=2)
    evidence = evidence_table(ways)
    return [
        largest,
        *([] if evidence is None else [evidence]),
        *(_rest(found, ways) if len(found.ways) > len(ways) else []),
    ]


def _heading(number: int, name: str, count: int) -> str:
    """Returns the heading of the column of a direction.

    If there are several directions, the heading begins with the number of the direction in the
    table of evidence.
    """
    return name if count == 1 else f"{number}: {name}"


def _rest(found: Inspection, ways: Sequence[Way]) -> list[Table]:
    others = [way for way in found.ways if all(way is not one for one in ways)]
    rows = [[found.name_of(way), written(way["data_octets"]), _number(_goodput(way)), _base(way)] for way in others]
    return [Table(["direction", "octets", "goodput [Mbps]", "base RTT [ms]"], rows, "Smaller ones").cut(20)]


def _some(count: int) -> str:
    return written(count) if count else "–"


def _number(value: float | None) -> str:
    return "–" if value is None else written(value)


def _goodput(way: Way) -> float | None:
    return None if "goodput" in way["not_known"] else way["goodput"]


def _time(value: float | None, tick: float) -> str:
    """Formats a time in ms. Times below the tick of the clock are not distinguished from zero."""
    return f"< {written(tick)}" if value is not None and value < tick else _number(value)


def _base(way: Way) -> str:
    below = way["round_trip"]["base_below"]
    return _number(way["round_trip"]["base"]) if below is None else f"< {written(below)}"


def _rate(way: Way) -> str:
    rate = way["rate"]
    if rate is None:
        return "–"
    if way["rate_is_lower_bound"]:
        return f"≥ {written(rate['value'])}"
    return f"{written(rate['value'])} ± {written((rate['high'] - rate['low']) / 2)}"


def _within(value: float | None, interval: tuple[float, float] | None) -> str:
    """Returns a number with its interval."""
    return _number(value) + ("" if interval is None else f" ({written(interval[0])} to {written(interval[1])})")


def _lost(way: Way) -> str:
    losses = way["losses"]
    interval = losses["share_interval"]
    return _share(losses["share"]) + ("" if interval is None else f" ({_share(interval[0])} to {_share(interval[1])})")


def _share(value: float | None) -> str:
    return "–" if value is None else f"{100 * value:.2g} %" if value < 0.1 else f"{100 * value:.0f} %"


def _acks(of: Callable[[Way], str]) -> Callable[[Way], str]:
    return lambda way: "–" if way["acks"] is None else of(way)


def _compressed(way: Way) -> str:
    value = way["acks"]["compressed"] if way["acks"] else None
    return "–" if value is None else "yes" if value else "no"


def _controller(way: Way) -> str:
    found = way["controller"]
    if found is None:
        return "–"
    return found["family"] + (
        f" ({found['ratio']:.2f} after {found['episodes']} reductions)" if found["ratio"] is not None else ""
    )


def _return_rate(way: Way) -> str:
    acks = way["acks"]
    return _number(None if acks is None or acks["rate"] is None else 1e3 * acks["rate"])


_ROWS: Sequence[tuple[str, str, Callable[[Way], str]]] = (
    ("captured at", "", lambda way: way["position"]),
    ("duration", "s", lambda way: written(way["duration"])),
    ("data", "segments", lambda way: written(way["data_segments"])),
    ("goodput", "Mbps", lambda way: _within(_goodput(way), way["goodput_interval"])),
    ("rate of the bottleneck", "Mbps", _rate),
    ("base RTT", "ms", _base),
    ("… to the receiver and back", "ms", lambda way: _time(way["round_trip"]["ahead"], way["round_trip"]["tick"])),
    ("RTT under load, mean", "ms", lambda way: _within(way["round_trip"]["mean"], way["round_trip"]["mean_interval"])),
    ("… median", "ms", lambda way: _number(way["round_trip"]["median"])),
    ("… 95th percentile", "ms", lambda way: _number(way["round_trip"]["p95"])),
    ("retransmitted", "segments", _acks(lambda way: written(way["losses"]["retransmitted"]))),
    ("… spurious", "segments", _acks(lambda way: written(way["losses"]["spurious"]))),
    ("lost", "", _acks(_lost)),
    ("reordered", "segments", _acks(lambda way: written(way["losses"]["reordered"]))),
    ("acknowledged, not captured", "bytes", lambda way: _some(way["losses"]["uncaptured_octets"])),
    (
        "segments per ACK",
        "",
        _acks(lambda way: _within(way["acks"]["ratio"], way["acks"]["ratio_interval"]) if way["acks"] else "–"),
    ),
    ("time between ACKs", "ms", _acks(lambda way: _number(way["acks"]["spacing"] if way["acks"] else None))),
    ("ACKs to a burst", "", _acks(lambda way: _number(way["acks"]["burst"] if way["acks"] else None))),
    ("period of bursts", "ms", _acks(lambda way: _number(way["acks"]["period"] if way["acks"] else None))),
    ("ACKs compressed on their way", "", _compressed),
    ("ACKs thinned", "", _acks(lambda way: THINNING[way["acks"]["thinning"]] if way["acks"] else "–")),
    ("rate of the return path", "kbps", _acks(_return_rate)),
    ("ACKs missing by their numbers", "", _acks(lambda way: _share(way["acks"]["missing"]) if way["acks"] else "–")),
    ("limited by the receive window", "", lambda way: _share(way["limits"]["receive_window"]) if way["limits"] else "–"),
    ("limited by the application", "", lambda way: _share(way["limits"]["application"]) if way["limits"] else "–"),
    ("controller, likely", "", _controller),
    ("marked CE", "segments", lambda way: written(way["marked"])),
)
