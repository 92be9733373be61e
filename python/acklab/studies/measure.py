"""What a study measures by itself."""

from collections.abc import Sequence
from dataclasses import dataclass

from acklab.statistics import Interval, mean_interval


@dataclass(frozen=True)
class Measure:
    """A number that is in no table of one run: worked out from several runs, or held against a formula."""

    values: Sequence[float]
    """One for each seed, in the unit of the claim; a single one where chance has no part in it."""
    commands: Sequence[str]
    """The commands that repeat it."""

    @property
    def interval(self) -> Interval:
        """Mean and interval over seeds; a single value is exact."""
        if len(self.values) == 1:
            value = self.values[0]
            return Interval(value, value, value, 1)
        return mean_interval(self.values)
