"""The arms of the experiment.

What the access point's queue is, how everybody contends, when the server acknowledges.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace


def mimd(path: str, floor: int) -> dict[str, object]:
    """MIMD at the nodes whose access is set at `path`, halved no further than the floor."""
    return {f"{path}.access.best_effort.cw_control": "mimd", f"{path}.access.best_effort.cw_floor": floor}


WINDOWS: Mapping[str, Mapping[str, object]] = {
    "CWmin 31": {},
    "CWmin 63": {"wifi.0.access.best_effort.cw_min": 63},
    "CWmin 127": {"wifi.0.access.best_effort.cw_min": 127},
    "MIMD": {**mimd("wifi.0.station.0", 1), **mimd("wifi.0.ap", 2)},
    "MIMD of stations": mimd("wifi.0.station.0", 1),
}
"""Of contention: CWmin of all nodes, MIMD of all nodes, of which stations halve until there is no
backoff and the access point down to 2, and MIMD of the stations alone. mimd.py has the
alternatives.
"""

FIRST = "CWmin 31"
"""802.11b's own."""


@dataclass(frozen=True)
class Arm:
    """One way to run the cell, laid over upload.toml."""

    slots: int = 250
    """Of every interface queue: the paper's q."""
    is_filtered: bool = False
    """By the filter of the paper's Figure 1."""
    window: str = FIRST
    is_delayed: bool = False
    """Whether the server acknowledges every second segment, or after 100 ms as ns-2's DelAck does.
    """

    @property
    def name(self) -> str:
        """As in a grid."""
        words = (
            f"q {self.slots}",
            "filter" * self.is_filtered,
            "delayed" * self.is_delayed,
            self.window * (self.window != FIRST),
        )
        return " ".join(word for word in words if word)

    @property
    def set(self) -> dict[str, object]:
        """What it changes of upload.toml."""
        limit = f"{self.slots}packets"
        queue: dict[str, object] = {"discipline": "fifo", "limit": limit}
        if self.is_filtered:
            queue |= {"discipline": "ack-filter", "keeps": "duplicates", "place": "in-place"}
        delayed = {"flow.0.ack": {"policy": "delayed", "segments": 2, "timer": "100ms"}} if self.is_delayed else {}
        return {"wifi.0.ap.queue": queue, "wifi.0.station.0.queue.limit": limit, **WINDOWS[self.window], **delayed}

    @property
    def filtered(self) -> "Arm":
        """Returns the same with the filter."""
        return replace(self, is_filtered=True)


def with_filter(arms: Iterable[Arm]) -> list[Arm]:
    """Returns each of them, without the filter and with it."""
    return [one for arm in arms for one in (arm, arm.filtered)]


SMALL, LARGE = Arm(50), Arm(250)
MIMD, MIMD_OF_STATIONS = Arm(window="MIMD"), Arm(window="MIMD of stations")
RELAXED = {window: Arm(window=window) for window in ("CWmin 31", "CWmin 63", "CWmin 127")}
DELAYED = {window: Arm(window=window, is_delayed=True) for window in RELAXED}
SMALL_RELAXED, SMALL_DELAYED = ({window: replace(arm, slots=50) for window, arm in arms.items()} for arms in (RELAXED, DELAYED))

CROSSING = with_filter([LARGE])
"""Those whose claims need many numbers of stations."""

OVER_ALL = with_filter([SMALL, MIMD])
"""Those whose claims are about few and many."""

OVER_MANY = [*with_filter([RELAXED["CWmin 63"], RELAXED["CWmin 127"], *DELAYED.values()]), SMALL_DELAYED[FIRST]]
"""Those whose claims are about many, or ten."""

OF_SMALL = with_filter([SMALL_RELAXED["CWmin 63"], SMALL_RELAXED["CWmin 127"], *SMALL_DELAYED.values()])
"""Those of Figures 8 and 10 with q = 50, for which the paper names no queue."""

EVERY = [*CROSSING, *OVER_ALL, *OVER_MANY, *with_filter([MIMD_OF_STATIONS])]
