"""The scenario of a path is simulated, captured and inspected in the same way as the path, and corrected until both agree."""

import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from acklab.fitting.link import ranges_for, scenario_of, toml_of
from acklab.fitting.parameters import Parameters, Target, estimate, largest
from acklab.inspection.model import Inspection, Way, inspect

_ROUNDS = 8
"""Simulations for each controller at most."""
_ENOUGH = 0.03
"""Relative error at which a fit is good enough to stop."""
_STEP = 4.0
"""Largest factor by which one round changes a parameter."""


@dataclass(frozen=True)
class Fit:
    """The scenario of a captured path, and how well its simulation repeats the capture."""

    scenario: Mapping[str, Any]
    ranges: Mapping[str, str]
    """Ranges of what is uncertain, by key, as `acklab.sweep(vary=…)` takes them."""
    measured: Target
    simulated: Target
    errors: Mapping[str, float]
    """Relative errors of the simulation, by quantity."""
    toml: str
    """The scenario as TOML, with the ranges as a comment."""

    def to_dict(self) -> dict[str, Any]:
        """The output of `acklab fit --json`."""
        return {
            "scenario": dict(self.scenario),
            "vary": dict(self.ranges),
            "measured": vars(self.measured),
            "simulated": vars(self.simulated),
            "errors": dict(self.errors),
        }


def fit(capture: str | Path | Inspection, *, watch: Callable[[float], None] | None = None) -> Fit:
    """Fits the scenario of a path with one bottleneck to the largest transfer of a capture.

    Queue, random loss and return path are corrected until the goodput, the median RTT and the ratio of segments to ACKs of a simulation, which is inspected
    in the same way, agree with those of the capture; `errors` tells how well they do. Raises UsageError if the capture tells too little.
    """
    found = capture if isinstance(capture, Inspection) else inspect(capture)
    way = largest(found)
    target = Target.of(way)
    first = estimate(way)
    best: tuple[float, Parameters, Target] | None = None
    controllers = _candidates(first.controller)
    for number, controller in enumerate(controllers):
        reached = _calibrate(first.with_(controller=controller), target, way)
        if best is None or reached[0] < best[0]:
            best = reached
        if watch is not None:
            watch((number + 1) / len(controllers))
        if best[0] <= _ENOUGH:
            break
    assert best is not None
    _, parameters, simulated = best
    scenario = scenario_of(parameters)
    ranges = ranges_for(parameters, way["losses"]["retransmitted"] - way["losses"]["spurious"], way["data_segments"])
    errors = target.errors(simulated)
    notes = [
        f"The path {way['from']} → {way['to']} of {found.path.name}, by acklab fit.",
        "Simulated again, " + ", ".join(f"its {name} differs by {100 * error:+.1f} %" for name, error in errors.items()) + ".",
    ]
    return Fit(scenario, ranges, target, simulated, errors, toml_of(scenario, ranges, notes))


def _candidates(likely: str) -> list[str]:
    """Controllers to try, the likely one first: what is in flight after a loss tells families apart, and not members of a family."""
    return list(dict.fromkeys([likely, "cubic", "bbr", "newreno"]))


def _calibrate(parameters: Parameters, target: Target, way: Way) -> tuple[float, Parameters, Target]:
    """The largest error, the parameters and the simulated quantities of the best round."""
    # Losses may be those of the queue, or of the channel: the first try has none of the channel's if the queue was seen full.
    median, base = target.round_trip or parameters.base, parameters.base
    if median > 1.5 * base:
        parameters = parameters.with_(loss=0.0)
    best: tuple[float, Parameters, Target] | None = None
    for _ in range(_ROUNDS):
        simulated = _simulate(parameters)
        if simulated is None:
            break
        errors = target.errors(simulated)
        worst = max(map(abs, errors.values()))
        if best is None or worst < best[0]:
            best = (worst, parameters, simulated)
        if worst <= _ENOUGH:
            break
        corrected = _corrected(parameters, target, simulated, way)
        if corrected == parameters:
            break
        parameters = corrected
    if best is None:
        return float("inf"), parameters, Target(0.0, None, None)
    return best


def _simulate(parameters: Parameters) -> Target | None:
    from acklab.runner import run

    scenario = scenario_of(parameters) | {"capture": [{"point": "sender", "file": "sender.pcapng"}]}
    with tempfile.TemporaryDirectory() as folder:
        run(scenario, captures=folder)
        ways = inspect(Path(folder) / "sender.pcapng").ways
    return Target.of(ways[0]) if ways else None


def _corrected(parameters: Parameters, target: Target, simulated: Target, way: Way) -> Parameters:
    """The parameters with the corrections that the differences ask for."""
    changed = parameters
    goodput = simulated.goodput / target.goodput if target.goodput else 1.0
    if target.round_trip is not None and simulated.round_trip is not None:
        waits, found = target.round_trip - parameters.base, simulated.round_trip - parameters.base
        if abs(simulated.round_trip / target.round_trip - 1) > _ENOUGH / 2 and found > 0:
            changed = changed.with_(queue=max(parameters.queue * _bounded(max(waits, 0.0) / found), 2.0))
    if abs(goodput - 1) > _ENOUGH / 2:
        if parameters.application_rate is not None:
            changed = changed.with_(application_rate=parameters.application_rate / goodput)
        elif parameters.receive_window is not None:
            changed = changed.with_(receive_window=round(parameters.receive_window / goodput))
        elif parameters.loss > 0:
            # The goodput of loss-based controllers falls with the root of the loss rate (Mathis et al., CCR 27(3), 1997).
            loss = parameters.loss * _bounded(goodput**2)
            changed = changed.with_(loss=loss if loss > 1e-7 else 0.0)
        elif goodput > 1 and way["losses"]["share"] > 0:
            changed = changed.with_(loss=way["losses"]["share"] / 4)
    if target.ack_ratio is not None and simulated.ack_ratio is not None and parameters.return_rate is not None:
        changed = changed.with_(return_rate=parameters.return_rate * _bounded(simulated.ack_ratio / target.ack_ratio))
    return changed


def _bounded(factor: float) -> float:
    return min(max(factor, 1 / _STEP), _STEP)
