"""One run."""

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from acklab import _core, core
from acklab.errors import UsageError
from acklab.files import path_of
from acklab.provenance import Provenance
from acklab.result import Result
from acklab.scenario import FROM_DICT, Overrides, Source, overrides, with_seed
from acklab.strategies import Strategies
from acklab.strategy_files import StrategyFile


def run(
    scenario: str | Path | Mapping[str, Any] | Source,
    *,
    seed: int | None = None,
    set: Overrides = (),
    base: str | Path | None = None,
    captures: str | Path | None = None,
    qlog: str | Path | None = None,
    qlog_version: str = core.QLOG_VERSIONS[0],
    cancel: core.Cancel | None = None,
    strategies: Strategies | None = None,
    watch: Callable[[float], None] | None = None,
) -> Result:
    """Runs a scenario and returns its tables.

    `scenario` is a TOML or JSON file, or a dict with the same keys. `seed` replaces the seed of the
    scenario, and `set` replaces any of the scenario's values, such as
    `{"flow.0.congestion": "cubic"}`. `base` is the folder of relative trace files (default: the
    folder of the file). Captures of the scenario are written into the folder `captures`, if it is
    given.

    `qlog` is a folder for logs of the endpoints, two files per flow, for qvis: `FLOW_client.sqlog`
    and `FLOW_server.sqlog`. It is created if it is missing. `qlog_version` is "0.3", which tools
    read, or "draft-13", the current drafts.

    `strategies` are ACK policies and congestion controllers written in Python (see
    `acklab.strategies`): classes by their names in the scenario, `{"mine": MyPolicy}` for `ack = {
    policy = "custom", name = "mine" }`. Each flow has a separate instance.

    `watch` is called some times per second with the elapsed share of the duration, from 0 to 1.

    Raises ScenarioError for a scenario that is refused, UsageError for an unknown version of qlog,
    RunError for a run that fails, Cancelled once `cancel` is cancelled. An error of a strategy
    stops the run and is raised unchanged.
    """
    source = Source.of(scenario, None if base is None else path_of(base, "base"))
    folder = None if captures is None else path_of(captures, "captures")
    logs = None if qlog is None else path_of(qlog, "qlog")
    if strategies is not None and not (isinstance(strategies, Mapping) and all(isinstance(name, str) for name in strategies)):
        raise UsageError(f'strategies: found {strategies!r}, expected classes by name such as {{"mine": MyPolicy}}')
    return run_source(source, overrides(set), seed, folder, logs, qlog_version, cancel, strategies, watch)


def run_source(
    source: Source,
    sets: list[str],
    seed: int | None,
    captures: Path | None = None,
    qlog: Path | None = None,
    qlog_version: str = core.QLOG_VERSIONS[0],
    cancel: core.Cancel | None = None,
    strategies: Strategies | None = None,
    watch: Callable[[float], None] | None = None,
) -> Result:
    """Runs a scenario as `run` does, with parsed arguments."""
    if qlog_version not in core.QLOG_VERSIONS:
        known = " or ".join(f'"{version}"' for version in core.QLOG_VERSIONS)
        raise UsageError(f'qlog_version: found "{qlog_version}", expected {known}')
    if qlog is not None:
        from acklab.atomic import make_folder

        make_folder(qlog)
    done = _core.run(
        source.text,
        source.name,
        with_seed(sets, seed),
        source.base,
        captures=captures,
        qlog=qlog,
        qlog_version=qlog_version,
        cancel=cancel,
        strategies=None if strategies is None else dict(strategies),
        watch=watch,
    )
    command = repeating(source, sets, done.seed, strategies)
    provenance = Provenance(json.loads(done.scenario), done.seed, core.revision(), core.version(), command)
    return Result(core.arrow(done.tables), provenance)


def repeating(source: Source, sets: Sequence[str], seed: int, strategies: Strategies | None = None) -> str:
    """Returns the command that repeats a run.

    A comment adds what a command cannot express: the file of a scenario from a dict, and classes of
    strategies.
    """
    files = [made for made in (strategies or {}).values() if isinstance(made, StrategyFile)]
    classes = {name: made for name, made in (strategies or {}).items() if not isinstance(made, StrategyFile)}
    words = ["scenario.json is beside the tables"] if source.name == FROM_DICT else []
    if classes:
        named = (f"{name}={made.__module__}.{getattr(made, '__qualname__', made)}" for name, made in classes.items())
        words.append(f"in Python, with strategies {', '.join(named)}")
    command = source.command([*sets], seed, strategies=[file.text for file in files])
    return f"{command}  # {'; '.join(words)}" if words else command
