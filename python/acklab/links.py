"""The directions of the links of a complete scenario."""

from collections.abc import Iterator, Mapping, Set
from dataclasses import dataclass
from typing import Any

_NARROW = 2.0
"""Maximum rate of a narrow direction, relative to the slowest direction towards the user, or away
from the user; *chosen*.
"""


@dataclass(frozen=True)
class Direction:
    """A direction of a link."""

    name: str
    """Name of the link with `_forward` or `_reverse`."""
    start: str
    end: str
    settings: Mapping[str, Any]
    is_narrow: bool = False

    @property
    def rate(self) -> float | None:
        """Returns the rate of the direction in bits per second; None if it is not constant."""
        given = self.settings.get("rate")
        return None if given is None else bits(given)

    @property
    def capacity(self) -> float:
        """Returns the rate of the link, or the rate of the queue's shaper if it is lower."""
        shaper = self.queue.get("rate")
        rate = self.rate or float("inf")
        return rate if shaper is None else min(rate, bits(shaper))

    @property
    def queue(self) -> Mapping[str, Any]:
        """Returns the queue of the direction."""
        return self.settings.get("queue") or {}

    @property
    def discipline(self) -> str:
        """Returns the discipline of the direction's queue."""
        return str(self.queue.get("discipline", "fifo"))

    @property
    def can_be_shaped(self) -> bool:
        """Returns `True` if a shaper in a router before the link can move the queue there.

        This requires a known, constant rate.
        """
        return "mark_above" not in self.queue and not self.settings.get("steps") and not self.settings.get("trace")

    def leads(self, base: Mapping[str, Any], start: str, end: str) -> bool:
        """Returns `True` if the direction is on the shortest path between two nodes."""
        return any(one.name == self.name for one in link_path(base, start, end))


def directions(base: Mapping[str, Any]) -> list[Direction]:
    """Returns all directions.

    Narrow directions are the slowest on each of the two paths of the first flow.
    """
    found = [*all_of(base)]
    flow = base["flow"][0]
    narrow: set[str] = set()
    for start, end in ((flow["from"], flow["to"]), (flow["to"], flow["from"])):
        hops = [one for one in link_path(base, start, end) if one.rate is not None]
        min_capacity = min((one.capacity for one in hops), default=0.0)
        narrow |= {one.name for one in hops if one.capacity <= _NARROW * min_capacity}
    return [Direction(one.name, one.start, one.end, one.settings, one.name in narrow) for one in found]


def all_of(base: Mapping[str, Any]) -> Iterator[Direction]:
    """Yields the directions of all links."""
    for link in base.get("link") or []:
        yield Direction(f"{link['name']}_forward", link["from"], link["to"], link["forward"])
        yield Direction(f"{link['name']}_reverse", link["to"], link["from"], link["reverse"])


def link_path(base: Mapping[str, Any], start: str, end: str) -> list[Direction]:
    """Returns the link directions on the path with the fewest hops between two nodes.

    Cells are hops too, but are not in the result.
    """
    hops: dict[str, list[tuple[str, Direction | None]]] = {}
    for one in all_of(base):
        hops.setdefault(one.start, []).append((one.end, one))
    for cell in base.get("wifi") or []:
        for station in cell.get("station") or []:
            count = int(station.get("count", 1))
            names = [station["name"], *(f"{station['name']}_{number}" for number in range(1, count + 1) if count > 1)]
            for name in names:
                hops.setdefault(cell["ap"]["name"], []).append((name, None))
                hops.setdefault(name, []).append((cell["ap"]["name"], None))
    paths: dict[str, list[Direction]] = {start: []}
    frontier = [start]
    while frontier and end not in paths:
        node = frontier.pop(0)
        for neighbour, hop in hops.get(node, []):
            if neighbour not in paths:
                paths[neighbour] = [*paths[node], *([hop] if hop is not None else [])]
                frontier.append(neighbour)
    return paths.get(end, [])


def shapers(base: Mapping[str, Any]) -> Set[str]:
    """Returns the names of directions whose queue shapes traffic below the rate of the link."""
    shaped = ((one, one.queue.get("rate")) for one in all_of(base))
    return {one.name for one, rate in shaped if rate is not None and (one.rate is None or bits(rate) < one.rate)}


def bits(rate: str) -> float:
    """Returns the bits per second of a rate such as 16Mbps."""
    for unit, factor in (("Gbps", 1e9), ("Mbps", 1e6), ("kbps", 1e3), ("bps", 1.0)):
        if rate.endswith(unit):
            return float(rate.removesuffix(unit)) * factor
    return float(rate)
