"""The one place that touches the compiled core."""

import functools
import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from acklab import _core

if TYPE_CHECKING:
    import pyarrow as pa

Cancel = _core.Cancel

# What strategies written in Python are given, and what they answer.
Ack = _core.Ack
AckRequest = _core.AckRequest
Arrival = _core.Arrival
AskPath = _core.AskPath
AskStart = _core.AskStart
At = _core.At
ControllerStart = _core.ControllerStart
Hold = _core.Hold
Ledger = _core.Ledger
Lost = _core.Lost
Now = _core.Now
PolicyStart = _core.PolicyStart
RateSample = _core.RateSample
Sent = _core.Sent
Window = _core.Window


QLOG_VERSIONS: tuple[str, ...] = tuple(_core.QLOG_VERSIONS)
"""The versions of qlog that can be written, the default first."""


PROCESSORS: tuple[str, ...] = tuple(_core.PROCESSORS)
"""What idle processors may do during an emulation."""


PORT: int = _core.PORT
"""The port of the tools for real hosts if none is given."""


def version() -> str:
    """The version of acklab, such as "0.1.0"."""
    return _core.VERSION


@functools.cache
def revision() -> str:
    """The commit that the core was built from.

    Outside a clean checkout a commit does not tell what the core is made of, so a digest of the compiled module is added:
    two results with the same revision come from the same code.
    """
    stamp: str = _core.REVISION
    path = getattr(_core, "__file__", None)
    if path is None or not (stamp == "unknown" or stamp.endswith("-dirty")):
        return stamp
    return f"{stamp}-{hashlib.sha256(Path(path).read_bytes()).hexdigest()[:12]}"


def load(text: str, name: str, sets: Sequence[str]) -> dict[str, Any]:
    """Checks a scenario and returns it in full, with every preset resolved.

    `name` stands in error messages for the file; `sets` are overrides such as "flow.0.congestion=cubic".
    Raises ScenarioError.
    """
    return cast(dict[str, Any], json.loads(_core.load(text, name, list(sets))))


def check(text: str, name: str, sets: Sequence[str], base: Path) -> dict[str, Any]:
    """As `load`, and checks what a run needs: trace files, which are relative to the folder `base`, cells and routes.

    Raises ScenarioError with the message that `run` has.
    """
    return cast(dict[str, Any], json.loads(_core.check(text, name, list(sets), str(base))))


def run(
    text: str,
    name: str,
    sets: Sequence[str],
    base: Path,
    captures: Path | None = None,
    qlog: Path | None = None,
    qlog_version: str = QLOG_VERSIONS[0],
    cancel: Cancel | None = None,
    strategies: Mapping[str, Callable[[Any], Any]] | None = None,
    watch: Callable[[float], None] | None = None,
) -> tuple[dict[str, Any], "dict[str, pa.Table]"]:
    """Runs a scenario without holding the interpreter lock, but for calls of `strategies`.

    `base` is the folder that trace files are relative to; captures are written into `captures`, or not at all;
    logs of endpoints of version `qlog_version` are written into `qlog`, or not at all; `watch` is told some times a second which share of the duration has passed. Gives the scenario in full and the tables, whose fields carry their unit as metadata "unit".
    Raises ScenarioError, RunError, Cancelled once `cancel` is cancelled, and what a strategy raises.
    """
    result = _core.run(
        text,
        name,
        list(sets),
        str(base),
        captures=None if captures is None else str(captures),
        qlog=None if qlog is None else str(qlog),
        qlog_version=qlog_version,
        cancel=cancel,
        strategies=None if strategies is None else dict(strategies),
        watch=watch,
    )
    return json.loads(result.scenario), _arrow(result.tables)


@dataclass(frozen=True)
class Checked:
    """What the core knows of a scenario that makes sense."""

    scenario: str
    """The scenario in full as JSON, with the seed 0."""
    traces: list[str]
    """The trace files that it reads."""
    strategies: list[tuple[str, str]]
    """The keys and names of the strategies that are not built in."""


def check_many(
    text: str, name: str, sets: Sequence[str], points: Sequence[Sequence[str]], base: Path, threads: int = 1
) -> list[Checked]:
    """Checks many scenarios as `check` does, and parses the text once: `sets` are common to all, `points` has the further ones of each.

    Raises ScenarioError for the first that makes no sense.
    """
    found = _core.check_many(text, name, list(sets), [list(own) for own in points], str(base), threads)
    return [Checked(*one) for one in found]


@dataclass(frozen=True)
class Batch:
    """What the core yields of many runs."""

    outcomes: list[str | Exception]
    """Of each run its scenario in full as JSON, or what it ended with."""
    names: list[list[str]]
    """The tables of each run."""
    tables: "dict[str, pa.Table]"
    """Tables over all runs; the first column, `point`, is the number of the run."""


def run_many(
    text: str,
    name: str,
    sets: Sequence[str],
    points: Sequence[Sequence[str]],
    base: Path,
    cancel: Cancel | None = None,
    strategies: Mapping[str, Callable[[Any], Any]] | None = None,
    seconds: float | None = None,
) -> Batch:
    """Runs scenarios one after the other, as `run` does, without holding the interpreter lock between them.

    `sets` are common to all, `points` has the further ones of each. Ends early after `seconds` and once `cancel` is cancelled: fewer
    runs are then in the result. A run that fails does not stop the others.
    """
    result = _core.run_many(
        text,
        name,
        list(sets),
        [list(own) for own in points],
        str(base),
        cancel=cancel,
        strategies=dict(strategies) if strategies else None,
        seconds=seconds,
    )
    return Batch(result.outcomes, result.names, _arrow(result.tables))


def inspect(
    path: Path, cancel: Cancel | None = None, watch: Callable[[float], None] | None = None, trace: int | None = None
) -> tuple[dict[str, Any], str | None]:
    """Reads a capture, or a log: all of its traces, or the one with the number `trace` from 1.

    Gives the report, and why the rest of the file was not read or None. Raises UsageError for a file that cannot be read or is neither,
    RunError for a log without data, Cancelled once `cancel` is cancelled.
    """
    report, cut = _core.inspect(path, cancel, watch, trace)
    return json.loads(report), cut


def packetdrill(
    scripts: Sequence[Path],
    text: str | None,
    name: str,
    preset: str,
    sets: Sequence[str],
    tolerance_usecs: int | None = None,
    strategies: Mapping[str, Callable[[Any], Any]] | None = None,
) -> list[dict[str, Any]]:
    """Plays scripts at the TCP of the first flow of the scenario `text`, or at that of `preset` without one.

    Gives a table for each script: "script", "verdict", "failures" and "refusal". Raises ScenarioError, RunError for a script that cannot be
    read, and what a strategy raises.
    """
    played = _core.packetdrill(
        [str(script) for script in scripts],
        text,
        name,
        preset,
        list(sets),
        tolerance=tolerance_usecs,
        strategies=None if strategies is None else dict(strategies),
    )
    return cast(list[dict[str, Any]], json.loads(played))


@dataclass(frozen=True)
class Emulation:
    """What the core yields of an emulation."""

    scenario: dict[str, Any]
    """The scenario in full."""
    tables: "dict[str, pa.Table]"
    reasons: list[str]
    """Why the results may not be trusted; empty if they may."""
    exit_status: int | None
    """The exit status of the command that used the terminal."""
    stopped: float | None
    """When it was stopped before its end, in seconds."""


def emulate(
    text: str,
    name: str,
    sets: Sequence[str],
    base: Path,
    captures: Path | None = None,
    outputs: Path | None = None,
    at: tuple[str, Sequence[str]] | None = None,
    cancel: Cancel | None = None,
    watch: Callable[[dict[str, Any]], None] | None = None,
    processors: str = "auto",
    internet: str | None = None,
) -> Emulation:
    """Runs a scenario in real time.

    `outputs` is the folder for the output of applications; `at` is a node and a command with the terminal; `watch` is called with a sample
    of each second; `processors` is what idle processors do, "auto", "awake" or "halt"; `internet` is the node that leads to the networks of this machine.

    Once `cancel` is cancelled, returns what was measured by then, or raises Cancelled if the window of measurement had not begun. Raises
    ScenarioError and RunError.
    """
    result = _core.emulate(
        text,
        name,
        list(sets),
        str(base),
        captures=None if captures is None else str(captures),
        outputs=None if outputs is None else str(outputs),
        node=None if at is None else at[0],
        words=None if at is None else list(at[1]),
        cancel=cancel,
        watch=None if watch is None else lambda text: watch(json.loads(text)),
        processors=processors,
        internet=internet,
    )
    return Emulation(json.loads(result.scenario), _arrow(result.tables), result.reasons, result.exit_status, result.stopped)


def inline(
    text: str,
    name: str,
    sets: Sequence[str],
    base: Path,
    captures: Path | None = None,
    cancel: Cancel | None = None,
    stands: Callable[[str, str, str], None] | None = None,
    watch: Callable[[dict[str, Any]], None] | None = None,
    processors: str = "auto",
    method: str | None = None,
) -> "tuple[dict[str, Any], dict[str, pa.Table]]":
    """Puts the path of a scenario between its two interfaces until its end or `cancel`. Gives the scenario in full and the tables.

    `stands` is called once traffic takes the path, with how it is forwarded, how frames come from the kernel and the priority of the thread; `watch` is
    called with a sample of each second; `method` is "ring" or "tap". Raises ScenarioError and RunError.
    """
    result = _core.inline(
        text,
        name,
        list(sets),
        str(base),
        captures=None if captures is None else str(captures),
        cancel=cancel,
        stands=stands,
        watch=None if watch is None else lambda text: watch(json.loads(text)),
        processors=processors,
        method=method,
    )
    return json.loads(result.scenario), _arrow(result.tables)


def _arrow(batches: Mapping[str, Any]) -> "dict[str, pa.Table]":
    import pyarrow as pa

    # pa.table would do, but it imports pandas to see whether it is given a frame of it.
    return {table: pa.Table.from_batches([pa.record_batch(batch)]) for table, batch in batches.items()}


def acquire_permission() -> bool:
    """Acquires the permission to emulate, and gives whether that took a user namespace.

    Without root, this process enters one for good, which it can only as long as it has one thread. Raises RunError, whose message says
    how to grant the permission.
    """
    return _core.acquire_permission()


def calibrate(processors: str = "auto") -> dict[str, Any]:
    """Measures for five seconds what this machine can carry, with idle processors as in `emulate`. Raises RunError."""
    return cast(dict[str, Any], json.loads(_core.calibrate(processors)))


def serve(
    addresses: Sequence[str],
    port: int,
    ready: Callable[[int, str], None],
    tell: Callable[[str], None] | None = None,
    certificate: Path | None = None,
    key: Path | None = None,
    folder: Path | None = None,
    drain: str = "0s",
    cancel: Cancel | None = None,
) -> None:
    """Serves measurements until Ctrl-C or `cancel`. Raises UsageError and RunError."""
    _core.serve(
        list(addresses),
        port,
        ready,
        tell=tell,
        certificate=None if certificate is None else str(certificate),
        key=None if key is None else str(key),
        folder=None if folder is None else str(folder),
        drain=drain,
        cancel=cancel,
    )


def perf(
    host: str,
    port: int,
    contenders: str,
    *,
    rounds: int,
    reverse: bool,
    streams: int,
    seconds: float | None,
    octets: int | None,
    bitrate: int | None,
    interval: float,
    fingerprint: str | None = None,
    authorities: Path | None = None,
    keys: Path | None = None,
    qlog: Path | None = None,
    watch: Callable[[dict[str, Any]], None] | None = None,
    cancel: Cancel | None = None,
) -> list[dict[str, Any]]:
    """Measures transports in turns, and gives a table for each measurement.

    `watch` is called with what happens meanwhile. Raises UsageError, RunError, and Cancelled once `cancel` is cancelled.
    """
    measured = _core.perf(
        host,
        port,
        contenders,
        rounds=rounds,
        reverse=reverse,
        streams=streams,
        seconds=seconds,
        octets=octets,
        bitrate=bitrate,
        interval=interval,
        fingerprint=fingerprint,
        authorities=None if authorities is None else str(authorities),
        keys=None if keys is None else str(keys),
        qlog=None if qlog is None else str(qlog),
        tell=None if watch is None else lambda text: watch(json.loads(text)),
        cancel=cancel,
    )
    return cast(list[dict[str, Any]], json.loads(measured))


def proxy_listen(
    addresses: Sequence[str],
    port: int,
    allow: Sequence[str],
    ready: Callable[[int, str, str], None],
    tell: Callable[[str], None] | None = None,
    certificate: Path | None = None,
    key: Path | None = None,
    folder: Path | None = None,
    drain: str = "0s",
    cancel: Cancel | None = None,
) -> None:
    """The far side of a proxy, until Ctrl-C or `cancel`. Raises UsageError and RunError."""
    _core.proxy_listen(
        list(addresses),
        port,
        list(allow),
        ready,
        tell=tell,
        certificate=None if certificate is None else str(certificate),
        key=None if key is None else str(key),
        folder=None if folder is None else str(folder),
        drain=drain,
        cancel=cancel,
    )


def proxy_connect(
    host: str,
    port: int,
    token: str,
    socks: str | None,
    forwards: Sequence[str],
    ready: Callable[[list[str]], None],
    tell: Callable[[str], None] | None = None,
    fingerprint: str | None = None,
    authorities: Path | None = None,
    keys: Path | None = None,
    drain: str = "0s",
    cancel: Cancel | None = None,
) -> None:
    """The near side of a proxy, until Ctrl-C or `cancel`. Raises UsageError and RunError."""
    _core.proxy_connect(
        host,
        port,
        token,
        socks,
        list(forwards),
        ready,
        tell=tell,
        fingerprint=fingerprint,
        authorities=None if authorities is None else str(authorities),
        keys=None if keys is None else str(keys),
        drain=drain,
        cancel=cancel,
    )


def known_fingerprint(host: str, port: int, file: Path | None = None) -> str | None:
    """The fingerprint by which a server is known, in `file` or in that of the tools, or None."""
    return _core.known_fingerprint(host, port, None if file is None else str(file))


def remember_fingerprint(host: str, port: int, fingerprint: str, file: Path | None = None) -> None:
    """Believes a server with this fingerprint from now on."""
    _core.remember_fingerprint(host, port, fingerprint, None if file is None else str(file))


def offered_fingerprint(host: str, port: int) -> str:
    """The fingerprint that a server shows, which is not believed. Raises RunError."""
    return _core.offered_fingerprint(host, port)


def schema() -> dict[str, Any]:
    """The JSON Schema of a scenario."""
    return cast(dict[str, Any], json.loads(_core.schema()))


def metrics() -> list[dict[str, str]]:
    """What the columns of the tables of metrics are: table, name, unit, which way they are better, and meaning."""
    return cast(list[dict[str, str]], json.loads(_core.metrics()))
