"""Emulations of points, one after another, because each has the machine for itself."""

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
"""How often a run is made until it may be trusted. The last one counts whatever became of it, and the report says so."""


@dataclass(frozen=True)
class Emulation:
    """A point that is emulated."""

    point: Point
    perf: str = ""
    """What `acklab perf` measures in the place of the flow; empty if the flow is that of the scenario."""
    before: str = ""
    """A shell command that both ends of such a measurement run first."""
    processors: str = "auto"
    """What idle processors do, as of `acklab.emulate`."""

    def folder(self, store: Path) -> Path:
        """Where its result is kept.

        Results of another kernel are others, those of another core where it is the core that sends, and those of other processors where they were chosen.
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
        """How long it takes."""
        return _seconds(self.point.source.load(list(self.point.sets))["duration"]) + (REST if self.perf else 0.0)

    def run(self, processors: str) -> Emulated:
        """Emulates it with these processors. Raises RunError."""
        if self.perf:
            return deploy(self.point, self.perf, self.before, processors)
        return emulate(self.point.source, seed=self.point.seed, set=list(self.point.sets), processors=processors)


def is_trusted(result: Result) -> bool:
    """Whether the packets of an emulation were in time."""
    return str(result.table("timing")["trusted"][0]) == "yes"


def has_halted(result: Result) -> bool:
    """Whether processors were awake until the hypervisor took too much of them."""
    return result.table("timing")["halting_time"][0] is not None


def seconds_of(points: Sequence[Emulation], store: Path) -> float:
    """How long the emulations take that are not kept yet, if each may be trusted at once."""
    return sum(point.seconds for point in points if not is_whole(point.folder(store)))


def emulate_points(points: Sequence[Emulation], store: Path, watch: Callable[[Progress], None]) -> list[Result]:
    """Emulates points that are not kept yet, in their order, and gives the results of all of them. Raises RunError, StoreError.

    Once the hypervisor has taken too much of processors that were awake, those of the runs that follow halt from the beginning.
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
    """Emulates a point and keeps the result. Takes and returns whether processors shall halt that were not chosen."""
    for _ in range(ATTEMPTS):
        result = one.run("halt" if shall_halt and one.processors == "auto" else one.processors)
        shall_halt = shall_halt or has_halted(result)
        if result.is_trusted:
            break
    write_point(folder, result.tables, result.provenance)
    return shall_halt
