"""Reproduced, same direction, or not."""

import math
import re
from dataclasses import asdict, dataclass
from typing import Any

from acklab.errors import UsageError

REPRODUCED = "reproduced"
SAME_DIRECTION = "same direction"
NOT_REPRODUCED = "not reproduced"
VERDICTS = (REPRODUCED, SAME_DIRECTION, NOT_REPRODUCED)

AT_LEAST, AT_MOST = BOUNDS = ("at least", "at most")
"""Tolerances of claims that are bounds."""


@dataclass(frozen=True)
class Finding:
    """A published number and ours."""

    id: str
    title: str
    source: str
    unit: str
    published: float
    measured: float
    """Mean over seeds, in `unit`."""
    low: float
    high: float
    """Interval of 95 % around `measured`; not a number for a single seed."""
    tolerance: str
    verdict: str
    as_written: float
    """Ours for the scenario exactly as its file stands (the first seed)."""
    seeds: int
    metric: str
    command: str
    """The command that repeats the run as written."""
    note: str = ""
    group: str = ""
    """Heading that the claim stands under."""

    @property
    def tolerated(self) -> tuple[float, float]:
        """The lowest and the highest number that counts as reproduced, in `unit`."""
        return tolerated(self.tolerance, self.published)

    def row(self) -> dict[str, Any]:
        """What `acklab study --json` prints of it; None for what is not a number."""
        names = ("id", "source", "unit", "published", "measured", "low", "high", "tolerance", "verdict")
        return {name: _plain(getattr(self, name)) for name in names}

    def to_dict(self) -> dict[str, Any]:
        """All of it as plain values."""
        return {name: _plain(value) for name, value in asdict(self).items()}

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> "Finding":
        """What `to_dict` gave."""
        numbers = ("published", "measured", "low", "high", "as_written")
        full: dict[str, Any] = {name: math.nan if name in numbers and value is None else value for name, value in values.items()}
        return cls(**full)


def tolerated(tolerance: str, published: float) -> tuple[float, float]:
    """The lowest and the highest number that counts as reproduced. Raises UsageError.

    A tolerance is a share of the published number ("3%"), a number in its unit ("0.05"), or a factor either way ("factor 1.5"). Where
    a bound was published, it is "at least" or "at most".
    """
    if (bound := tolerance.strip()) in BOUNDS:
        return (published, math.inf) if bound == AT_LEAST else (-math.inf, published)
    match = re.fullmatch(r"\s*(factor)?\s*(\d+(?:\.\d+)?)\s*(%)?\s*", tolerance)
    if match is None or (match[1] and (match[3] or float(match[2]) < 1)):
        expected = (
            'a share such as "3%", a number such as "0.05", a factor from 1 on such as "factor 1.5", "at least" or "at most"'
        )
        raise UsageError(f"tolerance {tolerance!r}: expected {expected}")
    value = float(match[2])
    if match[1]:
        low, high = sorted((published / value, published * value))
        return low, high
    room = abs(published) * value / 100 if match[3] else value
    return published - room, published + room


def judge(published: float, measured: float, tolerance: str, direction_holds: bool | None) -> str:
    """The verdict: within tolerance; else on the right side, if a side was claimed; else not reproduced.

    The mean over seeds is held against the tolerance. A little room for rounding keeps a number that sits exactly on the edge inside.
    """
    low, high = tolerated(tolerance, published)
    room = (high - low if math.isfinite(high - low) else abs(published)) * 1e-9
    if low - room <= measured <= high + room:
        return REPRODUCED
    return SAME_DIRECTION if direction_holds else NOT_REPRODUCED


def _plain(value: object) -> object:
    return None if isinstance(value, float) and not math.isfinite(value) else value
