"""Verdicts: reproduced, same direction, not reproduced, or undecided."""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from acklab.errors import UsageError
from acklab.metrics import written
from acklab.statistics import Interval

REPRODUCED = "reproduced"
SAME_DIRECTION = "same direction"
NOT_REPRODUCED = "not reproduced"
UNDECIDED = "undecided"
VERDICTS = (REPRODUCED, SAME_DIRECTION, NOT_REPRODUCED, UNDECIDED)

AT_LEAST, AT_MOST, MORE_THAN, LESS_THAN = BOUNDS = ("at least", "at most", "more than", "less than")
"""Tolerances of claims that are bounds."""

FITTED = "fitted setting"

PAPER, PARITY, OWN = KINDS = ("paper", "parity", "own")
"""Kinds of claims by their source: a publication, another implementation on the same path or cell,
or a rule of acklab.
"""

KIND_TITLES = {PAPER: "Papers", PARITY: "Parity with other implementations", OWN: "Our own questions"}
"""Titles of the lists of studies."""

_OWN_SOURCES = ("none:", "the rule:")
_PARITY_SOURCES = ("ns-3 ", "Linux ", "quinn-proto ")


def kind_of(source: str) -> str:
    """Returns the kind of a claim from the first words of its source.

    Sources that begin with "none:" or "the rule:" are rules of acklab. The name of an
    implementation means parity.
    """
    return OWN if source.startswith(_OWN_SOURCES) else PARITY if source.startswith(_PARITY_SOURCES) else PAPER


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
    """The 95 % interval around `measured`; NaN for a single seed."""
    tolerance: str
    verdict: str
    as_written: float
    """Our number for the unmodified scenario (the first seed)."""
    seeds: int
    metric: str
    command: str
    """The command that repeats that run."""
    note: str = ""
    group: str = ""
    """Heading of the claim."""
    no_effect: float = 0.0
    """The value of no effect: 1 for a ratio."""
    fitted: str = ""
    """How the settings were fitted, as a part of the verdict; empty if they were not fitted."""
    kind: str = ""
    """The kind of the claim, one of `KINDS`.

    Empty in documents of an earlier version; there the source defines the kind.
    """
    reading_of: str = ""
    """The id of the counted claim, if this claim is another reading of the same statement."""
    missing: int = 0
    """The number of seeds without a value, such as a ratio to zero."""
    side: str = ""
    """The bound of the same direction, such as "more than 1.05"; empty if the claim has no
    direction.
    """

    @property
    def origin(self) -> str:
        """Returns one of `KINDS`."""
        return self.kind or kind_of(self.source)

    @property
    def tolerated(self) -> tuple[float, float]:
        """Returns the minimum and the maximum of reproduced numbers, in `unit`."""
        return tolerated(self.tolerance, self.published, self.no_effect)

    @property
    def verdict_text(self) -> str:
        """Returns the verdict as text, with a remark if the settings were fitted."""
        return f"{self.verdict}, {FITTED}" if self.fitted else self.verdict

    @property
    def interval_text(self) -> str:
        """Returns the interval as text; empty for a single seed."""
        return "" if math.isnan(self.low) else f"{written(self.low)} … {written(self.high)}"

    def row(self) -> dict[str, Any]:
        """Returns the values that `acklab study --json` prints; None for NaN."""
        names = ("id", "source", "unit", "published", "measured", "low", "high", "seeds", "tolerance", "verdict")
        derived = {"fitted": bool(self.fitted), "kind": self.origin, "reading_of": self.reading_of}
        return {name: _plain(getattr(self, name)) for name in names} | derived

    def to_dict(self) -> dict[str, Any]:
        """Returns all fields as plain values."""
        return {name: _plain(value) for name, value in asdict(self).items()}

    @staticmethod
    def with_nan(values: Mapping[str, Any]) -> dict[str, Any]:
        """Returns the values of `to_dict` with NaN for each number that JSON cannot represent."""
        numbers = ("published", "measured", "low", "high", "as_written")
        return {name: math.nan if name in numbers and value is None else value for name, value in values.items()}


def tolerated(tolerance: str, published: float, no_effect: float = 0.0) -> tuple[float, float]:
    """Returns the minimum and the maximum of reproduced numbers. Raises UsageError.

    A tolerance is a share of the published effect ("3%"), a number in the unit of the claim
    ("0.05"), or a factor in both directions ("factor 1.5"). The effect is the difference of the
    published number from `no_effect`: a gain of 29 % that is published as the ratio 1.29 has the
    effect 0.29. If a bound was published, the tolerance is "at least", "at most", "more than" or
    "less than".
    """
    if (bound := tolerance.strip()) in BOUNDS:
        return (published, math.inf) if bound in (AT_LEAST, MORE_THAN) else (-math.inf, published)
    match = re.fullmatch(r"\s*(factor)?\s*(\d+(?:\.\d+)?)\s*(%)?\s*", tolerance)
    if match is None or (match[1] and (match[3] or float(match[2]) < 1)):
        expected = 'a share such as "3%", a number such as "0.05", a factor from 1 on such as "factor 1.5", ' + " or ".join(
            f'"{bound}"' for bound in BOUNDS
        )
        raise UsageError(f"tolerance {tolerance!r}: expected {expected}")
    value = float(match[2])
    if match[1]:
        low, high = sorted((published / value, published * value))
        return low, high
    room = abs(published - no_effect) * value / 100 if match[3] else value
    return published - room, published + room


def lies_within(ours: Interval, low: float, high: float, *, strictly: bool = False) -> bool | None:
    """Returns whether our interval lies between two numbers.

    Returns True if all of the interval does, False if no part does, and None if a part does.

    A number without an interval, from a single seed, gives None. NaN lies outside. A small margin
    for rounding keeps a number on an edge inside, unless the edges are strict.
    """
    if math.isnan(ours.mean):
        return False
    if math.isnan(ours.low):
        return None
    if strictly:
        inside, outside = low < ours.low and ours.high < high, ours.high <= low or ours.low >= high
    else:
        room = 1e-9 * (high - low if math.isfinite(high - low) else abs(low if math.isfinite(low) else high))
        inside, outside = low - room <= ours.low and ours.high <= high + room, ours.high < low - room or ours.low > high + room
    return True if inside else False if outside else None


def judge(reproduced: bool | None, right_side: bool | None = False) -> str:
    """Returns the strongest verdict that our whole interval supports.

    `reproduced` states whether our interval lies within the tolerance. `right_side` states whether
    our interval lies on the claimed side, if there is one. Both are True for the whole interval,
    False for no part, and None for a part. The claim is undecided, and requires more seeds, if
    parts of the interval support different verdicts.
    """
    if reproduced:
        return REPRODUCED
    if right_side:
        return SAME_DIRECTION
    return NOT_REPRODUCED if reproduced is False and right_side is False else UNDECIDED


def statements(findings: Sequence[Finding]) -> dict[str, list[Finding]]:
    """Returns each distinct statement once, by the id of its claim.

    The claim comes first, and other readings follow.
    """
    found: dict[str, list[Finding]] = {finding.id: [finding] for finding in findings if not finding.reading_of}
    for finding in findings:
        if finding.reading_of:
            found.setdefault(finding.reading_of, []).append(finding)
    return found


def counted(findings: Sequence[Finding]) -> list[Finding]:
    """Returns the claims that count: one per statement."""
    return [readings[0] for readings in statements(findings).values()]


def summary(findings: Sequence[Finding]) -> str:
    """Returns how many statements are reproduced: of papers, then of parity and of our rules.

    Each statement is counted once, with the verdict of its claim. Other readings are not counted.
    Statements with fitted settings and undecided statements are counted separately.
    """
    every = counted(findings)
    names = {PAPER: "published", PARITY: "of parity", OWN: "of our own"}
    parts = [
        _counts(own, f" {name}" if len({finding.origin for finding in every}) > 1 else "")
        for kind, name in names.items()
        if (own := [finding for finding in every if finding.origin == kind])
    ]
    return "; ".join(parts) or "0 of 0 reproduced"


def published(findings: Sequence[Finding]) -> str:
    """Returns how many published results are reproduced, and how many with fitted settings."""
    own = [finding for finding in counted(findings) if finding.origin == PAPER]
    reproduced, fitted = _reproduced(own)
    return f"{reproduced} of {len(own)} published results are reproduced, {fitted} of them with settings fitted to the paper"


def _reproduced(findings: Sequence[Finding]) -> tuple[int, int]:
    """Returns how many findings are reproduced, and how many of these with fitted settings."""
    reproduced = [finding for finding in findings if finding.verdict == REPRODUCED]
    return len(reproduced), sum(bool(finding.fitted) for finding in reproduced)


def _counts(findings: Sequence[Finding], name: str) -> str:
    reproduced, fitted = _reproduced(findings)
    words = f"{reproduced} of {len(findings)}{name} reproduced"
    if fitted:
        words += f", {fitted} of them with settings fitted to the source"
    if undecided := sum(finding.verdict == UNDECIDED for finding in findings):
        words += f", {undecided} undecided (more seeds)"
    return words


def _plain(value: object) -> object:
    return None if isinstance(value, float) and not math.isfinite(value) else value
