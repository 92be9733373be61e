"""Emulations of points, one after another, because each has the machine for itself."""

import os
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from acklab.emulator import emulate
from acklab.places import LocalPlace
from acklab.result import Result, read_result
from acklab.store import is_whole, write_tables_at_once
from acklab.sweeps import Point
from acklab.sweeps.execution import Progress

ATTEMPTS = 3
"""How often a run is made until it may be trusted. The last one counts whatever became of it, and the report says so."""


def folder_of(point: Point, store: Path) -> Path:
    """Where the emulation of a point is kept: results of another kernel are others."""
    return store / "emulated" / f"{point.digest}-{os.uname().release}"


def is_trusted(result: Result) -> bool:
    """Whether the packets of an emulation were in time."""
    return str(result.table("timing")["trusted"][0]) == "yes"


def seconds_of(points: Sequence[Point], store: Path) -> float:
    """How long the emulations take that are not kept yet, if each may be trusted at once."""
    missing = [point for point in points if not is_whole(folder_of(point, store))]
    return sum(_seconds(point.source.load(list(point.sets))["duration"]) for point in missing)


def emulate_points(points: Sequence[Point], store: Path, watch: Callable[[Progress], None]) -> list[Result]:
    """Emulates points that are not kept yet, in their order, and gives the results of all of them. Raises RunError, StoreError."""
    kept = sum(is_whole(folder_of(point, store)) for point in points)
    start, finished, results = time.monotonic(), 0, []
    watch(Progress(len(points), kept, 0, 0, 0.0))
    for point in points:
        folder = folder_of(point, store)
        if not is_whole(folder):
            _emulate(point, folder)
            finished += 1
            watch(Progress(len(points), kept, finished, 0, time.monotonic() - start))
        results.append(read_result(LocalPlace(folder)))
    return results


def _emulate(point: Point, folder: Path) -> None:
    for _ in range(ATTEMPTS):
        result = emulate(point.source, seed=point.seed, set=list(point.sets))
        if result.is_trusted:
            break
    write_tables_at_once(folder, result.tables, result.provenance)


_UNITS = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "min": 60.0, "s": 1.0}


def _seconds(duration: str) -> float:
    """A duration as the core writes it, such as "12.5s"."""
    unit = next(unit for unit in _UNITS if duration.endswith(unit))
    return float(duration.removesuffix(unit)) * _UNITS[unit]
