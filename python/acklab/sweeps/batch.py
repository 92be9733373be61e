"""Several points in one call of the core."""

import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import pyarrow as pa

from acklab import _core, core
from acklab.emulator import emulate
from acklab.errors import AcklabError, Cancelled
from acklab.scenario import with_seed
from acklab.strategy_files import StrategyFile, faults_named
from acklab.sweeps.pack import POINT, Pack, StoredPoint, in_order
from acklab.sweeps.point import Point

Failure = tuple[Point, str]
"""A point that failed, and its message."""


@dataclass(frozen=True)
class Batch:
    """The outcome of several points."""

    pack: Pack
    finished: Sequence[Point]
    failed: Sequence[Failure]
    left: Sequence[Point]
    """Points that were not started or not finished in time."""


def run_batch(
    points: Sequence[Point],
    cancel: core.Cancel | None = None,
    seconds: float | None = None,
    commands: Sequence[str] | None = None,
) -> Batch:
    """Runs points of one source, until all are done, `seconds` have passed, or `cancel` is set.

    `commands` are commands that repeat the points. They are given if the points' files are copies,
    so that `Point.command` would name the copies.
    """
    first = points[0]
    if first.kernel:
        return _emulated(points, cancel, seconds, commands)
    common = _beginning(points)
    own = [with_seed(point.sets[len(common) :], point.seed) for point in points]
    source = first.source
    done = _core.run_many(
        source.text, source.name, common, own, source.base, cancel=cancel, strategies=dict(first.by_name), seconds=seconds
    )
    kept, finished, failed = [], [], []
    for number, (point, outcome, names) in enumerate(zip(points, done.outcomes, done.names, strict=False)):
        # A failed run has no rows, but keeps its index: the tables count from the first point.
        if isinstance(outcome, str):
            finished.append(point)
            command = point.command if commands is None else commands[number]
            kept.append(StoredPoint(point.digest, point.seed, core.revision(), core.version(), command, ",".join(names), outcome))
        else:
            failed.append((point, str(_named(outcome, first.strategies))))
            kept.append(StoredPoint("", point.seed, "", "", "", "", ""))
    pack = Pack.of(kept, core.arrow(done.tables))
    if failed:
        pack = pack.select([index for index, point in enumerate(kept) if point.digest])
    return Batch(pack, finished, failed, points[len(done.outcomes) :])


def _emulated(
    points: Sequence[Point], cancel: core.Cancel | None, seconds: float | None, commands: Sequence[str] | None
) -> Batch:
    """Runs points in virtual time, each in a guest."""
    start = time.monotonic()
    kept: list[StoredPoint] = []
    finished: list[Point] = []
    failed: list[Failure] = []
    parts: dict[str, list[pa.Table]] = {}
    for number, point in enumerate(points):
        if (cancel is not None and cancel.cancelled) or (seconds is not None and number and time.monotonic() - start > seconds):
            return Batch(_pack(kept, parts), finished, failed, points[number:])
        try:
            done = emulate(
                point.source, seed=point.seed, set=list(point.sets), clock="virtual", kernel=point.kernel, cancel=cancel
            )
        except Cancelled:
            return Batch(_pack(kept, parts), finished, failed, points[number:])
        except AcklabError as error:
            failed.append((point, str(error)))
            continue
        if done.stopped is not None:
            return Batch(_pack(kept, parts), finished, failed, points[number:])
        for name, table in done.tables.items():
            place = pa.array([len(kept)] * table.num_rows, pa.uint32())
            parts.setdefault(name, []).append(table.add_column(0, pa.field(POINT, pa.uint32(), nullable=False), place))
        command = point.command if commands is None else commands[number]
        names = ",".join(done.tables)
        scenario = json.dumps(done.provenance.scenario)
        kept.append(StoredPoint(point.digest, point.seed, core.revision(), core.version(), command, names, scenario))
        finished.append(point)
    return Batch(_pack(kept, parts), finished, failed, [])


def _pack(points: Sequence[StoredPoint], parts: Mapping[str, Sequence[pa.Table]]) -> Pack:
    # The metadata of a table describe its point.
    return Pack.of(points, {name: in_order([table.replace_schema_metadata() for table in own]) for name, own in parts.items()})


def _beginning(points: Sequence[Point]) -> Sequence[str]:
    """Returns the overrides that all points begin with."""
    first, last = min(point.sets for point in points), max(point.sets for point in points)
    differ = (place for place, (one, other) in enumerate(zip(first, last, strict=False)) if one != other)
    return first[: next(differ, min(len(first), len(last)))]


def _named(error: Exception, files: Sequence[StrategyFile]) -> AcklabError:
    try:
        with faults_named(files):
            raise error
    except AcklabError as named:
        return named


@dataclass
class Queue:
    """Waiting points, in batches of about `seconds` of computing time."""

    points: list[Point]
    """The waiting points, the next one last."""
    workers: int
    seconds: float = 1.5
    """Computing time of a batch.

    The time is long compared with the cost of storing a batch, and short for users who wait for or
    lose a batch.
"""
    _spent: float = 0.0
    _done: int = 0
    _alone: set[str] = field(default_factory=set)
    """Digests of points that get separate batches."""

    @classmethod
    def of(cls, points: Sequence[Point], workers: int) -> "Queue":
        """Returns a queue of points in this order."""
        return cls(list(reversed(points)), workers)

    def next(self) -> list[Point]:
        """Returns the next batch: points of one source and strategies.

        Empty if no point is waiting.
        """
        batch: list[Point] = []
        alike: Callable[[Point], tuple[object, object]] = lambda point: (point.source, point.strategies)  # noqa: E731
        max_points = self._max_points()
        while self.points and len(batch) < max_points and (not batch or alike(self.points[-1]) == alike(batch[0])):
            if batch and self.points[-1].digest in self._alone:
                break
            batch.append(self.points.pop())
            if batch[-1].digest in self._alone:
                break
        return batch

    def one_by_one(self, points: Sequence[Point]) -> None:
        """Puts each of these points into a separate batch from now on."""
        self._alone |= {point.digest for point in points}

    def put_back(self, points: Sequence[Point]) -> None:
        """Returns points to the queue, to be run again or for the first time."""
        self.points += reversed(points)

    def spent(self, points: int, seconds: float) -> None:
        """Records the time of points, which determines the size of later batches."""
        self._done += points
        self._spent += seconds

    def _max_points(self) -> int:
        """Returns the maximum size of the next batch.

        The size is small while times are unknown, and near the end of the sweep.
        """
        fair = -(-len(self.points) // (2 * self.workers))
        by_time = self._done * self.seconds / self._spent if self._spent else 1
        return max(1, min(fair, int(by_time)))
