"""Limits of memory, by control groups: sides of a proxy and sweeps that reach them."""

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from validation.chaos.hosts import FAR
from validation.chaos.proxy import account, standing
from validation.chaos.rows import Row
from validation.chaos.store import SCENARIO, contents

_ROOT = Path("/sys/fs/cgroup")
MIB = 1 << 20
LIMITS = (200, 100, 60, 54, 50, 46, 42)
"""Memory limits of a far side in MiB.

Chosen: a far side takes about 50 MiB under this load, mostly for Python.
"""


@contextlib.contextmanager
def limited(mebibytes: int) -> Iterator[tuple[str, ...]]:
    """Yields words that limit the memory of the next command. Raises `OSError` without cgroups."""
    unified = (_ROOT / "cgroup.controllers").exists()
    group = (_ROOT if unified else _ROOT / "memory") / f"acklab-chaos-{os.getpid()}-{mebibytes}"
    if unified:
        (_ROOT / "cgroup.subtree_control").write_text("+memory", encoding="ascii")
    group.mkdir()
    try:
        (group / ("memory.max" if unified else "memory.limit_in_bytes")).write_text(str(mebibytes * MIB), encoding="ascii")
        yield ("sh", "-c", f'echo $$ >{group}/cgroup.procs && exec "$@"', "sh")
    finally:
        for _ in range(100):
            with contextlib.suppress(OSError):
                group.rmdir()
                break
            time.sleep(0.05)


def proxy_limits(row: Row, folder: Path, seconds: float) -> None:
    """Restarts the far side with ever less memory, and with enough after each limit."""
    killed = 0
    with standing(folder) as proxy:
        for mebibytes in LIMITS:
            with limited(mebibytes) as prefix:
                proxy.sides[FAR].end()
                # A far side that is killed before it is ready prints no line.
                with contextlib.suppress(AssertionError):
                    proxy.far(prefix=prefix)
                far, until = proxy.sides[FAR].process, time.monotonic() + seconds / len(LIMITS)
                while far.poll() is None and time.monotonic() < until:
                    time.sleep(0.1)
                killed += far.poll() is not None
                proxy.sides[FAR].end()
            proxy.far()
            proxy.goes_on(row, f"a limit of {mebibytes} MiB")
        account(row, proxy)
    row.load += f"; killed {killed} times"


def sweep_limits(row: Row, folder: Path, seeds: int) -> None:
    """Limits memory so that the kernel kills a sweep several times.

    Compares the results with an undisturbed sweep.
    """
    folder.mkdir(exist_ok=True)
    (folder / "path.toml").write_text(SCENARIO, encoding="utf-8")
    command = [sys.executable, "-m", "acklab", "sweep", "path.toml", "--seeds", str(seeds), "--out"]

    def run(out: str, *prefix: str) -> int:
        return subprocess.run([*prefix, *command, out], cwd=folder, capture_output=True, check=False).returncode

    for mebibytes in (60, 100, 120, 140, 160, 180):
        with limited(mebibytes) as prefix:
            status = run("limited", *prefix)
        row.expect(status in (0, 1, -signal.SIGKILL, 128 + signal.SIGKILL), f"status {status} with {mebibytes} MiB")
        row.faults += status != 0
    row.expect(run("limited") == 0, "a sweep does not go on after it was killed for its memory")
    row.expect(run("whole") == 0, "a sweep without a limit fails")
    row.expect(
        contents(folder / "limited") == contents(folder / "whole"), "the results differ from those of a sweep that was not killed"
    )
    row.load = f"{seeds:,} points"
    shutil.rmtree(folder)
