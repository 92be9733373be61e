"""acklab: a laboratory for the acknowledgements of transport protocols.

    import acklab

    result = acklab.run("experiment_55.toml", set={"flow.0.congestion": "newreno"})
    result.flows                       # Polars; .to_pandas() and .to_arrow() give what you prefer

run, load_result    one run, and its tables from a folder
emulate             the same scenario in real time, with real packets
sweep, load_sweep   a grid of values times a set of seeds, on all cores
check, schema       a scenario with every default filled in; what editors complete from
strategies          ACK policies and congestion controllers of your own
statistics          means with intervals over seeds, fairness, distributions
figures             Plotly figures in one style
report              one HTML file that needs no network
studies             published numbers beside ours
"""

from typing import Any

from acklab import core, errors, strategies
from acklab.core import Cancel, schema
from acklab.emulator import Emulated, emulate
from acklab.errors import AcklabError, Cancelled, RunError, ScenarioError, StoreError, UsageError
from acklab.result import Result, load_result
from acklab.runner import run
from acklab.scenario import Overrides, Source, overrides
from acklab.strategies import AckPolicy, At, CongestionController, Hold, Now
from acklab.sweeps import SweepResult, load_sweep, sweep

__version__ = core.version()


def check(scenario: Any, *, set: Overrides = ()) -> dict[str, Any]:
    """Checks a scenario (file or dict) and gives it in full, with every preset resolved. Raises ScenarioError."""
    return Source.of(scenario).load(overrides(set))


__all__ = [
    "AckPolicy",
    "AcklabError",
    "At",
    "Cancel",
    "Cancelled",
    "CongestionController",
    "Emulated",
    "Hold",
    "Now",
    "Result",
    "RunError",
    "ScenarioError",
    "StoreError",
    "SweepResult",
    "UsageError",
    "check",
    "emulate",
    "errors",
    "load_result",
    "load_sweep",
    "run",
    "schema",
    "strategies",
    "sweep",
]
