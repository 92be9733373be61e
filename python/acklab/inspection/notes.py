"""Notes of an inspection: what the file itself does to its packets."""

from collections.abc import Iterator

from acklab.inspection.model import Inspection
from acklab.metrics import written


def notes(found: Inspection) -> list[str]:
    """Returns a sentence, without its full stop, for each thing that a reader must know of the file."""
    return list(_notes(found))


def _notes(found: Inspection) -> Iterator[str]:
    if found.cut is not None:
        yield found.cut
    if found.counts["duplicates"]:
        yield _duplicates(found)
    losses = [way["losses"] for way in found.ways]
    if uncaptured := sum(one["uncaptured_octets"] for one in losses):
        yield (
            f"{written(uncaptured)} bytes were acknowledged and are not in the file: the capture has gaps, "
            "and its losses and ACKs may be fewer than those of the path"
        )
    if misfiled := sum(one["misfiled"] for one in losses):
        yield f"{written(misfiled)} segments are out of order in the file, and in order by their times or ACKs"


def _duplicates(found: Inspection) -> str:
    copies = [(one["duplicates"], one["duplicate_distance"] or 0.0) for one in found.connections if one["duplicates"]]
    count = sum(number for number, _ in copies)
    mean = f", {written(sum(number * distance for number, distance in copies) / count)} ms apart on average" if count else ""
    return f"{written(found.counts['duplicates'])} packets are in the file more than once{mean}: each is counted once"
