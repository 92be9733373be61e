"""Counts packets of a capture with tcptrace."""

import csv
import shutil
import subprocess
import tempfile
from collections import defaultdict
from pathlib import Path
from typing import Any

from validation.inspection.dissection import end

_COLUMNS = {"data_octets": "actual_data_bytes", "pure_acks": "pure_acks_sent", "retransmitted": "rexmt_data_pkts"}


def is_installed() -> bool:
    """Returns whether tcptrace and the converter of captures are installed."""
    return shutil.which("tcptrace") is not None and shutil.which("editcap") is not None


def read(path: str) -> dict[str, dict[str, int]]:
    """Returns counts by direction, `from > to`, over all connections of these ends.

    The counts are empty if tcptrace does not read the capture.
    """
    with tempfile.TemporaryDirectory() as folder:
        # tcptrace reads neither pcapng nor compressed files.
        plain = Path(folder) / "plain.pcap"
        done = subprocess.run(["editcap", "-F", "pcap", path, plain], capture_output=True, check=False)
        if done.returncode != 0 or not plain.exists():
            return {}
        # The time is limited because some damaged headers put tcptrace into an endless loop. On
        # others, tcptrace stops.
        told = subprocess.run(["tcptrace", "-lrn", "--csv", plain], capture_output=True, check=False, timeout=60)
    return parsed(told.stdout.decode(errors="replace"))


def parsed(output: str) -> dict[str, dict[str, int]]:
    """Returns the counts in the output of `tcptrace -lrn --csv`."""
    lines = [line for line in output.splitlines() if line and not line.startswith("#")]
    if not lines or not lines[0].startswith("conn_"):
        return {}
    counts: dict[str, dict[str, int]] = defaultdict(lambda: dict.fromkeys(_COLUMNS, 0))
    for row in csv.DictReader(lines, skipinitialspace=True):
        ends = _ends(row)
        if ends is None:
            continue
        for (source, destination), own, back in ((ends, "a2b", "b2a"), (ends[::-1], "b2a", "a2b")):
            one = counts[f"{source} > {destination}"]
            for name, column in _COLUMNS.items():
                # The receiver of the data sends the ACKs.
                value = row.get(f"{column}_{back if name == 'pure_acks' else own}") or "0"
                one[name] += int(value) if value.strip().isdigit() else 0
    return dict(counts)


def _ends(row: dict[str | Any, Any]) -> tuple[str, str] | None:
    try:
        return end(row["host_a"].strip(), row["port_a"].strip()), end(row["host_b"].strip(), row["port_b"].strip())
    except (ValueError, AttributeError, KeyError):
        return None
