"""Faults and hostile inputs for ten minutes, as one table.

`sudo .venv/bin/python validation/chaos/table.py [--minutes N] [--only PART] [--points N]` puts
transfers through `acklab proxy`, frames through `acklab inline`, sweeps with their stores, and the
page of an emulation under faults. Octets are lost if a program or a reader of results does not
detect that they are wrong or missing. Exit status 1: octets were lost, or an expectation was not
met.
"""

import argparse
import functools
import os
import sys
import tempfile
import traceback
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests"))
from validation.chaos import clocks, inline, memory, page, proxy, store
from validation.chaos.rows import Row, table, timed

Part = Callable[[Row, Path], None]


def parts(scale: float, points: int) -> dict[str, tuple[str, Part]]:
    """Returns the parts by name. `scale` stretches the times, which are in seconds."""

    def seconds(given: float) -> float:
        return given * scale

    return {
        "path": ("proxy: links down, addresses, sizes, 40 % loss", functools.partial(proxy.path, seconds=seconds(60))),
        "ends": ("proxy: sides stopped, killed and begun anew", functools.partial(proxy.ends, seconds=seconds(60))),
        "strangers": ("proxy: hostile datagrams, wrong tokens", functools.partial(proxy.strangers, seconds=seconds(25))),
        "disk": ("proxy: full disk of the receiving program", functools.partial(proxy.full_disk, seconds=seconds(20))),
        "clocks": ("proxy: clocks that jump (libfaketime)", functools.partial(clocks.jumps, seconds=seconds(30))),
        "offsets": ("proxy: thirty years of uptime (time namespaces)", functools.partial(clocks.offsets, seconds=seconds(10))),
        "memory": ("proxy: limits of memory (control groups)", functools.partial(memory.proxy_limits, seconds=seconds(30))),
        "sweep-memory": ("sweep: limits of memory", functools.partial(memory.sweep_limits, seeds=3000)),
        "store": ("store: damaged at random", functools.partial(store.damaged, seconds=seconds(45), points=points)),
        "kills": ("store: killed at its steps", functools.partial(store.killed, stride=max(1, round(31 / scale)))),
        "frames": ("inline: frames one by one", lambda row, folder: inline.compared(row, seconds(20))),
        "interrupted": ("inline: stopped and killed", lambda row, folder: inline.interrupted(row, seconds(20))),
        "page": ("emulate: hostile clients of the page", functools.partial(page.hostile, connections=round(300 * scale))),
    }


def main() -> int:
    """Runs the parts one after another and prints the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=10, help="about how long all of it takes")
    parser.add_argument("--only", action="append", metavar="PART", help="one part; repeat it for more")
    parser.add_argument("--points", type=int, default=100_000, help="points of the store that is damaged")
    given = parser.parse_args()
    if os.geteuid() != 0:
        parser.error("needs root, for namespaces")
    known = parts(given.minutes / 10, given.points)
    if unknown := [name for name in given.only or () if name not in known]:
        parser.error(f"--only: found {unknown[0]!r}, expected {', '.join(known)}")
    rows = []
    for name in given.only or known:
        what, run = known[name]
        with tempfile.TemporaryDirectory(prefix="acklab-chaos-") as folder, timed(Row(what)) as row:
            try:
                run(row, Path(folder) / name)
            except Exception as error:
                traceback.print_exc()
                row.broken.append(f"{type(error).__name__}: {error}"[:200])
        rows.append(row)
        print(f"{what}: {'good' if row.is_good else 'not good'} after {row.seconds:.0f} s", file=sys.stderr, flush=True)
    print(table(rows))
    return 0 if all(row.is_good for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
