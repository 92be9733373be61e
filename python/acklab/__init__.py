"""acklab: simulates, emulates and deploys the acknowledgements of transport protocols.

    import acklab

    result = acklab.run("experiment_55.toml", set={"flow.0.congestion": "newreno"})
    result.flows                       # Polars; .to_pandas() and .to_arrow() convert it

run, load_result    one run, and its tables from a folder
emulate             the same scenario in real time, with real packets
inline              the path of a scenario between two interfaces of this host
sweep, load_sweep   a grid of values times a set of seeds, on all cores
check, schema       a scenario with all defaults; the JSON Schema for editors
new                 a commented scenario from a template
perf                comparison of transports between two real hosts
inspection          analysis of captured connections and their path
fitting             the scenario of a captured path
advice              what to change on a path, and what it gains for which use
packetdrill         packetdrill scripts, run against the TCP of a scenario
strategies          your own ACK policies, congestion controllers and ACK request rules
statistics          means with intervals over seeds, fairness, distributions
figures             Plotly figures in one style
report              one HTML file that works offline
studies             published numbers beside ours
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from acklab import core, errors
from acklab.core import Cancel, schema
from acklab.errors import AcklabError, Cancelled, RunError, ScenarioError, StoreError, UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from acklab import advice, figures, fitting, inspection, packetdrill, report, statistics, strategies, studies
    from acklab.emulator import Emulated, emulate
    from acklab.hosts import Perf, perf
    from acklab.inliner import inline
    from acklab.result import Result, load_result
    from acklab.runner import run
    from acklab.scenario import Overrides, Source
    from acklab.strategies import AckPolicy, AckRequest, AskRule, At, CongestionController, Hold, Now
    from acklab.sweeps.sweep import SweepResult, load_sweep, sweep
    from acklab.templates import new

__version__ = core.version()

# Imported at first use: most programs need at most one of these modules and its libraries.
_MODULES = ("advice", "figures", "fitting", "inspection", "packetdrill", "report", "statistics", "strategies", "studies")
_NAMES = {
    "AckPolicy": "strategies",
    "AckRequest": "strategies",
    "AskRule": "strategies",
    "At": "strategies",
    "CongestionController": "strategies",
    "Emulated": "emulator",
    "Hold": "strategies",
    "Now": "strategies",
    "Perf": "hosts",
    "Result": "result",
    "SweepResult": "sweeps",
    "emulate": "emulator",
    "inline": "inliner",
    "load_result": "result",
    "load_sweep": "sweeps",
    "new": "templates",
    "perf": "hosts",
    "run": "runner",
    "sweep": "sweeps",
}


def check(
    scenario: "str | Path | Mapping[str, Any] | Source",
    *,
    set: "Overrides" = (),
    base: "str | Path | None" = None,
) -> dict[str, Any]:
    """Checks a scenario (file or dict) and returns it complete, with every preset resolved.

    `base` is the folder of relative trace files, as in `run`; the files are read. Raises
    ScenarioError for everything that a run refuses, except for names of your own strategies.
    """
    from acklab.files import path_of
    from acklab.scenario import Source, overrides

    return Source.of(scenario, None if base is None else path_of(base, "base")).check(overrides(set))


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module(f"acklab.{name}")
    if name in _NAMES:
        value = getattr(import_module(f"acklab.{_NAMES[name]}"), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'acklab' has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*__all__, "__version__"]


__all__ = [
    "AckPolicy",
    "AckRequest",
    "AcklabError",
    "AskRule",
    "At",
    "Cancel",
    "Cancelled",
    "CongestionController",
    "Emulated",
    "Hold",
    "Now",
    "Perf",
    "Result",
    "RunError",
    "ScenarioError",
    "StoreError",
    "SweepResult",
    "UsageError",
    "advice",
    "check",
    "emulate",
    "errors",
    "figures",
    "fitting",
    "inline",
    "inspection",
    "load_result",
    "load_sweep",
    "new",
    "packetdrill",
    "perf",
    "report",
    "run",
    "schema",
    "statistics",
    "strategies",
    "studies",
    "sweep",
]
