"""Numbers that a study measures itself."""

from collections.abc import Sequence
from dataclasses import dataclass

from acklab.statistics import Interval, mean_interval


@dataclass(frozen=True)
class Measure:
    """A number that no table of one run has.

    It is computed from several runs, or compared with a formula.
    """

    values: Sequence[float]
    """One value per seed, in the unit of the claim; a single value if it is deterministic."""
    commands: Sequence[str]
    """The commands that repeat the runs."""
    known: Interval | None = None
    """The number with its interval, if the number is not a mean over `values` but for example the
    minimum of several means.
"""

    @classmethod
    def of(cls, number: Interval, commands: Sequence[str]) -> "Measure":
        """Returns the measure for a number with an interval."""
        return cls([number.mean], commands, number)

    @property
    def interval(self) -> Interval:
        """Returns mean and interval over seeds. A single value is exact."""
        if self.known is not None:
            return self.known
        if len(self.values) == 1:
            value = self.values[0]
            return Interval(value, value, value, 1)
        return mean_interval(self.values)
