"""The scenario of a path is simulated, captured and inspected in the same way as the path, and corrected until both agree."""

import math
import os
import tempfile
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from acklab.fitting.hypotheses import Hypotheses
from acklab.fitting.link import ranges_for, scenario_of, toml_of
from acklab.fitting.parameters import Parameters, Target, estimate, largest
from acklab.inspection.model import Inspection, Way, inspect

_REFINED = 4
"""Hypotheses that are corrected at a time."""
_DRAWN = 64
"""Hypotheses that are drawn by chance at a time."""
_FACTORS = (1.5, 1.15)
"""Steps of a parameter."""
_GAIN = 0.05
"""The share of the largest error by which a correction must reduce it to be followed by another."""
_ENOUGH = 0.03
"""Relative error at which a fit is good enough to stop."""
_GOOD = 0.05
"""Relative error above which others are drawn by chance: half of what a fit may be off."""
_SEEDS = 4
"""Runs of parameters whose seed matters and that come near. Their mean is judged: what one run hits may be chance."""
_NEAR = 0.3
"""Relative error of the first run up to which there are others: three times what a fit may be off."""
_STEP = 4.0
"""Largest factor by which one round changes a parameter."""
_RUN = 2e3
"""Packets whose simulation takes as long as to start and to inspect one."""
_MOST = 4e7
"""Packets that are simulated at most, but for the round that exceeds them: a minute on two cores."""


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


def fit(capture: str | Path | Inspection, *, watch: Callable[[float], None] | None = None, until: float = math.inf) -> Fit:
    """Fits the scenario of a path with one bottleneck to the largest transfer of a capture.

    Several hypotheses of the controller, the receiver, the return path and the cause of losses are simulated. Those that come closest are corrected (queue, random loss,
    return path, and what else limits) until the goodput, the median RTT and the ratio of segments to ACKs of a simulation, which is captured at the same side of the bottleneck and
    inspected in the same way, agree with those of the capture; `errors` tells how well they do. The instant `until` of `time.monotonic` ends the search with what is best by then. Raises UsageError if the capture tells too little.
    """
    found = capture if isinstance(capture, Inspection) else inspect(capture)
    way = largest(found)
    target = Target.of(way)
    best = _Calibration(way, target, watch, until).best()
    scenario = scenario_of(best.parameters, best.seed)
    ranges = ranges_for(best.parameters, way["losses"]["retransmitted"] - way["losses"]["spurious"], way["data_segments"])
    simulated = best.runs[best.seed - 1]
    errors = target.errors(simulated)
    notes = [
        f"The path {way['from']} → {way['to']} of {found.path.name}, by acklab fit.",
        "Simulated again, it differs in " + ", ".join(f"{name} by {100 * error:+.1f} %" for name, error in errors.items()) + ".",
    ]
    return Fit(scenario, ranges, target, simulated, errors, toml_of(scenario, ranges, notes))


@dataclass(frozen=True)
class _Tried:
    """Parameters that were simulated."""

    parameters: Parameters
    runs: tuple[Target, ...]
    """By seed, from 1 on. One, where the seed does not matter or it is far off."""
    seed: int
    """That of the run that comes closest."""
    worst: float
    """The largest relative error of the mean of all runs, or of the closest of them if that is larger."""

    @classmethod
    def of(cls, parameters: Parameters, runs: Sequence[Target], target: Target) -> "_Tried":
        worst = [target.worst(run) for run in runs]
        return cls(parameters, tuple(runs), 1 + worst.index(min(worst)), max(target.worst(Target.mean(runs)), min(worst)))

    @property
    def simulated(self) -> Target:
        """The mean of all runs."""
        return Target.mean(self.runs)


class _Calibration:
    """The search for parameters. Its result depends on the capture alone, not on the time or the number of threads, unless `until` ends it."""

    def __init__(self, way: Way, target: Target, watch: Callable[[float], None] | None = None, until: float = math.inf) -> None:
        self._way, self._target, self._watch, self._until = way, target, watch, until
        self._rate_is_open = way["rate"] is None or way["rate_is_lower_bound"]
        self._tried: dict[Parameters, _Tried] = {}
        self._work = 0.0

    def best(self) -> _Tried:
        """The parameters whose simulation comes closest."""
        hypotheses = Hypotheses(self._way, estimate(self._way))
        self._try(hypotheses.of_sender())
        if not self._is_done():
            best_by_controller: dict[str, _Tried] = {}
            for tried in self._closest(len(self._tried)):
                best_by_controller.setdefault(tried.parameters.controller, tried)
            for closest in best_by_controller.values():
                self._try(hypotheses.variants(closest.parameters))
        self._refine_closest(self._tried.values())
        # Where the first estimates mislead, others are drawn by chance.
        while not self._is_done() and self._closest(1)[0].worst > _GOOD:
            drawn = [hypotheses.drawn() for _ in range(_DRAWN)]
            self._try(drawn)
            self._refine_closest([self._tried[one] for one in dict.fromkeys(drawn) if one in self._tried])
        return self._closest(1)[0]

    def _refine_closest(self, of: Iterable[_Tried]) -> None:
        """Corrects the closest of some hypotheses that differ in what corrections do not change."""
        refined: set[tuple[object, ...]] = set()
        for start in sorted(of, key=lambda one: one.worst):
            if self._is_done() or len(refined) == _REFINED:
                break
            if _structure(start.parameters) not in refined:
                refined.add(_structure(start.parameters))
                self._refine(start)

    def _refine(self, current: _Tried) -> None:
        """Corrects by what the differences ask for, and where that does not help by steps of one parameter at a time, which shrink (Hooke and Jeeves, JACM 8(2), 1961)."""
        ways: list[Callable[[_Tried], list[Parameters]]] = [
            self._corrections,
            *(partial(_steps, factor=factor) for factor in _FACTORS),
        ]
        while ways:
            proposed = ways[0](current)
            self._try(proposed)
            best = min((self._tried[one] for one in proposed if one in self._tried), key=lambda one: one.worst, default=current)
            if self._is_done():
                return
            if best.worst < (1 - _GAIN) * current.worst:
                current = best
            else:
                ways.pop(0)

    def _is_done(self) -> bool:
        return self._work > _MOST or time.monotonic() > self._until or self._closest(1)[0].worst <= _ENOUGH

    def _closest(self, count: int) -> list[_Tried]:
        """Those that come closest; of equals the earliest."""
        return sorted(self._tried.values(), key=lambda one: one.worst)[:count]

    def _try(self, proposed: Iterable[Parameters]) -> None:
        """Simulates parameters that were not simulated yet, side by side."""
        new = [one for one in dict.fromkeys(proposed) if one not in self._tried]
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            for parameters, runs in zip(new, pool.map(self._runs, new), strict=True):
                if runs:
                    self._tried[parameters] = _Tried.of(parameters, runs, self._target)
                    packets = sum(run.goodput for run in runs) * 1e6 / 8 / parameters.packet * parameters.duration
                    self._work += packets + _RUN * len(runs)
        if self._watch is not None:
            self._watch(min(self._work / _MOST, 1.0))

    def _runs(self, parameters: Parameters) -> list[Target]:
        """One run, and where the seed matters and it comes near some more: what it hit may have been chance. None if the time is over."""
        if self._tried and time.monotonic() > self._until:
            return []
        first = _simulate(parameters, 1)
        if not parameters.is_random or self._target.worst(first) > _NEAR:
            return [first]
        return [first, *(_simulate(parameters, seed) for seed in range(2, _SEEDS + 1))]

    def _corrections(self, tried: _Tried) -> list[Parameters]:
        """The parameters with the corrections that the differences ask for: all of them, half of them, and each alone."""
        one, target, simulated = tried.parameters, self._target, tried.simulated
        changes: list[dict[str, Any]] = []
        if target.round_trip is not None and simulated.round_trip is not None:
            waits, found = target.round_trip - one.base, simulated.round_trip - one.base
            factor = _bounded(max(waits, 0.0) / found) if found > 0 else _STEP
            changes.append({"queue": max(one.queue * factor, 2.0)})
            if one.gate is not None:
                changes.append({"gate": one.gate * factor})
        if target.goodput and simulated.goodput:
            goodput = simulated.goodput / target.goodput
            if one.application_rate is not None:
                changes.append({"application_rate": one.application_rate / goodput})
            if one.receive_window is not None:
                changes.append({"receive_window": round(one.receive_window / goodput)})
            if self._rate_is_open:
                changes.append({"rate": one.rate / _bounded(goodput)})
            if one.loss > 0:
                # The goodput of loss-based controllers falls with the root of the loss rate (Mathis et al., CCR 27(3), 1997).
                changes.append({"loss": one.loss * _bounded(goodput**2)})
            elif goodput > 1 and target.lost > 0:
                changes.append({"loss": target.lost / 4})
        if one.loss > 0 or target.lost > simulated.lost:
            changes.append({"loss": max(one.loss + target.lost - simulated.lost, 0.0)})
        if target.ack_ratio is not None and simulated.ack_ratio is not None and one.return_rate is not None:
            changes.append({"return_rate": one.return_rate * _bounded(simulated.ack_ratio / target.ack_ratio)})
        together: dict[str, Any] = {}
        for change in changes:
            together = change | together
        halves = {name: _between(getattr(one, name), value) for name, value in together.items()}
        proposed = [one.with_(**change) for change in (together, halves, *changes)]
        return [_tidy(parameters) for parameters in proposed if parameters != one]


_NOTHING = Target(0.0, None, None, 0.0)


def _structure(one: Parameters) -> tuple[object, ...]:
    """What corrections do not change."""
    return (one.controller, one.loss > 0, one.segments, one.ack_filter if one.return_rate is not None else None, one.gate is None)


def _between(old: float, new: float) -> float:
    """The geometric mean, or the half of a value that comes from nothing or goes to it."""
    mean = math.sqrt(old * new) if old > 0 and new > 0 else (old + new) / 2
    return round(mean) if isinstance(old, int) else mean


def _steps(tried: _Tried, factor: float) -> list[Parameters]:
    """The parameters with a step of each that may be wrong, both ways."""
    one = tried.parameters
    names = [name for name in ("queue", "loss", "return_rate", "gate") if getattr(one, name)]
    # A gate may hold each ACK, so that no RTT is that of the path alone; of the rate a hypothesis that left the measured one is an order of magnitude.
    names += ["base"] if one.gate is not None else []
    names += ["rate"] if one.rate > one.rate_high else []
    return [one.with_(**{name: getattr(one, name) * step}) for name in names for step in (factor, 1 / factor)]


def _tidy(one: Parameters) -> Parameters:
    """A loss rate so small that no packet of a capture is lost is none."""
    return one if one.loss > 1e-7 else one.with_(loss=0.0)


def _simulate(parameters: Parameters, seed: int) -> Target:
    from acklab.runner import run

    point = "receiver" if parameters.is_behind else "sender"
    scenario = scenario_of(parameters, seed) | {"capture": [{"point": point, "file": "path.pcapng"}]}
    with tempfile.TemporaryDirectory() as folder:
        run(scenario, captures=folder)
        ways = inspect(Path(folder) / "path.pcapng").ways
    return Target.of(ways[0]) if ways else _NOTHING


def _bounded(factor: float) -> float:
    return min(max(factor, 1 / _STEP), _STEP)
