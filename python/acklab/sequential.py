"""A sequential rule: more seeds only for undecided claims, with a stated error over all looks.

A claim is evaluated after some seeds, and if it is undecided, again after twice as many, and so on.
Repeated evaluations (looks) with a 95 % confidence interval each are wrong more often than once in
twenty. So each look has a share of the error in proportion to the seeds that it adds. This is the
spending function α(t) = αt of Lan and DeMets (Biometrika 70, 1983), where t is the number of seeds
divided by the maximum number. The intervals of Student's t with these shares cover the true mean at
all looks with a probability of at least 1 − α, by Bonferroni's inequality. They are repeated
confidence intervals (Jennison and Turnbull, Journal of the Royal Statistical Society B 51, 1989),
valid whenever the rule stops. The inequality treats the looks as independent, so the error is less
than α.
"""

from dataclasses import dataclass

ERROR = 0.05
"""Error over all looks."""


@dataclass(frozen=True)
class Looks:
    """The numbers of seeds at the looks."""

    seeds: tuple[int, ...]
    """The number of seeds at each look, in increasing order."""
    error: float = ERROR

    @classmethod
    def of(cls, first: int, maximum: int | None) -> "Looks":
        """Returns looks after `first` seeds and each doubling. The last look is after `maximum`.

        Without `maximum`, returns a single look.
        """
        seeds = [first]
        while maximum is not None and seeds[-1] < maximum:
            seeds.append(min(2 * seeds[-1], maximum))
        return cls(tuple(seeds))

    def confidence(self, look: int) -> float:
        """Returns the confidence of the interval at a look, counted from 0."""
        before = self.seeds[look - 1] if look else 0
        return 1 - self.error * (self.seeds[look] - before) / self.seeds[-1]
