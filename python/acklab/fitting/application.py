"""The application of a transfer as a model of traffic, with its pauses."""

import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from acklab.fitting.observed import Observed
from acklab.inspection.model import Way

BULK, STREAM, REQUESTS, PAGE = "bulk transfer", "stream", "requests", "page"
_PAUSE = 0.2
"""Minimum seconds without data that count as a pause: Linux's minimum retransmission timeout
(`TCP_RTO_MIN`), within which a bulk transfer retransmits.
"""
_ROUND_TRIPS = 3.0
"""Round trips without data that count as a pause.

A window and its recovery take fewer round trips; *chosen*.
"""
_IDLE = 0.2
"""The application limits a transfer if this share of the time is in pauses or without outstanding
data; *chosen*.

A bulk transfer always has data outstanding.
"""
_REGULAR = 0.5
"""Bursts are those of a stream if the coefficient of variation of the times between them, and of
their sizes, is below this value; *chosen*.

A Poisson process has 1.
"""
_PERIODS = 4
"""Minimum number of bursts to determine a period; *chosen*."""
_OBJECTS = 100
"""Maximum number of objects of a page or of a series of requests."""


@dataclass(frozen=True)
class Application:
    """An application with its settings in a flow."""

    kind: str
    evidence: str
    settings: dict[str, Any]
    """`traffic` or `page` of the flow."""

    @property
    def limits(self) -> bool:
        """Returns `True` if the application limited the transfer.

        Such a transfer shows little of the path.
        """
        return self.kind != BULK


@dataclass(frozen=True)
class _Burst:
    start: float
    end: float
    size: int


def application_of(observed: Observed) -> Application:
    """Returns the application of a transfer."""
    way = observed.way
    bursts = _bursts(way)
    pauses = [after.start - before.end for before, after in pairwise(bursts)]
    idle = sum(pauses) / way["duration"] if way["duration"] > 0 else 0.0
    limits = way["limits"]
    is_limited = limits is not None and limits["application"] > _IDLE
    if not is_limited and idle < _IDLE:
        evidence = f"data without pauses for {1 - idle:.0%} of {way['duration']:.3g} s"
        return Application(BULK, evidence, {"traffic": {"model": "greedy"}})
    why = f"limited by the application for {limits['application']:.0%} of the time" if is_limited and limits else ""
    seen = f"{len(bursts)} bursts, {idle:.0%} of {way['duration']:.3g} s in pauses"
    evidence = f"{why}, {seen}" if why else seen
    starts = [after.start - before.start for before, after in pairwise(bursts)]
    sizes = [burst.size for burst in bursts]
    if len(bursts) >= _PERIODS and _is_regular(starts) and _is_regular(sizes):
        return Application(STREAM, f"{evidence}, each {statistics.mean(starts):.3g} s", {"traffic": _stream(bursts)})
    if is_limited and len(bursts) < _PERIODS:
        # The application writes at a rate, without detectable pauses.
        rate = f"{round(way['goodput'] * 1e6)}bps"
        return Application(STREAM, evidence, {"traffic": {"model": "constant", "rate": rate, "write": f"{way['mss']}B"}})
    sizes = sizes[: _OBJECTS + 1]
    is_page = _parallel(observed) > 1
    page = {
        "document": f"{sizes[0]}B",
        "objects": [f"{size}B" for size in sizes[1:]],
        "think": f"{1e3 * statistics.median(pauses):.3f}ms" if pauses and not is_page else "0ms",
        "requests": "parallel" if is_page else "serial",
    }
    return Application(PAGE if is_page else REQUESTS, evidence, {"page": page})


def _is_regular(values: Sequence[float]) -> bool:
    """Returns `True` if the values are alike, as the periods and the sizes of a stream are."""
    return statistics.pstdev(values) < _REGULAR * statistics.fmean(values)


def _stream(bursts: Sequence[_Burst]) -> dict[str, Any]:
    """Returns writes of the median size, with the mean rate of the stream."""
    size = round(statistics.median(burst.size for burst in bursts))
    seconds = bursts[-1].start - bursts[0].start
    rate = sum(burst.size for burst in bursts[:-1]) * 8 / seconds
    return {"model": "constant", "rate": f"{max(round(rate), 1)}bps", "write": f"{max(size, 1)}B"}


def _parallel(observed: Observed) -> int:
    """Returns connections of the same client during the transfer."""
    span = observed.connection
    client = span["ends"][0].rpartition(":")[0]
    end = span["start"] + span["duration"]
    return sum(
        one["ends"][0].rpartition(":")[0] == client and one["start"] < end and one["start"] + one["duration"] > span["start"]
        for one in observed.inspection.connections
    )


def _bursts(way: Way) -> list[_Burst]:
    """Returns data between pauses, from the points of the time–sequence graph."""
    times = way["round_trip"]
    trip = (times["p95"] or times["base"] or 0.0) / 1e3
    pause = max(_PAUSE, _ROUND_TRIPS * trip)
    bursts: list[_Burst] = []
    for at, sent in _sent(way):
        if not bursts or at - bursts[-1].end > pause:
            start = bursts[-1].size if bursts else 0
            bursts.append(_Burst(at, at, max(sent, start)))
        else:
            bursts[-1] = _Burst(bursts[-1].start, at, max(sent, bursts[-1].size))
    ends = [0, *(burst.size for burst in bursts)]
    return [
        _Burst(burst.start, burst.end, after - before)
        for burst, before, after in zip(bursts, ends, ends[1:], strict=False)
        if after > before
    ]


def _sent(way: Way) -> list[tuple[float, int]]:
    """Returns instants, each with the number of bytes sent before it."""
    curves = way["curves"]
    if curves["overview"]:
        return [(point["at"], point["sent"]) for point in curves["overview"] if point["sent"] is not None]
    return sorted((at, first + size) for window in curves["windows"] for at, first, size in window["data"])
