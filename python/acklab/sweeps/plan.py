"""The points of a sweep before they run."""

import hashlib
import json
import shlex
from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass
from typing import SupportsIndex

from acklab import core
from acklab.durations import seconds_of
from acklab.errors import UsageError
from acklab.scenario import Source, items_of, whole_number, with_seed
from acklab.strategy_files import StrategyFile
from acklab.sweeps.execution import cores
from acklab.sweeps.grid import Grid, Variation
from acklab.sweeps.point import Point, identities
from acklab.ways import VIRTUAL


@dataclass(frozen=True)
class Plan:
    """All points of a sweep, in the order of the tables.

    The first axis changes slowest, the seed fastest.
    """

    source: Source
    grid: Grid
    seeds: tuple[int, ...]
    sets: tuple[str, ...]
    vary: tuple[Variation, ...]
    points: tuple[Point, ...]
    strategies: tuple[StrategyFile, ...] = ()
    kernel: str = ""
    """The guest kernel of emulations in virtual time; empty for simulations."""

    @classmethod
    def of(
        cls,
        source: Source,
        grid: Grid,
        seeds: SupportsIndex | Iterable[SupportsIndex],
        sets: Sequence[str] = (),
        vary: Sequence[Variation] = (),
        strategies: Sequence[StrategyFile] = (),
        kernel: str = "",
    ) -> "Plan":
        """Returns the points of a grid for each seed, all checked.

        Raises ScenarioError, UsageError.

        The common part of the scenario is checked once, and so are all seeds of a combination that
        differ only in the seed.
        """
        chosen = _seeds(seeds, source, sets)
        own = [tuple(grid.sets(combination)) for combination in grid.combinations()]
        # The first seed runs the scenario unmodified.
        chance = [
            tuple(f"{variation.key}={variation.draw(seed)}" for variation in vary) if order else ()
            for order, seed in enumerate(chosen)
        ]
        drawn = chance if vary else chance[:1]
        checked = [with_seed([*changes, *values], chosen[order]) for changes in own for order, values in enumerate(drawn)]
        found = identities(source, sets, checked, strategies, cores(), kernel)
        points = [
            found[number * len(drawn) + (order if vary else 0)].point(source, (*sets, *changes, *chance[order]), seed)
            for number, changes in enumerate(own)
            for order, seed in enumerate(chosen)
        ]
        return cls(source, grid, chosen, tuple(sets), tuple(vary), tuple(points), tuple(strategies), kernel)

    def simulated_seconds(self, done: Container[str]) -> float:
        """Returns the simulated time of the points that are not `done`, by their digests [s]."""
        durations: dict[str, float] = {}
        total = 0.0
        for point in self.points:
            if point.digest in done:
                continue
            own = next((change for change in reversed(point.sets) if change.partition("=")[0] == "duration"), "")
            if own not in durations:
                durations[own] = seconds_of(self.source.load(point.sets)["duration"])
            total += durations[own]
        return total

    def choices(self, axis: int) -> list[int]:
        """Returns the choice of the axis with this index, for each point."""
        counts = [len(choices) for choices in self.grid.values.values()]
        below = len(self.seeds)
        for count in counts[axis + 1 :]:
            below *= count
        return [index // below % counts[axis] for index in range(len(self.points))]

    @property
    def digest(self) -> str:
        """Returns a digest of everything that the tables of the sweep depend on."""
        state = hashlib.sha256(json.dumps([self.command, self.grid.document(), self.metadata()], sort_keys=True).encode())
        for point in self.points:
            state.update(point.digest.encode())
        return state.hexdigest()[:32]

    @property
    def command(self) -> str:
        """Returns the command that repeats the sweep, without the folder."""
        words = ["acklab", "sweep", self.source.name, *self.grid.words]
        for change in self.sets:
            words += ["--set", change]
        for variation in self.vary:
            words += ["--vary", str(variation)]
        for file in self.strategies:
            words += ["--strategy", file.text]
        if self.kernel:
            words += ["--way", VIRTUAL, "--kernel", self.kernel]
        return shlex.join([*words, "--seeds", str(len(self.seeds))])

    def metadata(self) -> dict[str, str]:
        """Returns metadata of a table over all points, with the scenario of all points."""
        return {
            "acklab.scenario": json.dumps(self.source.load(self.sets), sort_keys=True),
            "acklab.grid": json.dumps({key: list(values) for key, values in self.grid.values.items()}),
            "acklab.seed": ",".join(str(seed) for seed in self.seeds),
            "acklab.revision": core.revision(),
            "acklab.version": core.version(),
            "acklab.command": self.command,
        }


def _seeds(seeds: SupportsIndex | Iterable[SupportsIndex], source: Source, sets: Sequence[str]) -> tuple[int, ...]:
    """Returns the seeds. A number of seeds is counted up from the scenario's seed.

    Raises ScenarioError, UsageError.
    """
    if (count := whole_number(seeds)) is not None:
        if count < 1:
            raise UsageError(f"found {count} seeds, expected at least 1")
        first = int(source.load(sets)["seed"])
        return tuple(range(first, first + count))
    items = items_of(seeds) or []
    chosen = tuple(seed for seed in map(whole_number, items) if seed is not None)
    if not chosen or len(chosen) < len(items):
        raise UsageError(f"seeds: found {items or seeds!r}, expected a whole number, or a list of them")
    if len(set(chosen)) < len(chosen):
        raise UsageError(f"seeds: found a seed twice in {', '.join(map(str, chosen))}, expected each once")
    return chosen
