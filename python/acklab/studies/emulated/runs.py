"""Emulations of points.

In real time, each emulation requires the whole machine, so they run one at a time. In virtual time,
guests run in parallel.
"""

import hashlib
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

from acklab import core
from acklab.durations import seconds_of as _seconds
from acklab.emulator import Emulated, emulate
from acklab.places import LocalPlace
from acklab.result import Result, read_result
from acklab.studies.emulated.deployed import REST, deploy
from acklab.studies.emulated.kept import is_whole, write_point
from acklab.sweeps import Point
from acklab.sweeps.execution import Progress, cores

ATTEMPTS = 3
"""Maximum number of runs until the results are reliable.

The last run is used even if it is unreliable. The report has the number of reliable runs.
"""


@dataclass(frozen=True)
class Emulation:
    """An emulated point."""

    point: Point
    perf: str = ""
    """The contender of `acklab perf` that replaces the flow; empty for the flow of the scenario."""
    before: str = ""
    """A shell command that both ends of `acklab perf` run before the measurement."""
    processors: str = "auto"
    """The mode of idle processors, as in `acklab.emulate`."""
    kernel: str = ""
    """The guest kernel of a run in virtual time; empty for real time."""

    def folder(self, store: Path) -> Path:
        """Returns the folder of its result.

        The folder depends on the kernel, on the core if `acklab perf` replaces the flow, and on a
        chosen mode of processors.
        """
        name = f"{self.point.digest}-{f'guest-{self.kernel}' if self.kernel else os.uname().release}"
        if self.perf:
            what = "\n".join((self.perf, self.before, core.revision()))
            name += f"-{hashlib.sha256(what.encode()).hexdigest()[:16]}"
        if self.processors != "auto":
            name += f"-{self.processors}"
        return store / "emulated" / name

    @property
    def seconds(self) -> float:
        """Returns its duration."""
        return _seconds(self.point.source.load(list(self.point.sets))["duration"]) + (REST if self.perf else 0.0)

    def run(self, processors: str, cancel: core.Cancel | None = None) -> Emulated:
        """Emulates the point with this mode of processors. Raises RunError, Cancelled."""
        clock: dict[str, Any] = {"clock": "virtual", "kernel": self.kernel} if self.kernel else {}
        if self.perf:
            return deploy(self.point, self.perf, self.before, processors=processors, cancel=cancel, **clock)
        return emulate(
            self.point.source, seed=self.point.seed, set=list(self.point.sets), processors=processors, cancel=cancel, **clock
        )


def is_trusted(result: Result) -> bool:
    """Returns whether the packets of an emulation were on time."""
    return str(result.table("timing")["trusted"][0]) == "yes"


def has_halted(result: Result) -> bool:
    """Returns `True` if processors began to halt because the hypervisor took too much time."""
    return result.table("timing")["halting_time"][0] is not None


def seconds_of(points: Sequence[Emulation], store: Path) -> float:
    """Returns the duration of emulations that are not stored yet, if no emulation is repeated."""
    return sum(point.seconds for point in points if not is_whole(point.folder(store)))


def emulate_points(
    points: Sequence[Emulation], store: Path, watch: Callable[[Progress], None], jobs: int | None = None
) -> list[Result]:
    """Emulates points that are not stored yet, and returns the results of all in order.

    Raises RunError, StoreError.

    Points in virtual time run `jobs` at a time (default: one per core). If the hypervisor takes too
    much time of awake processors, processors halt in all later runs in real time.
    """
    folders = {point.folder(store): point for point in points}
    waiting = {folder: point for folder, point in folders.items() if not is_whole(folder)}
    kept, start = len(folders) - len(waiting), time.monotonic()
    watch(Progress(len(folders), kept, 0, 0, 0.0))
    real = {folder: point for folder, point in waiting.items() if not point.kernel}
    guests = {folder: point for folder, point in waiting.items() if point.kernel}
    for finished, _ in enumerate(chain(_in_turn(real), _side_by_side(guests, jobs or cores())), start=1):
        watch(Progress(len(folders), kept, finished, 0, time.monotonic() - start))
    return [read_result(LocalPlace(point.folder(store))) for point in points]


def _in_turn(points: Mapping[Path, Emulation]) -> Iterator[None]:
    """Emulates points in real time. Yields after each."""
    shall_halt = False
    for folder, point in points.items():
        shall_halt = _emulate(point, folder, shall_halt)
        yield


def _side_by_side(points: Mapping[Path, Emulation], jobs: int) -> Iterator[None]:
    """Emulates points in virtual time. Yields after each."""
    cancel = core.Cancel()

    def run(folder: Path, point: Emulation) -> None:
        result = point.run("halt", cancel)
        write_point(folder, result.tables, result.provenance)

    with ThreadPoolExecutor(jobs) as pool:
        try:
            for done in as_completed([pool.submit(run, folder, point) for folder, point in points.items()]):
                done.result()
                yield
        finally:
            # An error or Ctrl-C cancels the guests, which end immediately.
            cancel.cancel()
            pool.shutdown(wait=False, cancel_futures=True)


def _emulate(one: Emulation, folder: Path, shall_halt: bool) -> bool:
    """Emulates a point and stores the result.

    `shall_halt` and the result are `True` if processors halt by default.
    """
    for _ in range(ATTEMPTS):
        result = one.run("halt" if shall_halt and one.processors == "auto" else one.processors)
        shall_halt = shall_halt or has_halted(result)
        if result.is_trusted:
            break
    write_point(folder, result.tables, result.provenance)
    return shall_halt
