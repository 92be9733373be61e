"""Notes of an inspection on defects of the file."""

from collections.abc import Iterator

from acklab.inspection.model import Clock, Inspection, Step
from acklab.inspection.unopened import unopened
from acklab.metrics import written

_MAX_STEPS = 3
"""Maximum number of clock steps in a note."""
_COARSE = 0.1
"""Minimum tick in ms in a note: ten packets of a LAN."""


def notes(found: Inspection) -> list[str]:
    """Returns a sentence, without its full stop, for each caveat of the file."""
    return list(_notes(found))


def _notes(found: Inspection) -> Iterator[str]:
    if found.cut is not None:
        yield found.cut
    if found.log is not None and found.log["note"] is not None:
        yield found.log["note"]
    yield from unopened(found)
    if found.counts["duplicates"]:
        yield _duplicates(found)
    yield from _clock(found.clock)
    losses = [way["losses"] for way in found.ways]
    if uncaptured := sum(one["uncaptured_octets"] for one in losses):
        yield (
            f"{written(uncaptured)} bytes were acknowledged and are not in the file: the capture has gaps, "
            "and its losses and ACKs may be fewer than those of the path"
        )
    if misfiled := sum(one["misfiled"] for one in losses):
        yield f"{written(misfiled)} segments are out of order in the file, and in order by their ACKs"


def _clock(clock: Clock) -> Iterator[str]:
    if clock["step_count"]:
        shown = ", ".join(_step(step) for step in clock["steps"][:_MAX_STEPS])
        more = clock["step_count"] - _MAX_STEPS
        yield (
            f"the clock of the capture has stepped {shown}{f' and {more} more times' if more > 0 else ''}: "
            "no duration, rate or round trip spans a step"
        )
    if (gap := clock["gap"]) is not None:
        yield f"nothing shows whether the {gap['size']:,.0f} s before packet {gap['packet']} are a pause or a step of the clock"
    if (by := clock["out_of_order_by"]) is not None:
        packets = "1 packet is" if clock["out_of_order"] == 1 else f"{written(clock['out_of_order'])} packets are"
        yield f"{packets} out of order in the file, by at most {written(by)} ms: they are taken in order of time"
    if clock["tick"] >= _COARSE:
        yield f"the clock of the capture has a tick of {written(clock['tick'])} ms: shorter times are not known"


def _step(step: Step) -> str:
    size = abs(step["size"])
    return f"by {'−' if step['size'] < 0 else '+'}{f'{size:,.0f}' if size >= 1000 else written(size)} s before packet {step['packet']}"


def _duplicates(found: Inspection) -> str:
    copies = [(one["duplicates"], one["duplicate_distance"] or 0.0) for one in found.connections if one["duplicates"]]
    count = sum(number for number, _ in copies)
    mean = f", {written(sum(number * distance for number, distance in copies) / count)} ms apart on average" if count else ""
    return f"{written(found.counts['duplicates'])} packets are in the file more than once{mean}: each is counted once"
