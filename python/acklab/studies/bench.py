"""The interface of `study.py`: runs and sweeps of a study's scenarios, stored with its claims."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TypeVar

from acklab.errors import RunError
from acklab.places import Place, place_of
from acklab.result import Result
from acklab.scenario import Overrides, Source, overrides
from acklab.studies.definition import Study
from acklab.studies.runs import Runs
from acklab.sweeps import Grid, PackedStore, Plan, Point, SweepResult, Variants, execute, sweep
from acklab.sweeps.execution import Executor, Threads
from acklab.sweeps.grid import Axes, variations
from acklab.sweeps.packed_store import DamagedPack
from acklab.terminal import progress_bar
from acklab.verdict import Finding

K = TypeVar("K")


@dataclass(frozen=True)
class Bench:
    """Executes runs of a study. Runs that are stored in its folder are not repeated."""

    study: Study
    folder: Path | Place
    """The folder of the results of this study."""
    quick: bool = False
    jobs: int | None = None
    quiet: bool = False
    findings: tuple[Finding, ...] = ()
    """The claims of the study with their verdicts."""
    on: Executor | None = None
    """Executor of points (default: threads, `jobs` at a time)."""
    most_seeds: int | None = None
    """Maximum number of seeds for undecided claims; None for the study's number."""

    def __post_init__(self) -> None:
        self.study.write_traces()

    @cached_property
    def store(self) -> PackedStore:
        """Returns the store of points that belong to no sweep."""
        return PackedStore(place_of(self.folder, "folder"))

    @property
    def executor(self) -> Executor:
        """Returns the executor of the study's points."""
        return self.on or Threads(self.jobs)

    @property
    def command(self) -> str:
        """Returns the command that repeats the study."""
        return f"acklab study {self.study.name}"

    @property
    def seeds(self) -> int:
        """Returns the study's number of seeds, which is smaller for a quick run."""
        return self.at_least(1)

    def at_least(self, seeds: int) -> int:
        """Returns the larger of `seeds` and the study's number of seeds.

        For a quick run, returns the study's number of seeds.
        """
        return self.study.file.quick_seeds if self.quick else max(seeds, self.study.file.seeds)

    def source(self, scenario: str) -> Source:
        """Returns a scenario file of the study. Raises ScenarioError."""
        return Source.of(self.study.scenario(scenario))

    def variants(self, text: str) -> Variants:
        """Returns variants from a file of the study.

        The text is a file such as `paths.toml`, or a file with names such as
        `paths.toml:short,lossy`. Raises UsageError.
        """
        return Variants.parse(str(self.study.scenario(text)))

    def sets(self, variants: Sequence[str]) -> list[str]:
        """Returns the overrides of variants such as `paths.toml:short`, applied in order.

        Raises UsageError.
        """
        return [change for text in variants for variant in self.variants(text).chosen.values() for change in variant.set]

    def replicas(self, wanted: Sequence[tuple[str, Sequence[str]]], seeds: Sequence[int] | None = None) -> list[list[Point]]:
        """Runs scenario files with overrides over all seeds, and returns the points of each.

        `seeds` may give the number of seeds for each entry of `wanted`. Raises RunError if a run
        fails.
        """
        vary = variations(self.study.file.vary)
        counts = seeds or [self.seeds] * len(wanted)
        plans = [
            Plan.of(self.source(name), Grid({}), count, sets, vary) for (name, sets), count in zip(wanted, counts, strict=True)
        ]
        points = [list(plan.points) for plan in plans]
        self._execute([point for group in points for point in group], f"{self.study.name}: claims")
        return points

    def runs(self, wanted: Mapping[K, tuple[str, Sequence[str]]], at_least: int = 1) -> dict[K, Runs]:
        """Runs scenario files with variants such as `schemes.toml:stock` over all seeds.

        Raises RunError if a run fails.
        """
        seeds = [self.at_least(at_least)] * len(wanted)
        replicas = self.replicas([(scenario, self.sets(variants)) for scenario, variants in wanted.values()], seeds)
        return {name: Runs(self.results(points), points[0].command) for name, points in zip(wanted, replicas, strict=True)}

    def run(self, scenario: str, *, set: Overrides = (), series: Sequence[str] = ()) -> Result:
        """Runs one scenario file unmodified, with the named series."""
        sets = overrides(set)
        if series:
            sets.append("measure.series=[" + ", ".join(f'"{name}"' for name in series) + "]")
        source = self.source(scenario)
        point = Point.of(source, sets, int(source.load(sets)["seed"]))
        self._execute([point], f"{self.study.name}: {scenario}", quiet=True)
        return self.results([point])[0]

    def results(self, points: Sequence[Point]) -> list[Result]:
        """Returns the results of finished points. Raises StoreError."""
        store = self.store
        for _ in points:
            try:
                return store.results([point.digest for point in points])
            except DamagedPack as error:
                store.drop(error.pack)
                self._execute(points, f"{self.study.name}: damaged", quiet=True)
        return store.results([point.digest for point in points])

    def sweep(
        self,
        scenario: str,
        name: str,
        grid: Axes,
        *,
        seeds: int | None = None,
        vary: Mapping[str, str] | None = None,
        set: Overrides = (),
    ) -> SweepResult:
        """Runs a grid over seeds and stores it in the folder `name` of the study.

        Raises RunError if points fail.
        """
        with progress_bar(self.quiet, f"{self.study.name}: {name}") as bar:
            result = sweep(
                self.source(scenario),
                grid=grid,
                seeds=seeds or self.seeds,
                vary=self.study.file.vary if vary is None else vary,
                set=set,
                out=self.folder / name,
                watch=bar,
                on=self.executor,
            )
        _refuse_failures(list(result.failures))
        return result

    def _execute(self, points: Sequence[Point], title: str, quiet: bool = False) -> None:
        with progress_bar(self.quiet or quiet, title) as bar:
            outcome = execute(points, self.store, self.executor, bar)
        if outcome.finished:
            self.store.compact()
        _refuse_failures([(point.command, message) for point, message in outcome.failed])


def _refuse_failures(failures: Sequence[tuple[str, str]]) -> None:
    if failures:
        command, message = failures[0]
        more = f" (and {len(failures) - 1} more)" if len(failures) > 1 else ""
        raise RunError(f"{message}; repeat with: {command}{more}")
