"""Runs points, and stores finished ones.

The core releases the interpreter lock during a batch, so threads are sufficient on one machine.
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
"""Maximum number of nodes of a cluster that are named during a sweep."""


@dataclass(frozen=True)
class Progress:
    """Progress of a set of points. `left` includes running points."""

    total: int
    kept: int
    """Points that were finished before this call."""
    finished: int
    failed: int
    seconds: float
    """Time since the start of this call."""
    nodes: Mapping[str, int] = field(default_factory=dict)
    """Points finished by each node of a cluster."""

    @property
    def where(self) -> str:
        """Returns the nodes as text: a few nodes by name, or the number of many nodes."""
        counts = self.nodes.values()
        if len(counts) > _NAMED:
            return f"{len(counts)} nodes: {min(counts)} to {max(counts)} each"
        return ", ".join(f"{node}: {count}" for node, count in sorted(self.nodes.items()))

    @property
    def left(self) -> int:
        """Returns points still to be finished."""
        return self.total - self.kept - self.finished - self.failed


Watcher = Callable[[Progress], None]


@dataclass
class Outcome:
    """Outcome of a set of points."""

    kept: list[Point] = field(default_factory=list)
    finished: list[Point] = field(default_factory=list)
    failed: list[Failure] = field(default_factory=list)


class Store(Protocol):
    """Stores finished points by their digests.

    One implementation is `acklab.sweeps.packed_store.PackedStore`.
    """

    @property
    def place(self) -> Place:
        """Returns the place of the store."""

    def done(self) -> Collection[str]:
        """Returns the digests of the finished points."""

    def keep(self, pack: Pack) -> None:
        """Stores points atomically. Raises StoreError."""

    def results(self, digests: Sequence[str]) -> list[Result]:
        """Returns the results of finished points. Raises StoreError."""

    def table(self, name: str, digests: Sequence[str]) -> pa.Table | None:
        """Returns a table over points, whose first column `point` is their position in `digests`.

        Returns None if no point has the table. Raises StoreError.
        """

    def compact(self) -> None:
        """Joins files. Raises StoreError."""


OnDone = Callable[[Sequence[Point], Sequence[Failure], str], None]
"""Callback with the finished and stored points, the failed ones, and the node."""


class Executor(Protocol):
    """Runs points: `Threads` on this machine, `acklab.sweeps.on_ray.Ray` on a cluster."""

    def run(self, points: Sequence[Point], store: Store, on_done: OnDone) -> None:
        """Runs points and stores them in any order. A failed point does not affect the others.

        Raises KeyboardInterrupt after Ctrl-C, StoreError if results cannot be stored. Points that
        were finished before the exception are stored.
        """


def cores() -> int:
    """Returns the number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@dataclass(frozen=True)
class Threads:
    """Runs points on this machine, `jobs` at a time (default: one per core)."""

    jobs: int | None = None

    def run(self, points: Sequence[Point], store: Store, on_done: OnDone) -> None:
        """Runs points in threads."""
        workers = min(max(1, self.jobs or cores()), len(points))
        _Team(Queue.of(points, workers), store, on_done).work(workers)


@dataclass
class _Team:
    """Threads with one queue."""

    queue: Queue
    store: Store
    on_done: OnDone
    cancel: core.Cancel = field(default_factory=core.Cancel)
    lock: threading.Lock = field(default_factory=threading.Lock)
    errors: list[BaseException] = field(default_factory=list)

    def work(self, workers: int) -> None:
        threads = [threading.Thread(target=self._worker, name=f"acklab-{number}", daemon=True) for number in range(workers)]
        for thread in threads:
            thread.start()
        try:
            for thread in threads:
                # A wait with a time limit can be interrupted by Ctrl-C on every platform.
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
        except BaseException as error:  # The waiting thread raises the exception.
            self.errors.append(error)
            self.cancel.cancel()

    def _keep(self, done: Batch, seconds: float) -> None:
        self.store.keep(done.pack)
        with self.lock:
            self.queue.spent(len(done.finished) + len(done.failed), seconds)
            self.queue.put_back(done.left)
            self.on_done(done.finished, done.failed, "")


def execute(points: Sequence[Point], store: Store, executor: Executor | None = None, watch: Watcher | None = None) -> Outcome:
    """Runs the points that are not in `store` yet (default: in threads, one per core).

    A failed point does not stop the others. Raises Cancelled on Ctrl-C and StoreError if results
    cannot be stored. Points that were finished before the exception stay in the store, so the next
    call does not repeat them.
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

    def on_done(finished: Sequence[Point], failed: Sequence[Failure], where: str) -> None:
        outcome.finished += finished
        outcome.failed += failed
        if where:
            nodes[where] = nodes.get(where, 0) + len(finished)
        report()

    report()
    if waiting:
        try:
            (executor or Threads()).run(list(waiting.values()), store, on_done)
        except KeyboardInterrupt as error:
            finished = len(outcome.kept) + len(outcome.finished)
            raise Cancelled(f"stopped: {finished} of {len(seen)} points are stored in {store.place}") from error
    return outcome
