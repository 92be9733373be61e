"""Stores the table of `make bench` and fills its numbers into the documentation.

Run as: cargo bench … --bench cost | python -m scripts.bench.

Copies the table from standard input to standard output, and stores it in docs/bench.json. Without
standard input, only rewrites the documentation.
"""

import datetime
import json
import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from scripts.places import fill

ROOT = Path(__file__).resolve().parents[1]
DATA = Path("docs") / "bench.json"
NAME = 48
"""Characters of the first column, as `crates/lab/benches/cost.rs` prints it."""
ALTERNATING = "acklab's wheel build, Debian's ns-3, alternating runs"
"""Description of the runs in which the time of ns-3 was measured."""

Rows = Sequence[Mapping[str, Any]]


def rows(table: str) -> list[dict[str, Any]]:
    """Returns the rows of the table that `cargo bench` prints. A failed scenario has no row."""
    found = []
    for line in table.splitlines():
        if not line.strip() or line.startswith("scenario ") or line.endswith(" failed"):
            continue
        values = re.fullmatch(
            r"\s*([\d.]+)\s+([\d.]+)\s+([\d.]+)\s+([\d.]+)\s+(?:(\d+) x|([\d.]+) of stock|([\d.]+) of TCP)?\s*([\d.]+)",
            line[NAME:],
        )
        if values is None:
            sys.exit(
                f"error: standard input: found {line!r}, expected a row of the table of `cargo bench --package acklab-lab --bench cost`"
            )
        hop, wake, packets, cpu, ns3, stock, tcp, peak = (None if value is None else float(value) for value in values.groups())
        found.append(
            {
                "scenario": line[:NAME].strip(),
                "nanoseconds_per_hop": hop,
                "nanoseconds_per_wake": wake,
                "million_packets_per_second": packets,
                "cpu_seconds_per_simulated_second": cpu,
                "times_of_ns3": ns3,
                "share_of_stock": stock,
                "share_of_tcp": tcp,
                "peak_megabytes": peak,
            }
        )
    return found


def _range(numbers: Sequence[int]) -> str:
    """Returns the minimum and the maximum of some numbers as text."""
    low, high = min(numbers), max(numbers)
    return f"{low}" if low == high else f"{low} to {high}"


def places(measured: Rows, how: str = ALTERNATING) -> dict[tuple[str, str], str]:
    """Returns the text of each marked place, by page and name of the place.

    Parameters
    ----------
    measured
        Rows of the table.
    how
        How ns-3 was timed.

    """
    ratios = {row["scenario"]: round(row["times_of_ns3"]) for row in measured if row["times_of_ns3"] is not None}
    cells = [ratio for name, ratio in ratios.items() if name.startswith("802.11")]
    if not cells or len(cells) == len(ratios):
        sys.exit("error: ns-3 was left out, so the documentation keeps its numbers; `make -C validation/ns3` builds its programs")
    peak = max(row["peak_megabytes"] for row in measured)
    return {
        ("README.md", "bench"): f"{_range(list(ratios.values()))} times less CPU time, and at most {peak:.0f} MB",
        ("docs/decisions/medium.md", "bench"): f"{_range(cells)} times the CPU time for the same exchange of frames ({how})",
    }


def put(root: Path, measured: Rows, how: str = ALTERNATING) -> None:
    """Fills the marked places of the documentation."""
    for (page, name), text in places(measured, how).items():
        fill(root / page, name, text)


def main() -> None:
    """Stores a new table, if there is one, and rewrites the documentation."""
    table = "" if sys.stdin.isatty() else sys.stdin.read()
    print(table, end="")
    data = ROOT / DATA
    if measured := rows(table):
        kept = {"date": datetime.datetime.now(tz=datetime.UTC).date().isoformat(), "ns3": ALTERNATING, "rows": measured}
        data.write_text(json.dumps(kept, indent=2) + "\n", encoding="utf-8")
    elif table:
        sys.exit("error: found no row of a table, expected the output of `cargo bench --package acklab-lab --bench cost`")
    last = json.loads(data.read_text(encoding="utf-8"))
    put(ROOT, last["rows"], last["ns3"])


if __name__ == "__main__":
    main()
