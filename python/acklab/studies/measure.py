"""Numbers that a study measures itself."""

from collections.abc import Sequence
from dataclasses import dataclass

from acklab.statistics import Interval, mean_interval


@dataclass(frozen=True)
class Measure:
    """A number that no table of one run has: computed from several runs, or compared with a formula."""

    values: Sequence[float]
    """One value for each seed, in the unit of the claim; a single value if it is deterministic."""
    commands: Sequence[str]
    """The commands that repeat the runs."""

    @property
    def interval(self) -> Interval:
        """Mean and interval over seeds; a single value is exact."""
        if len(self.values) == 1:
            value = self.values[0]
            return Interval(value, value, value, 1)
        return mean_interval(self.values)
