"""Clocks that jump, or differ by years, while transfers go through `acklab proxy`."""

import random
import subprocess
import time
from pathlib import Path
from typing import Any

from validation.chaos.proxy import account, standing
from validation.chaos.rows import Row

_YEAR = 365 * 86400


def library() -> Path | None:
    """Returns the path of libfaketime, which changes the clocks of programs with threads."""
    return next(iter(sorted(Path("/usr/lib").glob("*/faketime/libfaketimeMT.so.1"))), None)


def jumps(row: Row, folder: Path, seconds: float) -> None:
    """Makes the calendar clock jump, as `date -s` does, and then all clocks, as after sleep."""
    preloaded = library()
    if preloaded is None:
        row.load = "left out: needs the package libfaketime"
        return
    chance = random.Random(5)
    for sleeps in (False, True):
        folder.mkdir(exist_ok=True)
        file = folder / "clock"
        file.write_text("+0\n", encoding="ascii")
        environment = {
            "LD_PRELOAD": str(preloaded),
            "FAKETIME_TIMESTAMP_FILE": str(file),
            "FAKETIME_NO_CACHE": "1",
            "FAKETIME_DONT_FAKE_MONOTONIC": "0" if sleeps else "1",
        }
        part = Row(row.what)
        with standing(folder / ("sleeps" if sleeps else "calendar"), environment=environment) as proxy:
            offset, until = 0, time.monotonic() + seconds / 2
            while time.monotonic() < until:
                # A host sleeps for seconds or for a night. Monotonic clocks never jump back.
                offset = (
                    offset + chance.choice([5, 60, 8 * 3600])
                    if sleeps
                    else chance.choice([-20 * _YEAR, -3600, -1, 1, 3600, 20 * _YEAR])
                )
                new = file.with_suffix(".new")
                new.write_text(f"{offset:+d}\n", encoding="ascii")
                new.replace(file)
                proxy.goes_on(row, f"a jump of the clock to {offset:+,} s")
            account(part, proxy)
        row.lost += part.lost
        row.broken += part.broken
        row.load += ("; " if row.load else "") + part.load


def offsets(row: Row, folder: Path, seconds: float) -> None:
    """Runs both sides in time namespaces, in which the machine has run for thirty years."""
    prefix = ("unshare", "--time", "--monotonic", str(30 * _YEAR), "--boottime", str(30 * _YEAR), "--fork", "--kill-child")
    if subprocess.run([*prefix, "true"], capture_output=True, check=False).returncode != 0:
        row.load = "left out: the kernel has no namespaces of time"
        return
    how: dict[str, Any] = {"prefix": prefix}
    with standing(folder, **how) as proxy:
        time.sleep(seconds)
        proxy.goes_on(row, "thirty years")
        account(row, proxy)
