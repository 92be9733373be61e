"""Keeps the table of `make bench`, and puts its numbers where the documentation tells them: cargo bench … --bench cost | scripts/bench.py.

The table is copied to standard output and kept in docs/bench.json. Without standard input, only the documentation is rewritten.
"""

import datetime
import json
import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
DATA = Path("docs") / "bench.json"
NAME = 48
"""Characters of the first column, as `crates/lab/benches/cost.rs` prints it."""
IN_TURNS = "timed in turns, acklab as in its wheels and ns-3 as in Debian"
"""How the bench times ns-3."""

Rows = Sequence[Mapping[str, Any]]


def rows(table: str) -> list[dict[str, Any]]:
    """The rows of the table that `cargo bench` prints. A scenario that failed has none."""
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
    """The least and the largest of some numbers."""
    least, largest = min(numbers), max(numbers)
    return f"{least}" if least == largest else f"{least} to {largest}"


def sentences(measured: Rows, how: str = IN_TURNS) -> dict[str, str]:
    """What the documentation says of the measurements, by file. `how` tells how ns-3 was timed."""
    ratios = {row["scenario"]: round(row["times_of_ns3"]) for row in measured if row["times_of_ns3"] is not None}
    wired = [ratio for name, ratio in ratios.items() if not name.startswith("802.11")]
    cells = [ratio for name, ratio in ratios.items() if name.startswith("802.11")]
    if not wired or not cells:
        sys.exit(
            "error: ns-3 was left out, so the documentation keeps its sentences; `make -C validation/ns3` builds its programs"
        )
    peak = max(row["peak_megabytes"] for row in measured)
    return {
        "README.md": f"ns-3 takes {_range(wired[:-1])} times the CPU time for one flow over links, {wired[-1]} times for a hundred, and "
        f"{_range(cells)} times for cells of Wi-Fi, {how};\na run takes at most {peak:.0f} MB (`make bench`).",
        "docs/decisions/medium.md": f"ns-3 takes {_range(cells)} times the CPU time for the same exchange of frames, "
        f"{how} (`make bench`).",
    }


def put(root: Path, measured: Rows, how: str = IN_TURNS) -> None:
    """Replaces the sentences in the documentation."""
    for name, sentence in sentences(measured, how).items():
        page = root / name
        text, count = re.subn(r"ns-3 takes [^`]*\(`make bench`\)\.", sentence, page.read_text(encoding="utf-8"))
        if count != 1:
            sys.exit(f"error: {page}: found {count} sentences of the form `ns-3 takes … (`make bench`).`, expected one")
        page.write_text(text, encoding="utf-8")


def main() -> None:
    """Keeps a new table, if there is one, and rewrites the documentation."""
    table = "" if sys.stdin.isatty() else sys.stdin.read()
    print(table, end="")
    data = ROOT / DATA
    if measured := rows(table):
        kept = {"date": datetime.datetime.now(tz=datetime.UTC).date().isoformat(), "ns3": IN_TURNS, "rows": measured}
        data.write_text(json.dumps(kept, indent=2) + "\n", encoding="utf-8")
    elif table:
        sys.exit("error: found no row of a table, expected the output of `cargo bench --package acklab-lab --bench cost`")
    last = json.loads(data.read_text(encoding="utf-8"))
    put(ROOT, last["rows"], last["ns3"])


if __name__ == "__main__":
    main()
