"""The arms of the experiment.

An arm is a combination of a queue of the access point, contention windows, and an ACK policy of the
server.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace


def mimd(path: str, floor: int) -> dict[str, object]:
    """Returns MIMD at the nodes of `path`, with a minimum window."""
    return {f"{path}.access.best_effort.cw_control": "mimd", f"{path}.access.best_effort.cw_floor": floor}


WINDOWS: Mapping[str, Mapping[str, object]] = {
    "CWmin 31": {},
    "CWmin 63": {"wifi.0.access.best_effort.cw_min": 63},
    "CWmin 127": {"wifi.0.access.best_effort.cw_min": 127},
    "MIMD": {**mimd("wifi.0.station.0", 1), **mimd("wifi.0.ap", 2)},
    "MIMD of stations": mimd("wifi.0.station.0", 1),
}
"""Contention windows: CWmin of all nodes; MIMD of all nodes, in which stations halve the window
down to no backoff, and the access point down to 2; and MIMD of the stations only. mimd.py has the
alternatives.
"""

FIRST = "CWmin 31"
"""CWmin of 802.11b."""


@dataclass(frozen=True)
class Arm:
    """One configuration of the cell, applied to upload.toml."""

    slots: int = 250
    """Limit of every interface queue: the paper's q."""
    is_filtered: bool = False
    """`True` if the access point has the filter of the paper's Figure 1."""
    window: str = FIRST
    is_delayed: bool = False
    """`True` if the server delays ACKs: one per two segments, or after 100 ms as ns-2's DelAck.
    """

    @property
    def name(self) -> str:
        """Returns the name for grids."""
        words = (
            f"q {self.slots}",
            "filter" * self.is_filtered,
            "delayed" * self.is_delayed,
            self.window * (self.window != FIRST),
        )
        return " ".join(word for word in words if word)

    @property
    def set(self) -> dict[str, object]:
        """Returns the overrides of upload.toml."""
        limit = f"{self.slots}packets"
        queue: dict[str, object] = {"discipline": "fifo", "limit": limit}
        if self.is_filtered:
            queue |= {"discipline": "ack-filter", "keeps": "duplicates", "place": "in-place"}
        delayed = {"flow.0.ack": {"policy": "delayed", "segments": 2, "timer": "100ms"}} if self.is_delayed else {}
        return {"wifi.0.ap.queue": queue, "wifi.0.station.0.queue.limit": limit, **WINDOWS[self.window], **delayed}

    @property
    def filtered(self) -> "Arm":
        """Returns this arm with the filter."""
        return replace(self, is_filtered=True)


def with_filter(arms: Iterable[Arm]) -> list[Arm]:
    """Returns each arm without and with the filter."""
    return [one for arm in arms for one in (arm, arm.filtered)]


SMALL, LARGE = Arm(50), Arm(250)
MIMD, MIMD_OF_STATIONS = Arm(window="MIMD"), Arm(window="MIMD of stations")
RELAXED = {window: Arm(window=window) for window in ("CWmin 31", "CWmin 63", "CWmin 127")}
DELAYED = {window: Arm(window=window, is_delayed=True) for window in RELAXED}
SMALL_RELAXED, SMALL_DELAYED = ({window: replace(arm, slots=50) for window, arm in arms.items()} for arms in (RELAXED, DELAYED))

CROSSING = with_filter([LARGE])
"""Arms whose claims need many numbers of stations."""

OVER_ALL = with_filter([SMALL, MIMD])
"""Arms whose claims are about few and many stations."""

OVER_MANY = [*with_filter([RELAXED["CWmin 63"], RELAXED["CWmin 127"], *DELAYED.values()]), SMALL_DELAYED[FIRST]]
"""Arms whose claims are about many stations, or ten."""

OF_SMALL = with_filter([SMALL_RELAXED["CWmin 63"], SMALL_RELAXED["CWmin 127"], *SMALL_DELAYED.values()])
"""Arms of Figures 8 and 10 with q = 50. The paper does not specify the queue."""

EVERY = [*CROSSING, *OVER_ALL, *OVER_MANY, *with_filter([MIMD_OF_STATIONS])]
