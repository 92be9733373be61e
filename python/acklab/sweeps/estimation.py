"""Estimates the cost of points before they run, from a sample.

For a sweep, the sample takes points in the order of their digests, which is random but
reproducible, in batches as the sweep runs them. A long run is stopped early, and its cost is scaled
by the remaining time. For a study, whose code requires all tables, the sample is the first seed of
each setting. The other seeds get copies of its results, so that the code runs to its end.
"""

import json
import math
import resource
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from acklab import core
from acklab.errors import Cancelled, RunError
from acklab.places import LocalPlace, Place
from acklab.runner import run_source
from acklab.statistics import Interval, mean_interval
from acklab.sweeps.batch import run_batch
from acklab.sweeps.execution import Executor, OnDone, Store, Threads, cores
from acklab.sweeps.merging import repeated
from acklab.sweeps.pack import Pack, StoredPoint
from acklab.sweeps.packed_store import JOINED, PackedStore
from acklab.sweeps.plan import Plan
from acklab.sweeps.point import Point

_SAMPLE = 6.0
"""Approximate CPU seconds of the sample of a sweep."""
_BATCH = 0.25
"""CPU seconds of a batch of the sample. The mean of a batch is one value."""
_MIN_BATCHES = 4
"""Minimum number of batches in a sample, if there are as many points."""
_CLOSE = 0.05
"""Half-width of the interval, relative to the mean, at which the sample is sufficient."""


@dataclass(frozen=True)
class Estimate:
    """The cost of points."""

    points: int
    kept: int
    """Finished points."""
    sample: int
    """Number of points that were run for the estimate, some of them partly."""
    seconds: Interval
    """CPU time of the remaining points, with a 95 % interval if the sample gives one.

    Excludes checks and joins at the end. They take about a quarter more for points of a
    millisecond, and negligible time for longer points.
"""
    jobs: int
    memory: int
    """Maximum memory in bytes, with `jobs` runs at a time."""

    @property
    def left(self) -> int:
        """Returns the number of points to run."""
        return self.points - self.kept

    @property
    def text(self) -> str:
        """Returns the estimate as text."""
        points = f"{self.points:,} point{'' if self.points == 1 else 's'}"
        if not self.left:
            return f"{points}, all of them stored"
        low, high = self.seconds.low, self.seconds.high
        between = "" if math.isnan(low) else f" ({max(low, 0) / 3600:.3g} to {high / 3600:.3g})"
        kept = f", {self.kept:,} of them stored" if self.kept else ""
        at_once = min(self.jobs, self.left)
        return (
            f"{points}{kept}\n"
            f"about {self.seconds.mean / 3600:.3g} CPU hours{between}, estimated from {self.sample:,} of them: "
            f"{_time(self.seconds.mean / at_once)} with {at_once} at a time\nabout {self.memory / 1e6:,.0f} MB of memory"
        )

    def to_dict(self) -> dict[str, object]:
        """Returns plain values."""
        low, high = (None if math.isnan(bound) else bound / 3600 for bound in (self.seconds.low, self.seconds.high))
        return {
            "points": self.points,
            "kept": self.kept,
            "sample": self.sample,
            "cpu_hours": self.seconds.mean / 3600,
            "cpu_hours_low": low,
            "cpu_hours_high": high,
            "jobs": self.jobs,
            "memory": self.memory,
        }


def total(estimates: Sequence[Estimate]) -> Estimate:
    """Returns the cost of sets of points that run in sequence."""
    return Estimate(
        sum(one.points for one in estimates),
        sum(one.kept for one in estimates),
        sum(one.sample for one in estimates),
        Interval(math.fsum(one.seconds.mean for one in estimates), math.nan, math.nan, len(estimates)),
        max(one.jobs for one in estimates),
        max(one.memory for one in estimates),
    )


def estimate_plan(plan: Plan, place: Place, jobs: int | None = None) -> Estimate:
    """Estimates the cost of a sweep into `place` on this machine.

    Raises RunError if a point of the sample fails, Cancelled.
    """
    done = PackedStore(place).done()
    distinct = {point.digest: point for point in plan.points}
    waiting = [distinct[digest] for digest in sorted(distinct) if digest not in done]
    at_once = jobs or cores()
    sample = _Sample(waiting)
    before = _peak()
    try:
        sample.take()
    except KeyboardInterrupt as error:
        raise Cancelled("stopped: nothing was stored") from error
    # Each concurrent run requires as much memory as the run of the sample. Joining packs at the end
    # requires memory too.
    memory = _peak() + (min(at_once, len(waiting)) - 1) * (_peak() - before) + sample.octets_joined(len(distinct))
    cost = mean_interval(sample.costs)
    left = len(waiting)
    seconds = Interval(cost.mean * left, cost.low * left, cost.high * left, cost.count) if left else Interval(0, 0, 0, 0)
    return Estimate(len(distinct), len(distinct) - left, sample.count, seconds, at_once, memory)


@dataclass
class _Sample:
    """Runs points in sequence until the estimate is sufficiently precise."""

    points: Sequence[Point]
    count: int = 0
    costs: list[float] = field(default_factory=list)
    """CPU seconds per point, by batch."""
    _points_stored: int = 0
    _octets: int = 0
    _stored: int = 0
    """Number of points stored meanwhile, with the size of their tables in memory and in files."""

    def take(self) -> None:
        """Runs batches until their mean is precise, or until the time limit of the sample.

        The first batches, which grow to the final size, are not used.
        """
        if not self.points:
            return
        began, size = time.process_time(), 1
        last = self._one(self.points[0])
        self.count = 1
        if len(self.points) == 1 or last > _SAMPLE / _MIN_BATCHES:
            self.costs.append(last)
        else:
            # The first point and the first batch load libraries.
            self._some(self.points[:1])
        while self.count < len(self.points) and not self._is_enough(time.process_time() - began):
            batch = self.points[self.count : self.count + size]
            last = self._one(batch[0]) if last > _BATCH else self._some(batch)
            self.count += len(batch)
            if last * len(batch) < _BATCH / 2 and len(batch) == size:
                size = max(1, min(4 * size, math.ceil(_BATCH / max(last, 1e-6))))
            else:
                self.costs.append(last)
                size = max(1, round(_BATCH / last))
        self.costs = self.costs or [last]

    def _is_enough(self, spent: float) -> bool:
        if len(self.costs) < _MIN_BATCHES:
            return False
        cost = mean_interval(self.costs)
        return spent > _SAMPLE or cost.half_width < _CLOSE * cost.mean

    def _some(self, batch: Sequence[Point]) -> float:
        """Returns CPU seconds per point of a batch, including the cost of storing it."""
        start = time.process_time()
        alike: dict[object, list[Point]] = {}
        for point in batch:
            alike.setdefault(point.strategies, []).append(point)
        with tempfile.TemporaryDirectory(prefix="acklab-") as folder:
            store = PackedStore(LocalPlace(Path(folder)))
            for points in alike.values():
                done = run_batch(points)
                _refuse(done.failed)
                store.keep(done.pack)
                self._points_stored += done.pack.points.num_rows
                self._octets += sum(table.nbytes for table in done.pack.all_tables().values())
            self._stored += sum(path.stat().st_size for path in Path(folder).rglob("*.parquet"))
        return (time.process_time() - start) / len(batch)

    def _one(self, point: Point) -> float:
        """Returns the CPU seconds of a point.

        A long run is stopped early, and its cost is scaled.
        """
        start, cancel, passed = time.process_time(), core.Cancel(), 1.0
        max_time = _SAMPLE / _MIN_BATCHES

        def watch(share: float) -> None:
            nonlocal passed
            if time.process_time() - start > max_time and share > 0:
                passed = share
                cancel.cancel()

        try:
            run_source(point.source, list(point.sets), point.seed, cancel=cancel, strategies=point.by_name, watch=watch)
        except RunError as error:
            _refuse([(point, str(error))])
        except Cancelled:
            if passed == 1.0:
                raise
        return (time.process_time() - start) / passed

    def octets_joined(self, points: int) -> int:
        """Returns the memory in bytes for joining packs of so many points.

        The memory holds the packs, one table with all their rows, and a sorted copy of this table.
        """
        if not self._points_stored:
            return 0
        at_once = min(points, JOINED * self._points_stored // max(self._stored, 1))
        return 3 * self._octets * at_once // self._points_stored


def _refuse(failed: Sequence[tuple[Point, str]]) -> None:
    if failed:
        point, message = failed[0]
        raise RunError(f"{message}; repeat with: {point.command}")


@dataclass
class FirstSeeds(Executor):
    """Runs the first seed of each setting and copies its results to the other seeds.

    Results go to temporary folders.
    """

    varied: frozenset[str]
    """Keys whose values are drawn by seed."""
    thrown: Path
    """The temporary folder of the results."""
    real: Place
    """The folder in which a real run would store the results."""
    jobs: int
    points: int = 0
    kept: int = 0
    sample: int = 0
    seconds: float = 0.0
    """CPU time of the remaining points."""
    spent: float = 0.0
    """CPU time of the sample and its copies."""

    def run(self, points: Sequence[Point], store: Store, on_done: OnDone) -> None:
        """Runs the first seeds, and copies."""
        start = time.process_time()
        first: dict[object, Point] = {}
        of = [first.setdefault(self._setting(point), point) for point in points]
        failed: list[tuple[Point, str]] = []

        def collect(finished: Sequence[Point], refused: Sequence[tuple[Point, str]], where: str) -> None:
            failed.extend(refused)
            on_done(finished, refused, where)

        Threads(self.jobs).run(list(first.values()), store, collect)
        spent = time.process_time() - start
        done = self._done(store)
        left = sum(point.digest not in done for point in points)
        self.points += len(points)
        self.kept += len(points) - left
        self.sample += len(first)
        self.seconds += spent * left / len(first)
        lost = {point.digest for point, _ in failed}
        others = [
            (point, one) for point, one in zip(points, of, strict=True) if one.digest != point.digest and one.digest not in lost
        ]
        if others:
            store.keep(_copied(others, store))
            on_done([point for point, _ in others], [], "")
        self.spent += time.process_time() - start

    def estimate(self, around: float) -> Estimate:
        """Returns the cost of all requested points.

        `around` is the CPU time in seconds for processing the results.
        """
        seconds = Interval(self.seconds + around, math.nan, math.nan, 1)
        return Estimate(self.points, self.kept, self.sample, seconds, self.jobs, _peak())

    def _setting(self, point: Point) -> object:
        return point.source, tuple(change for change in point.sets if change.partition("=")[0] not in self.varied)

    def _done(self, store: Store) -> frozenset[str]:
        """Returns the points that are stored in the real folder."""
        place = self.real
        assert store.place.path is not None
        for name in store.place.path.relative_to(self.thrown).parts:
            place = place / name
        return frozenset(PackedStore(place).done())


def _copied(points: Sequence[tuple[Point, Point]], store: Store) -> Pack:
    """Returns points with the results of other points in the store."""
    digests = [one.digest for _, one in points]
    results = dict(zip(digests, store.results(digests), strict=True))
    kept = [
        StoredPoint(
            point.digest,
            point.seed,
            core.revision(),
            core.version(),
            point.command,
            ",".join(results[one.digest].tables),
            json.dumps(results[one.digest].scenario),
        )
        for point, one in points
    ]
    tables = {}
    for name in dict.fromkeys(name for result in results.values() for name in result.tables):
        table = store.table(name, digests)
        if table is not None:
            tables[name] = repeated(table, digests)
    return Pack.of(kept, tables)


def _peak() -> int:
    """Returns the peak memory of this process in bytes."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def _time(seconds: float) -> str:
    """Returns a duration as text, in hours, minutes or seconds."""
    for unit, name in ((3600, "h"), (60, "min")):
        if seconds >= 2 * unit:
            return f"{seconds / unit:.3g} {name}"
    return f"{seconds:.3g} s"
