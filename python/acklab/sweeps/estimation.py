"""What points will cost, from a sample of them, before they are run.

Of a sweep, the sample are points in the order of their digests, which is a random one that stays the same, in batches as the sweep runs them. A
long run is cut off, and costs as much more as its time was cut. Of a study, whose code needs all tables, it is the first seed of each setting: the
others get its results, so that the code goes on to its end.
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
from acklab.sweeps.execution import Executor, Store, Threads, Told, cores
from acklab.sweeps.merging import repeated
from acklab.sweeps.pack import Kept, Pack
from acklab.sweeps.packed_store import JOINED, PackedStore
from acklab.sweeps.plan import Plan
from acklab.sweeps.point import Point

_SAMPLE = 6.0
"""CPU seconds that a sample of a sweep takes, or a little more."""
_BATCH = 0.25
"""CPU seconds of a batch of the sample, whose mean is one number of it."""
_LEAST = 4
"""Batches that a sample has at least, if there are as many points."""
_CLOSE = 0.05
"""Half of the width of the interval, relative to the mean, at which more batches tell nothing that matters."""


@dataclass(frozen=True)
class Estimate:
    """What points will cost."""

    points: int
    kept: int
    """Those that are finished already."""
    sample: int
    """How many points were run to know the rest, some of them in part."""
    seconds: Interval
    """CPU time of those that are left, with an interval of 95 % if the sample gives one. What checks and joins them at the end is not in it: about a
    quarter more for points of a millisecond, and nothing for longer ones."""
    jobs: int
    memory: int
    """Octets of memory at the most, with `jobs` runs at a time."""

    @property
    def left(self) -> int:
        """Points to run."""
        return self.points - self.kept

    @property
    def text(self) -> str:
        """In words."""
        if not self.left:
            return f"{self.points:,} points, all of them are kept"
        low, high = self.seconds.low, self.seconds.high
        between = "" if math.isnan(low) else f" ({max(low, 0) / 3600:.3g} to {high / 3600:.3g})"
        kept = f", {self.kept:,} of them are kept" if self.kept else ""
        return (
            f"{self.points:,} points{kept}\n"
            f"about {self.seconds.mean / 3600:.3g} CPU hours{between}, by {self.sample:,} of the points: {_time(self.seconds.mean / self.jobs)} with "
            f"{self.jobs} at a time\nabout {self.memory / 1e6:,.0f} MB of memory"
        )

    def to_dict(self) -> dict[str, object]:
        """As plain values."""
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
    """What points that are run one set after the other will cost."""
    return Estimate(
        sum(one.points for one in estimates),
        sum(one.kept for one in estimates),
        sum(one.sample for one in estimates),
        Interval(math.fsum(one.seconds.mean for one in estimates), math.nan, math.nan, len(estimates)),
        max(one.jobs for one in estimates),
        max(one.memory for one in estimates),
    )


def estimate_plan(plan: Plan, place: Place, jobs: int | None = None) -> Estimate:
    """What the points of a sweep into `place` will cost here. Raises RunError if one of the sample fails, Cancelled."""
    done = PackedStore(place).done()
    distinct = {point.digest: point for point in plan.points}
    waiting = [distinct[digest] for digest in sorted(distinct) if digest not in done]
    at_once = jobs or cores()
    sample = _Sample(waiting)
    before = _peak()
    try:
        sample.take()
    except KeyboardInterrupt as error:
        raise Cancelled("stopped: nothing was kept") from error
    # Each run at a time adds as much as the one of the sample did. At the end, packs are joined.
    memory = _peak() + (min(at_once, len(waiting)) - 1) * (_peak() - before) + sample.octets_joined(len(distinct))
    cost = mean_interval(sample.costs)
    left = len(waiting)
    seconds = Interval(cost.mean * left, cost.low * left, cost.high * left, cost.count) if left else Interval(0, 0, 0, 0)
    return Estimate(len(distinct), len(distinct) - left, sample.count, seconds, at_once, memory)


@dataclass
class _Sample:
    """Runs points one after the other until it knows enough."""

    points: Sequence[Point]
    count: int = 0
    costs: list[float] = field(default_factory=list)
    """CPU seconds of a point, by batch."""
    _kept: int = 0
    _octets: int = 0
    _stored: int = 0
    """Points that were kept on the way, with the size of their tables in memory and in files."""

    def take(self) -> None:
        """Runs batches until their mean is known well, or long enough. Those that grow to the size of a batch do not count."""
        if not self.points:
            return
        began, size = time.process_time(), 1
        last = self._one(self.points[0])
        self.count = 1
        if len(self.points) == 1 or last > _SAMPLE / _LEAST:
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
        if len(self.costs) < _LEAST:
            return False
        cost = mean_interval(self.costs)
        return spent > _SAMPLE or cost.half_width < _CLOSE * cost.mean

    def _some(self, batch: Sequence[Point]) -> float:
        """CPU seconds of a point of a batch, with what it costs to keep."""
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
                self._kept += done.pack.points.num_rows
                self._octets += sum(table.nbytes for table in done.pack.all_tables().values())
            self._stored += sum(path.stat().st_size for path in Path(folder).rglob("*.parquet"))
        return (time.process_time() - start) / len(batch)

    def _one(self, point: Point) -> float:
        """CPU seconds of a point. One that takes long is cut off, and costs in proportion to its time."""
        start, cancel, passed = time.process_time(), core.Cancel(), 1.0
        most = _SAMPLE / _LEAST

        def watch(share: float) -> None:
            nonlocal passed
            if time.process_time() - start > most and share > 0:
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
        """Octets of memory while packs of so many points are joined: the packs, all their rows in one, and these in order."""
        if not self._kept:
            return 0
        at_once = min(points, JOINED * self._kept // max(self._stored, 1))
        return 3 * self._octets * at_once // self._kept


def _refuse(failed: Sequence[tuple[Point, str]]) -> None:
    if failed:
        point, message = failed[0]
        raise RunError(f"{message}; repeat it with: {point.command}")


@dataclass
class FirstSeeds(Executor):
    """Runs the first seed of each setting and gives its results to the others, into folders that are thrown away."""

    varied: frozenset[str]
    """Keys whose values are drawn by seed."""
    thrown: Path
    """The folder that the results go to."""
    real: Place
    """The folder that they would go to."""
    jobs: int
    points: int = 0
    kept: int = 0
    sample: int = 0
    seconds: float = 0.0
    """CPU time that the points that are left would take."""
    spent: float = 0.0
    """CPU time that the sample and its copies took."""

    def run(self, points: Sequence[Point], store: Store, told: Told) -> None:
        """Runs the first ones, and copies."""
        start = time.process_time()
        first: dict[object, Point] = {}
        of = [first.setdefault(self._setting(point), point) for point in points]
        failed: list[tuple[Point, str]] = []

        def heard(finished: Sequence[Point], refused: Sequence[tuple[Point, str]], where: str) -> None:
            failed.extend(refused)
            told(finished, refused, where)

        Threads(self.jobs).run(list(first.values()), store, heard)
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
            told([point for point, _ in others], [], "")
        self.spent += time.process_time() - start

    def estimate(self, around: float) -> Estimate:
        """What all that it was asked to run will cost, with so many CPU seconds for what is done with the results."""
        seconds = Interval(self.seconds + around, math.nan, math.nan, 1)
        return Estimate(self.points, self.kept, self.sample, seconds, self.jobs, _peak())

    def _setting(self, point: Point) -> object:
        return point.source, tuple(change for change in point.sets if change.partition("=")[0] not in self.varied)

    def _done(self, store: Store) -> frozenset[str]:
        """The points that are kept where the results would go."""
        place = self.real
        assert store.place.path is not None
        for name in store.place.path.relative_to(self.thrown).parts:
            place = place / name
        return frozenset(PackedStore(place).done())


def _copied(points: Sequence[tuple[Point, Point]], store: Store) -> Pack:
    """Points with the results of other points that are in the store."""
    digests = [one.digest for _, one in points]
    results = dict(zip(digests, store.results(digests), strict=True))
    kept = [
        Kept(
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
    """Octets of memory that this process has had at the most."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def _time(seconds: float) -> str:
    """A length of time, in words."""
    for unit, name in ((3600, "h"), (60, "min")):
        if seconds >= 2 * unit:
            return f"{seconds / unit:.3g} {name}"
    return f"{seconds:.3g} s"
