"""A sequential rule: more seeds only where they are needed, with the error of all looks together stated.

A claim is looked at after some seeds, and if it is undecided again after twice as many, and so on. Whoever looks several times with an interval of
95 % each time is wrong more often than once in twenty. So each look has its own share of the error, in proportion to the seeds that it adds: the
spending function α(t) = αt of Lan and DeMets (Biometrika 70, 1983), where t is the number of seeds over the largest one. The looks' intervals of
Student's t with these shares cover the true mean all at once with a probability of at least 1 − α, by Bonferroni's inequality: they are repeated
confidence intervals (Jennison and Turnbull, Journal of the Royal Statistical Society B 51, 1989), valid whenever the rule stops. The inequality
takes the looks as if they shared no data, so the error is less than α.
"""

from dataclasses import dataclass

ERROR = 0.05
"""Of all looks together."""


@dataclass(frozen=True)
class Looks:
    """After how many seeds one looks."""

    seeds: tuple[int, ...]
    """Increasing."""
    error: float = ERROR

    @classmethod
    def of(cls, first: int, most: int | None) -> "Looks":
        """Looks after `first` seeds and each time that these have doubled, the last one after `most`. A single look without `most`."""
        seeds = [first]
        while most is not None and seeds[-1] < most:
            seeds.append(min(2 * seeds[-1], most))
        return cls(tuple(seeds))

    def confidence(self, look: int) -> float:
        """The confidence of the interval at a look, counted from 0."""
        before = self.seeds[look - 1] if look else 0
        return 1 - self.error * (self.seeds[look] - before) / self.seeds[-1]
