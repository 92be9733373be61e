"""Plays timelines against the kernel of this machine, and prints a table.

`sudo .venv/bin/python validation/packetdrill/table.py FOLDER [--rounds N]`.

FOLDER holds scripts that `cargo run -p acklab-transport --example scripts -- FOLDER` has written.
Each script is played against acklab's TCP, and several times against the kernel in real time. The
kernel agrees if at least one play passes. Prints a table in Markdown, with expected and received
events where they differ.
"""

import argparse
import platform
import sys
from pathlib import Path

from acklab import core
from acklab.packetdrill import Verdict, play


def shown(verdict: Verdict) -> str:
    """Returns the verdict, or the first difference."""
    if not verdict.failures:
        return verdict.verdict if verdict.reason is None else f"{verdict.verdict}: {verdict.reason}"
    failure = verdict.failures[0]
    return f"line {failure.line}: expected `{failure.expected}`, found `{failure.found}`"


def main() -> int:
    """Prints the table; returns 1 if acklab's TCP differs from the timelines."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--rounds", type=int, default=8, help="how often the kernel may try a script")
    options = parser.parse_args()
    core.acquire_permission()
    ours = play([options.folder])
    kernels: dict[Path, Verdict] = {}
    for _ in range(options.rounds):
        left = [
            verdict.script for verdict in ours if verdict.script not in kernels or kernels[verdict.script].verdict != "passed"
        ]
        kernels.update({verdict.script: verdict for verdict in play(left, preset="kernel")} if left else {})
    print(f"| timeline | acklab | Linux {platform.release()} |\n|---|---|---|")
    for verdict in ours:
        kernel = kernels[verdict.script]
        print(f"| `{verdict.script.stem}` | {shown(verdict)} | {shown(kernel)} |")
    agreed = sum(verdict.verdict == "passed" for verdict in kernels.values())
    print(f"\nThe kernel agrees with {agreed} of {len(kernels)} timelines.")
    return 0 if all(verdict.verdict == "passed" for verdict in ours) else 1


if __name__ == "__main__":
    sys.exit(main())
