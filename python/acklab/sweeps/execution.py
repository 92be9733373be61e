"""Runs points on all cores.

The core releases the interpreter lock while it runs, so threads are enough; a point is written by the thread that ran it.
"""

import os
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from pathlib import Path

from acklab import core
from acklab.errors import AcklabError, Cancelled, StoreError
from acklab.sweeps.point import Point


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
    failed: list[tuple[Point, str]] = field(default_factory=list)


def cores() -> int:
    """The cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def execute(points: Sequence[Point], store: Path, jobs: int | None = None, watch: Watcher | None = None) -> Outcome:
    """Runs the points that are not in `store` yet, `jobs` at a time (default: one a core).

    A point that fails does not stop the others. Raises Cancelled on Ctrl-C and StoreError if results cannot be kept; what was
    finished by then stays in the store, and the next call goes on from there.
    """
    outcome = Outcome()
    waiting: list[Point] = []
    seen: set[str] = set()
    for point in points:
        if point.digest in seen:
            continue
        seen.add(point.digest)
        (outcome.kept if point.is_done(store) else waiting).append(point)
    start = time.monotonic()

    def report() -> None:
        if watch is not None:
            watch(Progress(len(seen), len(outcome.kept), len(outcome.finished), len(outcome.failed), time.monotonic() - start))

    report()
    if not waiting:
        return outcome
    cancel = core.Cancel()
    workers = max(1, jobs or cores())
    # A pool of its own for each call, fed little by little, so that a cancelled sweep has no backlog to drain.
    pool = ThreadPoolExecutor(workers, thread_name_prefix="acklab")
    try:
        for done in _completed(pool, iter(waiting), store, cancel, ahead=2 * workers):
            for future, point in done:
                try:
                    future.result()
                    outcome.finished.append(point)
                except StoreError:
                    raise
                except AcklabError as error:
                    outcome.failed.append((point, str(error)))
            report()
    except KeyboardInterrupt as error:
        cancel.cancel()
        pool.shutdown(cancel_futures=True)
        done_now = sum(point.is_done(store) for point in waiting)
        raise Cancelled(f"stopped: {len(outcome.kept) + done_now} of {len(seen)} points are done and kept in {store}") from error
    finally:
        cancel.cancel()
        pool.shutdown(cancel_futures=True)
    return outcome


def _completed(
    pool: ThreadPoolExecutor, points: Iterator[Point], store: Path, cancel: core.Cancel, ahead: int
) -> Iterator[list[tuple[Future[None], Point]]]:
    running: dict[Future[None], Point] = {}
    while True:
        while len(running) < ahead and (point := next(points, None)) is not None:
            running[pool.submit(point.run, store, cancel)] = point
        if not running:
            return
        # A bounded wait lets Ctrl-C in on every platform.
        done, _ = wait(running, timeout=0.5, return_when=FIRST_COMPLETED)
        if done:
            yield [(future, running.pop(future)) for future in done]
