"""`acklab serve` and `acklab perf` in the place of the flow of a scenario: what is deployed, over an emulated path."""

import dataclasses
import json
import shlex
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa

from acklab.emulator import Emulated, emulate
from acklab.errors import RunError
from acklab.scenario import overrides
from acklab.studies.emulated.durations import seconds_of
from acklab.sweeps import Point

_FROM = 4.0
"""When the window of measurement begins, by whose packets and programs it is judged whether a run may be trusted: the client has loaded."""
REST = 8.0
"""What such a run usually takes beside the measurement [s]: start, handshake and result."""
_LONGEST = 60.0
"""What it may take at most [s]: the result waits behind the data in queues."""
_COLUMNS: Mapping[str, str] = {
    "mean_throughput_l7": "goodput",
    "total_acks_sent_l4": "acks",
    "total_data_packets_l4": "data_packets",
    "total_retransmissions_l4": "retransmissions",
    "mean_srtt_l4": "mean_rtt",
}
"""Columns of `flows`, and what `acklab perf` calls them."""


def deploy(point: Point, contender: str, before: str, processors: str) -> Emulated:
    """Emulates a point whose one flow is what `acklab perf --with CONTENDER` measures, for as long as the scenario lasts.

    `before` is a shell command that each end runs first; `processors` is as of `acklab.emulate`. The table `flows` holds what `acklab perf` has told. Raises RunError.
    """
    scenario = point.source.load(list(point.sets))
    (flow,) = scenario["flow"]
    seconds = seconds_of(scenario["duration"])
    first = f"{before} && " if before else ""
    with tempfile.TemporaryDirectory(prefix="acklab-") as folder:
        own = f"{shlex.quote(sys.executable)} -m acklab"
        serve = {"name": "serve", "node": flow["to"], "command": f"{first}exec {own} serve --json --state {folder}/state"}
        # The server says when it listens. The run ends with the client.
        options = f"--time {seconds:g} --accept-new --json --with {shlex.quote(contender)}"
        client = f"until [ -s {folder}/serve.out ]; do sleep 0.1; done; {first}exec {own} perf $0 {options} >{folder}/perf 2>&1"
        environment = ["env", f"XDG_STATE_HOME={folder}"]
        changes = {"flow": [], "application": [serve], "duration": f"{seconds + _LONGEST:g}s", "measure.from": f"{_FROM:g}s"}
        result = emulate(
            point.source,
            seed=point.seed,
            set=[*point.sets, *overrides(changes)],
            outputs=folder,
            processors=processors,
            at=(flow["from"], [*environment, "sh", "-c", client, f"{{{flow['to']}}}"]),
        )
        told = (Path(folder) / "perf").read_text(encoding="utf-8", errors="replace")
    return dataclasses.replace(result, tables={**result.tables, "flows": _flows(told, contender)})


def _flows(told: str, contender: str) -> pa.Table:
    """The one flow that `acklab perf --json` has measured."""
    try:
        row: dict[str, Any] = json.loads(told.splitlines()[-1])["measurements"][0]
    except (ValueError, LookupError) as error:
        raise RunError(f"acklab perf --with {contender}: found {told.strip()[-300:]!r}, expected a measurement") from error
    return pa.table({"name": [contender], **{column: [row[name]] for column, name in _COLUMNS.items()}})
