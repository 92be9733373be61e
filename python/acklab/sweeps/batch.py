"""Several points in one call of the core."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from acklab import core
from acklab.errors import AcklabError
from acklab.scenario import with_seed
from acklab.strategy_files import StrategyFile, faults_named
from acklab.sweeps.pack import Kept, Pack
from acklab.sweeps.point import Point

Failure = tuple[Point, str]
"""A point that failed, and its message."""


@dataclass(frozen=True)
class Batch:
    """What came of several points."""

    pack: Pack
    finished: Sequence[Point]
    failed: Sequence[Failure]
    left: Sequence[Point]
    """Points that were not begun, or not finished before the time was over."""


def run_batch(
    points: Sequence[Point],
    cancel: core.Cancel | None = None,
    seconds: float | None = None,
    commands: Sequence[str] | None = None,
) -> Batch:
    """Runs points of one source, until all are done, the seconds are over or `cancel` is cancelled.

    `commands` repeat them, if their own do not, because their files are copies.
    """
    first = points[0]
    common = _beginning(points)
    own = [with_seed(point.sets[len(common) :], point.seed) for point in points]
    source = first.source
    done = core.run_many(source.text, source.name, common, own, source.base, cancel, first.by_name, seconds)
    kept, finished, failed = [], [], []
    for number, (point, outcome, names) in enumerate(zip(points, done.outcomes, done.names, strict=False)):
        # One that failed has no rows, and keeps its place: the tables count from the first point.
        if isinstance(outcome, str):
            finished.append(point)
            command = point.command if commands is None else commands[number]
            kept.append(Kept(point.digest, point.seed, core.revision(), core.version(), command, ",".join(names), outcome))
        else:
            failed.append((point, str(_named(outcome, first.strategies))))
            kept.append(Kept("", point.seed, "", "", "", "", ""))
    pack = Pack.of(kept, done.tables)
    if failed:
        pack = pack.select([index for index, point in enumerate(kept) if point.digest])
    return Batch(pack, finished, failed, points[len(done.outcomes) :])


def _beginning(points: Sequence[Point]) -> Sequence[str]:
    """The overrides that all points begin with."""
    least, most = min(point.sets for point in points), max(point.sets for point in points)
    differ = (place for place, (one, other) in enumerate(zip(least, most, strict=False)) if one != other)
    return least[: next(differ, min(len(least), len(most)))]


def _named(error: Exception, files: Sequence[StrategyFile]) -> AcklabError:
    try:
        with faults_named(files):
            raise error
    except AcklabError as named:
        return named


@dataclass
class Queue:
    """Points that wait, in batches of about as many seconds as it says."""

    points: list[Point]
    """Those that wait, the next one last."""
    workers: int
    seconds: float = 1.5
    """Computing time of a batch: long compared with what it costs to keep it, and short for whoever waits or loses it."""
    _spent: float = 0.0
    _done: int = 0
    _alone: set[str] = field(default_factory=set)
    """Digests of points that are not put into a batch with others."""

    @classmethod
    def of(cls, points: Sequence[Point], workers: int) -> "Queue":
        """A queue of points, the first first."""
        return cls(list(reversed(points)), workers)

    def next(self) -> list[Point]:
        """The next batch: points of one source and strategies. Empty if none waits."""
        batch: list[Point] = []
        alike: Callable[[Point], tuple[object, object]] = lambda point: (point.source, point.strategies)  # noqa: E731
        most = self._most()
        while self.points and len(batch) < most and (not batch or alike(self.points[-1]) == alike(batch[0])):
            if batch and self.points[-1].digest in self._alone:
                break
            batch.append(self.points.pop())
            if batch[-1].digest in self._alone:
                break
        return batch

    def one_by_one(self, points: Sequence[Point]) -> None:
        """Puts each of these points into a batch of its own from now on."""
        self._alone |= {point.digest for point in points}

    def put_back(self, points: Sequence[Point]) -> None:
        """Points that are to be run again, or for the first time."""
        self.points += reversed(points)

    def spent(self, points: int, seconds: float) -> None:
        """Tells how long points have taken: sizes of batches follow from it."""
        self._done += points
        self._spent += seconds

    def _most(self) -> int:
        """How many points the next batch has at most: few as long as nobody knows how long they take, and near the end."""
        fair = -(-len(self.points) // (2 * self.workers))
        by_time = self._done * self.seconds / self._spent if self._spent else 1
        return max(1, min(fair, int(by_time)))
