"""Describes a parameter of a path: its interval with evidence and source.

A parameter that is "not known" has a hint to the setting that gives it.
"""

import math
from dataclasses import dataclass, replace
from typing import Any

MEASURED = "measured"
BOUNDED = "bounded"
ASSUMED = "assumed"
UNKNOWN = "unknown"
GIVEN = "given"
"""Status of a parameter in the table `fit` of a scenario."""

_FORMATS = {"Mbps": "{:.6g}Mbps", "ms": "{:.6f}ms", "packets": "{:.0f}packets", "B": "{:.0f}B", "": "{:.6g}"}
"""Formats of values in a scenario, by unit. Times are whole nanoseconds."""
_SLOW = 0.1
"""Rate in Mbps below which a rate is written in kbps: there, six digits resolve single bits per
second.
"""


def written(value: float, unit: str) -> str:
    """Returns a value in the notation of scenarios. Rates are whole bits per second."""
    if unit == "Mbps" and value < _SLOW:
        return f"{max(round(value * 1e6), 1) / 1e3:.6g}kbps"
    return _FORMATS[unit].format(value)


@dataclass(frozen=True)
class Quantity:
    """A parameter with its 95 % confidence interval, in the unit of the key."""

    key: str
    unit: str
    status: str
    evidence: str
    """Evidence, or reason why it is not known."""
    source: str
    """The finding of the inspection, the ensemble, or the assumption."""
    low: float | None = None
    high: float | None = None
    """None if the parameter has no upper end."""
    give: str | None = None
    """Setting for the parameter if it is not known and a run requires it."""

    @property
    def is_known(self) -> bool:
        """Returns `True` if the quantity has a lower end."""
        return self.status != UNKNOWN and self.low is not None

    @property
    def middle(self) -> float:
        """Returns the middle of the interval, or its lower end if it has no upper end."""
        low = self.low if self.low is not None else math.nan
        return low if self.high is None else (low + self.high) / 2

    def within(self, low: float, high: float) -> "Quantity":
        """Returns the quantity with the part of its interval that an ensemble covers."""
        return replace(self, low=low, high=high)

    def row(self) -> dict[str, Any]:
        """Returns the entry of the table `fit`."""
        ends = {name: self.text(end) for name, end in (("low", self.low), ("high", self.high)) if end is not None}
        give = {} if self.give is None else {"give": self.give}
        return {"key": self.key, "status": self.status, **ends, "evidence": self.evidence, "source": self.source, **give}

    def text(self, value: float) -> str:
        """Returns a value in the notation of scenarios."""
        return written(value, self.unit)


def unknown(key: str, unit: str, reason: str, source: str, example: float | None) -> Quantity:
    """Returns a quantity that the capture does not show. With an `example`, a run requires it."""
    give = None if example is None else f"--set {key}=VALUE, such as {written(example, unit)}"
    return Quantity(key, unit, UNKNOWN, reason, source, give=give)
