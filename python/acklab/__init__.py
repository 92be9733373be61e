"""acklab: a laboratory for the acknowledgements of transport protocols.

    import acklab

    result = acklab.run("experiment_55.toml", set={"flow.0.congestion": "newreno"})
    result.flows                       # Polars; .to_pandas() and .to_arrow() give what you prefer

run, load_result    one run, and its tables from a folder
emulate             the same scenario in real time, with real packets
inline              its path between two interfaces of this host
sweep, load_sweep   a grid of values times a set of seeds, on all cores
check, schema       a scenario with every default filled in; what editors complete from
new                 a commented scenario to begin with
perf                transports measured in turns between two real hosts
inspection          what a capture tells of connections and their path
fitting             the scenario of a captured path
advice              which ACKs, controller and transport serve a path best
packetdrill         scripts of packetdrill, played at the TCP of a scenario
strategies          ACK policies, congestion controllers and rules of asking for ACKs of your own
statistics          means with intervals over seeds, fairness, distributions
figures             Plotly figures in one style
report              one HTML file that needs no network
studies             published numbers beside ours
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from acklab import core, errors
from acklab.core import Cancel, schema
from acklab.errors import AcklabError, Cancelled, RunError, ScenarioError, StoreError, UsageError

if TYPE_CHECKING:
    from acklab import advice, figures, fitting, inspection, packetdrill, report, statistics, strategies, studies
    from acklab.emulator import Emulated, emulate
    from acklab.hosts import Perf, perf
    from acklab.inliner import inline
    from acklab.result import Result, load_result
    from acklab.runner import run
    from acklab.scenario import Overrides
    from acklab.strategies import AckPolicy, AckRequest, AskRule, At, CongestionController, Hold, Now
    from acklab.sweeps.sweep import SweepResult, load_sweep, sweep
    from acklab.templates import new

__version__ = core.version()

# What is imported when it is first used: each brings libraries that most programs need no more than one of.
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


def check(scenario: Any, *, set: "Overrides" = (), base: Any = None) -> dict[str, Any]:
    """Checks a scenario (file or dict) and returns it in full, with every preset resolved.

    `base` is the folder that trace files are relative to, as in `run`: they are read. Raises ScenarioError for all that a run refuses, but for
    the name of a strategy of your own.
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
