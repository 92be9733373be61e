"""One run."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from acklab import core
from acklab.result import Result
from acklab.scenario import Overrides, Source, overrides, with_seed
from acklab.store import Provenance
from acklab.strategies import Strategies


def run(
    scenario: str | Path | Mapping[str, Any] | Source,
    *,
    seed: int | None = None,
    set: Overrides = (),
    base: str | Path | None = None,
    captures: str | Path | None = None,
    cancel: core.Cancel | None = None,
    strategies: Strategies | None = None,
) -> Result:
    """Runs a scenario and gives its tables.

    `scenario` is a TOML or JSON file, or a dict of the same shape. `seed` replaces the seed of the scenario, and `set` any of its
    values, such as `{"flow.0.congestion": "cubic"}`. `base` is the folder that trace files are relative to (default: that of the
    file). Captures that the scenario names are written into the folder `captures`, or not at all.

    `strategies` are ACK policies and congestion controllers written in Python (see `acklab.strategies`): classes by the name that the
    scenario calls them, `{"mine": MyPolicy}` for `ack = { policy = "custom", name = "mine" }`. Each flow has an instance of its own.

    Raises ScenarioError for a scenario that is refused, RunError for a run that fails, Cancelled once `cancel` is cancelled. What a
    strategy raises ends the run at once and comes out as it is.
    """
    source = Source.of(scenario, None if base is None else Path(base))
    return run_source(source, overrides(set), seed, None if captures is None else Path(captures), cancel, strategies)


def run_source(
    source: Source,
    sets: list[str],
    seed: int | None,
    captures: Path | None = None,
    cancel: core.Cancel | None = None,
    strategies: Strategies | None = None,
) -> Result:
    """As `run`, with everything already in its plain form."""
    document, tables = core.run(source.text, source.name, with_seed(sets, seed), source.base, captures, cancel, strategies)
    used = int(document["seed"])
    command = source.command(sets, used) + _comment(strategies)
    provenance = Provenance(document, used, core.revision(), core.version(), command)
    return Result(tables, provenance)


def _comment(strategies: Strategies | None) -> str:
    """What the command that repeats a run cannot say: which classes it was given."""
    if not strategies:
        return ""
    classes = (f"{name}={made.__module__}.{getattr(made, '__qualname__', made)}" for name, made in strategies.items())
    return f"  # in Python, with strategies {', '.join(classes)}"
