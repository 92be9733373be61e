"""The only module that calls the compiled core."""

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

# Inputs and outputs of strategies that are written in Python.
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
"""The supported versions of qlog, the default first."""


PROCESSORS: tuple[str, ...] = tuple(_core.PROCESSORS)
"""The modes of idle processors during an emulation."""


PORT: int = _core.PORT
"""The default port of the tools for real hosts."""


def version() -> str:
    """Returns the version of acklab, such as "0.1.0"."""
    return _core.VERSION


@functools.cache
def revision() -> str:
    """Returns the commit from which the core was built.

    Outside a clean checkout, a commit does not identify the code, so a digest of the compiled
    module is appended. Two results with the same revision come from the same code.
    """
    stamp: str = _core.REVISION
    path = getattr(_core, "__file__", None)
    if path is None or not (stamp == "unknown" or stamp.endswith("-dirty")):
        return stamp
    return f"{stamp}-{hashlib.sha256(Path(path).read_bytes()).hexdigest()[:12]}"


def load(text: str, name: str, sets: Sequence[str]) -> dict[str, Any]:
    """Checks a scenario and returns it complete, with every preset resolved.

    `name` represents the file in error messages. `sets` are overrides such as
    "flow.0.congestion=cubic". Raises ScenarioError.
    """
    return cast(dict[str, Any], json.loads(_core.load(text, name, list(sets))))


def check(text: str, name: str, sets: Sequence[str], base: Path) -> dict[str, Any]:
    """Checks a scenario as `load` does, and also what a run needs: trace files, cells and routes.

    Paths of trace files are relative to the folder `base`. Raises ScenarioError with the message of
    `run`.
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
    """Runs a scenario without the interpreter lock, except in calls of `strategies`.

    Paths of trace files are relative to `base`. Captures are written into `captures`, and qlogs of
    version `qlog_version` into `qlog`, if these are given. `watch` is called some times per second
    with the elapsed share of the duration. Returns the complete scenario and the tables, whose
    fields have their unit as metadata "unit".

    Raises ScenarioError, RunError, Cancelled once `cancel` is cancelled, and errors of strategies.
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
    """Facts of a valid scenario."""

    scenario: str
    """The complete scenario as JSON, with the seed 0."""
    traces: list[str]
    """The trace files that the scenario reads."""
    strategies: list[tuple[str, str]]
    """The keys and names of the strategies that are not built in."""


def check_many(
    text: str, name: str, sets: Sequence[str], points: Sequence[Sequence[str]], base: Path, threads: int = 1
) -> list[Checked]:
    """Checks many scenarios as `check` does, but parses the text once.

    `sets` are common to all; `points` has the further ones of each.

    Raises ScenarioError for the first invalid scenario.
    """
    found = _core.check_many(text, name, list(sets), [list(own) for own in points], str(base), threads)
    return [Checked(*one) for one in found]


@dataclass(frozen=True)
class Batch:
    """The result of many runs."""

    outcomes: list[str | Exception]
    """The complete scenario of each run as JSON, or its error."""
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
    """Runs scenarios in sequence, as `run` does, without the interpreter lock between them.

    `sets` are common to all; `points` has the further ones of each. Stops early after `seconds`,
    and once `cancel` is cancelled; the result then has fewer runs. A failed run does not stop the
    others.
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
    """Reads a capture or a log: all traces of a log, or only trace number `trace`, counted from 1.

    Returns the report, and why the rest of the file was not read, or None.

    Raises UsageError for files that cannot be read or are neither, RunError for a log without data,
    and Cancelled once `cancel` is cancelled.
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
    """Runs packetdrill scripts against the TCP of the first flow of the scenario `text`.

    Without a scenario, the TCP is that of `preset`.

    Returns a table for each script: "script", "verdict", "failures" and "refusal". Raises
    ScenarioError, RunError for scripts that cannot be read, and errors of strategies.
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
    """The result of an emulation."""

    scenario: dict[str, Any]
    """The complete scenario."""
    tables: "dict[str, pa.Table]"
    reasons: list[str]
    """Reasons why the results are unreliable; empty if they are reliable."""
    exit_status: int | None
    """The exit status of the command that used the terminal."""
    stopped: float | None
    """The time of an early stop, in seconds."""


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

    `outputs` is the folder for the output of applications. `at` is a node and a command with the
    terminal. `watch` is called with a sample per second. `processors` is the mode of idle
    processors: "auto", "awake" or "halt". `internet` is the node that connects to the networks of
    this machine.

    Once `cancel` is cancelled, returns the results until then, or raises Cancelled if the window of
    measurement had not begun. Raises ScenarioError and RunError.
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
    """Runs the path of a scenario between its two interfaces until its end or `cancel`.

    Returns the complete scenario and the tables.

    `stands` is called when the path carries traffic, with the way of forwarding, the source of
    frames and the priority of the thread. `watch` is called with a sample per second. `method` is
    "ring" or "tap". Raises ScenarioError and RunError.
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

    # pa.table imports pandas to test for frames.
    return {table: pa.Table.from_batches([pa.record_batch(batch)]) for table, batch in batches.items()}


def acquire_permission() -> bool:
    """Acquires the permission to emulate. Returns whether that required a user namespace.

    Without root, this process enters a user namespace for good, which requires that it has a single
    thread. Raises RunError, whose message explains how to grant the permission.
    """
    return _core.acquire_permission()


def calibrate(processors: str = "auto") -> dict[str, Any]:
    """Measures the capacity of this machine for five seconds, with idle processors as in `emulate`.

    Raises RunError.
    """
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
    """Measures transports in alternation. Returns a table per measurement.

    `watch` is called with the progress. Raises UsageError, RunError, and Cancelled once `cancel` is
    cancelled.
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
    """Runs the far end of a proxy until Ctrl-C or `cancel`. Raises UsageError and RunError."""
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
    """Runs the near end of a proxy until Ctrl-C or `cancel`. Raises UsageError and RunError."""
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
    """Returns the stored fingerprint of a server, from `file` or the tools' own file, or None."""
    return _core.known_fingerprint(host, port, None if file is None else str(file))


def remember_fingerprint(host: str, port: int, fingerprint: str, file: Path | None = None) -> None:
    """Stores the fingerprint of a server, which is trusted from then on."""
    _core.remember_fingerprint(host, port, fingerprint, None if file is None else str(file))


def offered_fingerprint(host: str, port: int) -> str:
    """Returns the fingerprint that a server presents, without trusting it. Raises RunError."""
    return _core.offered_fingerprint(host, port)


def schema() -> dict[str, Any]:
    """Returns the JSON Schema of a scenario."""
    return cast(dict[str, Any], json.loads(_core.schema()))


def metrics() -> list[dict[str, str]]:
    """Returns the columns of the tables of metrics.

    Each has its table, name, unit, better direction, and meaning.
    """
    return cast(list[dict[str, str]], json.loads(_core.metrics()))
