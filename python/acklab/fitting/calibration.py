"""The scenario of a path is simulated, captured and inspected in the same way as the path, and corrected until both agree."""

import math
import os
import tempfile
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from acklab.fitting.link import ranges_for, scenario_of, toml_of
from acklab.fitting.parameters import Parameters, Target, ack_rate, estimate, largest
from acklab.inspection.model import Inspection, Way, inspect

_REFINED = 4
"""Hypotheses that are corrected."""
_RECEIVERS = (1, 2, 4, 8)
"""Segments to an ACK that are tried beside what the capture shows."""
_THINNED = 1.2
"""Segments to an ACK from which something may thin the ACKs of a receiver that acknowledges each segment."""
_WAITS = 1.3
"""The 95th percentile of the RTT / the least from which a gate may hold ACKs."""
_FINEST = 0.5
"""Milliseconds of the shortest gate that is tried: that of a Wi-Fi exchange."""
_FACTORS = (1.5, 1.15)
"""Steps of a parameter."""
_GAIN = 0.05
"""The share of the largest error by which a correction must reduce it to be followed by another."""
_ENOUGH = 0.03
"""Relative error at which a fit is good enough to stop."""
_STEP = 4.0
"""Largest factor by which one round changes a parameter."""
_MOST = 4e7
"""Packets that are simulated at most, but for the round that exceeds them: a minute on two cores."""
_SPREAD = 0.95
"""Waits for a gate are spread evenly over its period, so that their 95th percentile is this share of it."""


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

    Several hypotheses of the controller, the receiver, the return path and the cause of losses are simulated. Those that come closest are corrected (queue, random loss,
    return path, and what else limits) until the goodput, the median RTT and the ratio of segments to ACKs of a simulation, which is captured at the same side of the bottleneck and
    inspected in the same way, agree with those of the capture; `errors` tells how well they do. Raises UsageError if the capture tells too little.
    """
    found = capture if isinstance(capture, Inspection) else inspect(capture)
    way = largest(found)
    target = Target.of(way)
    best = _Calibration(way, target, watch).best()
    scenario = scenario_of(best.parameters)
    ranges = ranges_for(best.parameters, way["losses"]["retransmitted"] - way["losses"]["spurious"], way["data_segments"])
    errors = target.errors(best.simulated)
    notes = [
        f"The path {way['from']} → {way['to']} of {found.path.name}, by acklab fit.",
        "Simulated again, " + ", ".join(f"its {name} differs by {100 * error:+.1f} %" for name, error in errors.items()) + ".",
    ]
    return Fit(scenario, ranges, target, best.simulated, errors, toml_of(scenario, ranges, notes))


@dataclass(frozen=True)
class _Tried:
    """Parameters that were simulated."""

    parameters: Parameters
    simulated: Target
    worst: float
    """The largest relative error."""


class _Calibration:
    """The search for parameters. Its result depends on the capture alone, not on the time or the number of threads."""

    def __init__(self, way: Way, target: Target, watch: Callable[[float], None] | None) -> None:
        self._way, self._target, self._watch = way, target, watch
        self._rate_is_open = way["rate"] is None or way["rate_is_lower_bound"]
        self._tried: dict[Parameters, _Tried] = {}
        self._work = 0.0

    def best(self) -> _Tried:
        """The parameters whose simulation comes closest."""
        first = estimate(self._way)
        self._try(self._of_sender(first))
        if not self._is_done():
            best_by_controller: dict[str, _Tried] = {}
            for tried in self._closest(len(self._tried)):
                best_by_controller.setdefault(tried.parameters.controller, tried)
            for closest in best_by_controller.values():
                self._try(self._variants(closest.parameters))
        refined: set[tuple[object, ...]] = set()
        while not self._is_done() and len(refined) < _REFINED:
            start = next((one for one in self._closest(len(self._tried)) if _structure(one.parameters) not in refined), None)
            if start is None:
                break
            refined.add(_structure(start.parameters))
            self._refine(start)
        return self._closest(1)[0]

    def _refine(self, current: _Tried) -> None:
        """Corrects by what the differences ask for, and where that does not help by steps of one parameter at a time, which shrink (Hooke and Jeeves, JACM 8(2), 1961)."""
        ways: list[Callable[[_Tried], list[Parameters]]] = [
            self._corrections,
            *(partial(_steps, factor=factor) for factor in _FACTORS),
        ]
        while ways:
            proposed = ways[0](current)
            self._try(proposed)
            best = min((self._tried[one] for one in proposed), key=lambda one: one.worst, default=current)
            if self._is_done():
                return
            if best.worst < (1 - _GAIN) * current.worst:
                current = best
            else:
                ways.pop(0)

    def _is_done(self) -> bool:
        return self._work > _MOST or self._closest(1)[0].worst <= _ENOUGH

    def _closest(self, count: int) -> list[_Tried]:
        """Those that come closest; of equals the earliest."""
        return sorted(self._tried.values(), key=lambda one: one.worst)[:count]

    def _try(self, proposed: Iterable[Parameters]) -> None:
        """Simulates parameters that were not simulated yet, side by side."""
        new = [one for one in dict.fromkeys(proposed) if one not in self._tried]
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            for parameters, simulated in zip(new, pool.map(_simulate, new), strict=True):
                errors = [abs(error) for error in self._target.errors(simulated).values()] if simulated else [math.inf]
                self._tried[parameters] = _Tried(parameters, simulated or _NOTHING, max(errors, default=0.0))
                goodput = simulated.goodput if simulated else parameters.rate
                self._work += goodput * 1e6 / 8 / parameters.packet * parameters.duration
        if self._watch is not None:
            self._watch(min(self._work / _MOST, 1.0))

    def _of_sender(self, first: Parameters) -> list[Parameters]:
        """Controllers, and causes of losses: a queue that is full, or the channel. What is in flight after a loss tells families of controllers apart, and not members of a family."""
        controllers = dict.fromkeys([first.controller, "cubic", "bbr", "newreno"])
        losses = dict.fromkeys([first.loss, 0.0])
        return [first.with_(controller=controller, loss=loss) for controller in controllers for loss in losses]

    def _variants(self, one: Parameters) -> list[Parameters]:
        """Receivers, return paths and queues that look alike: ACKs that many losses or a box have changed tell little of the receiver, and waits may be those of ACKs."""
        rate, ratio, times = ack_rate(self._way), self._target.ack_ratio, self._way["round_trip"]
        returns = [one]
        if one.is_behind:
            # ACKs that a gate behind the point of capture holds show in the RTT only.
            if one.gate is None and times["p95"] is not None and times["p95"] > _WAITS * one.base:
                waits = (times["median"] or one.base) - one.base
                # Its waits are all there are, or a sender that takes bursts for a faster path adds to them.
                periods = [(times["p95"] - one.base) / _SPREAD, 2 * waits, waits / 4]
                returns += [one.with_(gate=period) for period in periods if period > _FINEST]
        elif rate is not None and ratio is not None and ratio > _THINNED:
            filters = ("ack-filter", "cake-ack-filter")
            returns += [
                one.with_(return_rate=one.return_rate or rate, ack_filter=discipline, gate=None) for discipline in filters
            ]
        packets_per_ms = one.rate * 1e3 / (one.packet * 8)
        median = max((times["median"] or one.base) - one.base, 0.0) * packets_per_ms
        queues = [one.queue, max(median, 4.0), max(one.base * packets_per_ms, 4.0)]
        usual = [one.segments, *(segments for segments in _RECEIVERS if ratio is None or segments <= max(2, 4 * ratio))]
        return [
            path.with_(segments=segments, queue=queue)
            for path in returns
            for segments in dict.fromkeys(usual)
            for queue in queues
        ]

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
    return [one.with_(**{name: getattr(one, name) * step}) for name in names for step in (factor, 1 / factor)]


def _tidy(one: Parameters) -> Parameters:
    """A loss rate so small that no packet of a capture is lost is none."""
    return one if one.loss > 1e-7 else one.with_(loss=0.0)


def _simulate(parameters: Parameters) -> Target | None:
    from acklab.runner import run

    point = "receiver" if parameters.is_behind else "sender"
    scenario = scenario_of(parameters) | {"capture": [{"point": point, "file": "path.pcapng"}]}
    with tempfile.TemporaryDirectory() as folder:
        run(scenario, captures=folder)
        ways = inspect(Path(folder) / "path.pcapng").ways
    return Target.of(ways[0]) if ways else None


def _bounded(factor: float) -> float:
    return min(max(factor, 1 / _STEP), _STEP)
