"""Runs points, and keeps what is finished.

The core releases the interpreter lock while it runs a batch, so threads are enough on one machine.
"""

import os
import threading
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import pyarrow as pa

from acklab import core
from acklab.errors import Cancelled
from acklab.places import Place
from acklab.result import Result
from acklab.sweeps.batch import Batch, Failure, Queue, run_batch
from acklab.sweeps.pack import Pack
from acklab.sweeps.point import Point

_NAMED = 3
"""Nodes of a cluster that are named while a sweep runs."""


@dataclass(frozen=True)
class Progress:
    """Progress of a set of points; `left` includes running points."""

    total: int
    kept: int
    """Points that were finished before this call."""
    finished: int
    failed: int
    seconds: float
    """Time since the start of this call."""
    nodes: Mapping[str, int] = field(default_factory=dict)
    """Points that were finished by each node of a cluster."""

    @property
    def where(self) -> str:
        """The nodes in words: some by name, many by how many there are."""
        counts = self.nodes.values()
        if len(counts) > _NAMED:
            return f"{len(counts)} nodes: {min(counts)} to {max(counts)} each"
        return ", ".join(f"{node}: {count}" for node, count in sorted(self.nodes.items()))

    @property
    def left(self) -> int:
        """Points still to be finished."""
        return self.total - self.kept - self.finished - self.failed


Watcher = Callable[[Progress], None]


@dataclass
class Outcome:
    """Outcome of a set of points."""

    kept: list[Point] = field(default_factory=list)
    finished: list[Point] = field(default_factory=list)
    failed: list[Failure] = field(default_factory=list)


class Store(Protocol):
    """Keeps finished points by their digests. `acklab.sweeps.packed_store.PackedStore` is one."""

    @property
    def place(self) -> Place:
        """Where it is."""

    def done(self) -> Collection[str]:
        """The digests of the finished points."""

    def keep(self, pack: Pack) -> None:
        """Keeps points, whole or not at all. Raises StoreError."""

    def results(self, digests: Sequence[str]) -> list[Result]:
        """The results of finished points. Raises StoreError."""

    def table(self, name: str, digests: Sequence[str]) -> pa.Table | None:
        """A table over points, whose first column `point` is their position in `digests`; None if none has it. Raises StoreError."""

    def compact(self) -> None:
        """Makes few files of many. Raises StoreError."""


Told = Callable[[Sequence[Point], Sequence[Failure], str], None]
"""Is told which points are finished and kept, which have failed, and where."""


class Executor(Protocol):
    """Runs points somewhere. `Threads` does it here, `acklab.sweeps.on_ray.Ray` on a cluster."""

    def run(self, points: Sequence[Point], store: Store, told: Told) -> None:
        """Runs points and keeps them in the store, in any order; a point that fails leaves the others alone.

        Raises KeyboardInterrupt after Ctrl-C, StoreError if results cannot be kept; what was finished by then is kept.
        """


def cores() -> int:
    """The cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@dataclass(frozen=True)
class Threads:
    """Runs points on this machine, `jobs` at a time (default: one a core)."""

    jobs: int | None = None

    def run(self, points: Sequence[Point], store: Store, told: Told) -> None:
        """Runs points in threads."""
        workers = min(max(1, self.jobs or cores()), len(points))
        _Team(Queue.of(points, workers), store, told).work(workers)


@dataclass
class _Team:
    """Threads with one queue."""

    queue: Queue
    store: Store
    told: Told
    cancel: core.Cancel = field(default_factory=core.Cancel)
    lock: threading.Lock = field(default_factory=threading.Lock)
    errors: list[BaseException] = field(default_factory=list)

    def work(self, workers: int) -> None:
        threads = [threading.Thread(target=self._worker, name=f"acklab-{number}", daemon=True) for number in range(workers)]
        for thread in threads:
            thread.start()
        try:
            for thread in threads:
                # A bounded wait lets Ctrl-C in on every platform.
                while thread.is_alive():
                    thread.join(0.2)
        finally:
            self.cancel.cancel()
            for thread in threads:
                thread.join()
        if self.errors:
            raise self.errors[0]

    def _worker(self) -> None:
        try:
            while not self.cancel.cancelled:
                with self.lock:
                    batch = self.queue.next()
                if not batch:
                    return
                started = time.monotonic()
                done = run_batch(batch, self.cancel, self.queue.seconds)
                self._keep(done, time.monotonic() - started)
        except BaseException as error:  # whatever it is, the thread that waits raises it
            self.errors.append(error)
            self.cancel.cancel()

    def _keep(self, done: Batch, seconds: float) -> None:
        self.store.keep(done.pack)
        with self.lock:
            self.queue.spent(len(done.finished) + len(done.failed), seconds)
            self.queue.put_back(done.left)
            self.told(done.finished, done.failed, "")


def execute(points: Sequence[Point], store: Store, executor: Executor | None = None, watch: Watcher | None = None) -> Outcome:
    """Runs the points that are not in `store` yet (default: in threads, one a core).

    A point that fails does not stop the others. Raises Cancelled on Ctrl-C and StoreError if results cannot be kept; what was
    finished by then stays in the store, and the next call goes on from there.
    """
    outcome = Outcome()
    waiting: dict[str, Point] = {}
    done = store.done()
    seen: set[str] = set()
    for point in points:
        if point.digest not in seen:
            seen.add(point.digest)
            if point.digest in done:
                outcome.kept.append(point)
            else:
                waiting[point.digest] = point
    start = time.monotonic()
    nodes: dict[str, int] = {}

    def report() -> None:
        if watch is not None:
            counts = len(seen), len(outcome.kept), len(outcome.finished), len(outcome.failed)
            watch(Progress(*counts, time.monotonic() - start, dict(nodes)))

    def told(finished: Sequence[Point], failed: Sequence[Failure], where: str) -> None:
        outcome.finished += finished
        outcome.failed += failed
        if where:
            nodes[where] = nodes.get(where, 0) + len(finished)
        report()

    report()
    if waiting:
        try:
            (executor or Threads()).run(list(waiting.values()), store, told)
        except KeyboardInterrupt as error:
            finished = len(outcome.kept) + len(outcome.finished)
            raise Cancelled(f"stopped: {finished} of {len(seen)} points are done and kept in {store.place}") from error
    return outcome
