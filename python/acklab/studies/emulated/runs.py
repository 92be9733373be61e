"""Emulations of points, one at a time, because each requires the whole machine."""

import hashlib
import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from acklab import core
from acklab.emulator import Emulated, emulate
from acklab.places import LocalPlace
from acklab.result import Result, read_result
from acklab.studies.emulated.deployed import REST, deploy
from acklab.studies.emulated.durations import seconds_of as _seconds
from acklab.studies.emulated.kept import is_whole, write_point
from acklab.sweeps import Point
from acklab.sweeps.execution import Progress

ATTEMPTS = 3
"""Maximum number of runs until the results are reliable. The last one counts in any case, and the
report has the number of reliable ones.
"""


@dataclass(frozen=True)
class Emulation:
    """An emulated point."""

    point: Point
    perf: str = ""
    """The contender of `acklab perf` that replaces the flow; empty for the flow of the scenario."""
    before: str = ""
    """A shell command that both ends of such a measurement run before it."""
    processors: str = "auto"
    """The mode of idle processors, as in `acklab.emulate`."""

    def folder(self, store: Path) -> Path:
        """Returns the folder of its result.

        The folder depends on the kernel, on the core if the core sends, and on the mode of
        processors if it was chosen.
        """
        name = f"{self.point.digest}-{os.uname().release}"
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

    def run(self, processors: str) -> Emulated:
        """Emulates the point with this mode of processors. Raises RunError."""
        if self.perf:
            return deploy(self.point, self.perf, self.before, processors)
        return emulate(self.point.source, seed=self.point.seed, set=list(self.point.sets), processors=processors)


def is_trusted(result: Result) -> bool:
    """Returns whether the packets of an emulation were on time."""
    return str(result.table("timing")["trusted"][0]) == "yes"


def has_halted(result: Result) -> bool:
    """Returns whether processors were awake until the hypervisor took too much of them."""
    return result.table("timing")["halting_time"][0] is not None


def seconds_of(points: Sequence[Emulation], store: Path) -> float:
    """Returns the duration of emulations that are not stored yet, if each is reliable at once."""
    return sum(point.seconds for point in points if not is_whole(point.folder(store)))


def emulate_points(points: Sequence[Emulation], store: Path, watch: Callable[[Progress], None]) -> list[Result]:
    """Emulates points that are not stored yet, in order, and returns the results of all.

    Raises RunError, StoreError.

    After the hypervisor has taken too much of awake processors, those of later runs halt from the
    beginning.
    """
    kept = sum(is_whole(point.folder(store)) for point in points)
    start, finished, results = time.monotonic(), 0, []
    watch(Progress(len(points), kept, 0, 0, 0.0))
    shall_halt = False
    for point in points:
        folder = point.folder(store)
        if not is_whole(folder):
            shall_halt = _emulate(point, folder, shall_halt)
            finished += 1
            watch(Progress(len(points), kept, finished, 0, time.monotonic() - start))
        results.append(read_result(LocalPlace(folder)))
    return results


def _emulate(one: Emulation, folder: Path, shall_halt: bool) -> bool:
    """Emulates a point and stores the result.

    Takes and returns whether processors halt by default.
    """
    for _ in range(ATTEMPTS):
        result = one.run("halt" if shall_halt and one.processors == "auto" else one.processors)
        shall_halt = shall_halt or has_halted(result)
        if result.is_trusted:
            break
    write_point(folder, result.tables, result.provenance)
    return shall_halt
