"""`acklab serve` and `acklab perf` instead of the flow of a scenario, over an emulated path."""

import dataclasses
import json
import shlex
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa

from acklab.durations import seconds_of
from acklab.emulator import Emulated, emulate
from acklab.errors import RunError
from acklab.scenario import overrides
from acklab.sweeps import Point

_FROM = 4.0
"""Time in seconds from which packets and programs are checked for lateness.

The client has started by then.
"""
REST = 8.0
"""Usual duration of a run in addition to the measurement [s]: start, handshake and result."""
_MAX_REST = 60.0
"""Maximum duration in addition to the measurement [s], because the result waits for data in
queues.
"""
_COLUMNS: Mapping[str, str] = {
    "mean_throughput_l7": "goodput",
    "total_acks_sent_l4": "acks",
    "total_data_packets_l4": "data_packets",
    "total_retransmissions_l4": "retransmissions",
    "mean_srtt_l4": "mean_rtt",
}
"""Columns of `flows`, and their names in `acklab perf`."""


def deploy(point: Point, contender: str, before: str, **settings: Any) -> Emulated:
    """Emulates a point whose single flow is measured by `acklab perf --with CONTENDER`.

    The measurement lasts as long as the scenario.

    `before` is a shell command that each end runs first; `settings` are those of `acklab.emulate`.
    The table `flows` has the output of `acklab perf`. Raises RunError.
    """
    scenario = point.source.load(list(point.sets))
    (flow,) = scenario["flow"]
    seconds = seconds_of(scenario["duration"])
    first = f"{before} && " if before else ""
    with tempfile.TemporaryDirectory(prefix="acklab-") as folder:
        own = f"{shlex.quote(sys.executable)} -m acklab"
        serve = {"name": "serve", "node": flow["to"], "command": f"{first}exec {own} serve --json --state {folder}/state"}
        # The server reports when it listens. The run ends with the client.
        options = f"--time {seconds:g} --accept-new --json --with {shlex.quote(contender)}"
        client = f"until [ -s {folder}/serve.out ]; do sleep 0.1; done; {first}exec {own} perf $0 {options} >{folder}/perf 2>&1"
        environment = ["env", f"XDG_STATE_HOME={folder}"]
        changes = {"flow": [], "application": [serve], "duration": f"{seconds + _MAX_REST:g}s", "measure.from": f"{_FROM:g}s"}
        result = emulate(
            point.source,
            seed=point.seed,
            set=[*point.sets, *overrides(changes)],
            outputs=folder,
            **settings,
            at=(flow["from"], [*environment, "sh", "-c", client, f"{{{flow['to']}}}"]),
        )
        output = (Path(folder) / "perf").read_text(encoding="utf-8", errors="replace")
    return dataclasses.replace(result, tables={**result.tables, "flows": _flows(output, contender)})


def _flows(output: str, contender: str) -> pa.Table:
    """Returns the single flow that `acklab perf --json` measured."""
    try:
        row: dict[str, Any] = json.loads(output.splitlines()[-1])["measurements"][0]
    except (ValueError, LookupError) as error:
        raise RunError(f"acklab perf --with {contender}: found {output.strip()[-300:]!r}, expected a measurement") from error
    return pa.table({"name": [contender], **{column: [row[name]] for column, name in _COLUMNS.items()}})
