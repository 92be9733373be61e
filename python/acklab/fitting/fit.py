"""Fits the scenarios of a path to a capture."""

import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path as File
from typing import Any

from acklab.fitting.application import Application, application_of
from acklab.fitting.document import toml_of
from acklab.fitting.ensemble import Ensemble, Member, Space, sample
from acklab.fitting.given import given_of
from acklab.fitting.mechanisms import Test, test
from acklab.fitting.observed import Observed, observe, observe_way
from acklab.fitting.path import BACK_QUEUE, LOSS, QUEUE, Path, path_of
from acklab.fitting.quantity import ASSUMED, MEASURED, Quantity, unknown
from acklab.fitting.scenario import Values, scenario_of, seconds_of
from acklab.fitting.stack import Stack, policy_of, stack_of
from acklab.fitting.summary import Summary
from acklab.fitting.timing import timing_of
from acklab.inspection.model import Inspection, Way, inspect
from acklab.scenario import Overrides, overrides

_FILTERS = ("ack-filter", "cake-ack-filter")
"""Queue disciplines that remove ACKs: the filters of RFC 3449, section 5.2.1, and of CAKE."""


@dataclass(frozen=True)
class Fit:
    """Holds the scenario of a captured path, and each of its parameters with its evidence.

    Also holds the scenarios that repeat the capture.
    """

    observed: Observed
    path: Path
    stack: Stack
    application: Application
    tests: tuple[Test, ...]
    """Tests of the mechanisms that the capture suggests."""
    measured: Summary
    ensemble: Ensemble | None
    """None if the path cannot be simulated: a parameter is not known, or the application limited
    the transfer.
    """
    opposite: Ensemble | None
    """The scenarios that repeat the opposite transfer, which has a separate queue.

    None without an opposite transfer with a known rate.
    """
    scenario: Mapping[str, Any]
    """Returns the scenario of the closest member.

    Unknown quantities are omitted, so a run refuses an incomplete scenario.
    """

    @property
    def parameters(self) -> list[Quantity]:
        """Returns each parameter, with the part of its interval that the ensemble spans."""
        found = []
        for quantity in (*self.path.rows(), *self.stack.parameters):
            ensemble = self.opposite if quantity.key == BACK_QUEUE else self.ensemble
            spanned = _spanned(quantity, ensemble) if quantity.key in (QUEUE, BACK_QUEUE, LOSS) else None
            found.append(quantity if spanned is None else spanned)
        if (timing := timing_of(self.observed, self.path)) is not None:
            found.append(timing)
        return found

    @property
    def members(self) -> tuple[Member, ...]:
        """Returns the scenarios that repeat the capture, including the opposite transfer.

        Each scenario has the queue of one scenario of the opposite transfer.
        """
        if self.ensemble is None or (self.opposite is not None and not self.opposite.repeats):
            return ()
        if self.opposite is None:
            return self.ensemble.members
        pairs = zip(self.ensemble.members, self.opposite.members, strict=False)
        return tuple(replace(one, values=one.values.with_(back_queue=other.values.queue)) for one, other in pairs)

    @property
    def errors(self) -> dict[str, float]:
        """Returns relative errors of the closest scenario, by statistic."""
        closest = None if self.ensemble is None else self.ensemble.closest
        return {} if closest is None else self.measured.errors(closest.summary)

    @property
    def notes(self) -> list[str]:
        """Returns remarks on the fit, in sentences."""
        found = [f"The path {self.observed.name} of {self.observed.inspection.path.name}, by acklab fit."]
        if self.application.limits:
            found.append(
                f"The application limited the transfer ({self.application.kind}: {self.application.evidence}). It does not show the path's rate."
            )
        found += [f"Not known: {quantity.key}: {quantity.evidence}." for quantity in self.path.missing]
        found += [
            f"{test.name}: {'part of the path' if test.enters else 'not part of the path'}: {test.evidence}."
            for test in self.tests
        ]
        if self.opposite is not None and not self.opposite.repeats:
            found.append(
                f"{self.opposite.accepted} of {self.opposite.tried} scenarios repeat the opposite transfer: one bottleneck does not explain it."
            )
        ensemble = self.ensemble
        if ensemble is not None and ensemble.repeats:
            found.append(
                f"{ensemble.accepted} of {ensemble.tried} scenarios within these intervals repeat the capture; {len(ensemble.members)} of them are kept."
            )
        elif ensemble is not None:
            closest = ensemble.closest
            worst = {} if closest is None else self.measured.distances(closest.summary)
            name = max(worst, key=lambda key: worst[key], default="")
            differences = ", ".join(f"{key} {100 * error:+.0f} %" for key, error in self.errors.items())
            found.append(
                f"{ensemble.accepted} of {ensemble.tried} scenarios within these intervals repeat the capture: one bottleneck does not explain it"
                + (f"; the closest differs most in {name} ({differences})." if name else ".")
            )
        return found

    @property
    def toml(self) -> str:
        """Returns the scenario as TOML, with the notes as a comment and the table `fit`."""
        return toml_of(self.scenario, self.table, self.notes)

    @property
    def table(self) -> dict[str, Any]:
        """Returns the table `fit`: capture, direction, parameters and members."""
        return {
            "capture": self.observed.inspection.path.name,
            "direction": self.observed.name,
            **({"application": f"{self.application.kind}: {self.application.evidence}"} if self.application.limits else {}),
            "parameter": [quantity.row() for quantity in self.parameters],
            "member": [{"seed": one.seed, "set": one.values.sets()} for one in self.members],
        }

    def to_dict(self) -> dict[str, Any]:
        """Returns the output of `acklab fit --json`."""
        ensemble = self.ensemble
        return {
            "scenario": dict(self.scenario) | {"fit": self.table},
            "application": {"kind": self.application.kind, "evidence": self.application.evidence},
            "mechanisms": [vars(test) for test in self.tests],
            "measured": {name: one.value for name, one in self.measured.statistics.items()},
            "errors": self.errors,
            "tried": 0 if ensemble is None else ensemble.tried,
            "accepted": 0 if ensemble is None else ensemble.accepted,
        }


def fit(capture: str | File | Inspection, *, set: Overrides = (), watch: Callable[[float], None] | None = None) -> Fit:
    """Fits the scenarios of a path with one bottleneck to the largest transfer of a capture.

    The capture may also be a log in qlog.

    Rates, base RTT, queue and losses stay within the intervals of `acklab inspect`. Quantities that
    the capture does not show stay unknown, unless `set` gives them. Scenarios are simulated,
    captured at the same side of the bottleneck and inspected in the same way; those that agree with
    the capture within its intervals are the ensemble. The result depends only on the arguments.
    Raises UsageError if the capture has no connection with data.
    """
    found = capture if isinstance(capture, Inspection) else inspect(capture)
    observed = observe(found)
    path, stack, application = path_of(observed, given_of(overrides(set))), stack_of(observed), application_of(observed)
    measured = Summary.of(observed.way)
    tests: tuple[Test, ...] = ()
    ensemble = opposite = None
    if path.can_be_simulated and not application.limits:
        simulate = partial(_simulated, observed, stack, application)
        path, tests, gate = _tested(observed, path, stack, application)
        filters = _FILTERS if any(one.enters and one.name == _FILTER for one in tests) else ()
        space = Space(path, stack.controllers, filters, gate)
        ensemble = sample(space, measured, lambda values, seed: _summary(simulate(values, seed)), watch)
        opposite = _opposite(observed, path)
    closest = None if ensemble is None else ensemble.closest
    values = None if closest is None else closest.values
    seconds = seconds_of(observed, values) if values is not None else min(max(observed.way["duration"], 2.0), 30.0)
    scenario = scenario_of(observed, stack, application, values, seconds, 1 if closest is None else closest.seed)
    scenario = _with_known(scenario, path) if values is None else scenario
    return Fit(observed, path, stack, application, tests, measured, ensemble, opposite, scenario)


def _opposite(observed: Observed, path: Path) -> Ensemble | None:
    """Returns the scenarios that repeat the opposite transfer; None if its queue was not measured.

    They use the same path in the reverse direction.
    """
    way = observed.opposite
    if way is None or path.back_queue.status == ASSUMED or not (path.back_queue.is_known and path.back_rate.is_known):
        return None
    other = observe_way(observed.inspection, way)
    stack, application = stack_of(other), application_of(other)
    if application.limits:
        return None
    reversed_path = replace(path.reversed, loss=path_of(other).loss)
    space = Space(reversed_path, stack.controllers, (), None)
    return sample(space, Summary.of(way), lambda values, seed: _summary(_simulated(other, stack, application, values, seed)))


_FILTER, _GATE = "ACK filter", "ACK gate"


def _tested(
    observed: Observed, path: Path, stack: Stack, application: Application
) -> tuple[Path, tuple[Test, ...], float | None]:
    """Adds the mechanisms that pass their tests to the path.

    Returns the path, the tests, and the period of a gate.
    """
    way, tests, gate = observed.way, [], None
    acks = way["acks"]
    if acks is None or acks["ratio"] is None:
        return path, (), None
    plain = _middle(path, stack)

    def with_policy(segments: float) -> Stack:
        return replace(stack, transport=dict(stack.transport) | {"ack": policy_of(max(round(segments), 1))})

    def simpler(segments: float) -> Way | None:
        return _simulated(observed, with_policy(segments), application, replace_back(plain), 1)

    if acks["thinning"] == "thinned" and path.back_rate.status == MEASURED:
        filtered = plain.with_(filter=_FILTERS[1])
        tests.append(test(_FILTER, way, simpler, lambda _: _simulated(observed, stack, application, filtered, 1)))
        if not tests[-1].enters:
            # The pace of the ACKs equals the rate of the return path only if the path has a filter.
            path = replace(path, back_rate=path_without_filter(path.back_rate))
    elif acks["period"] is not None and acks["compressed"] is not False and way["position"] != "receiver":
        period = acks["period"]
        tests.append(
            test(
                _GATE,
                way,
                simpler,
                lambda segments: _simulated(observed, with_policy(segments), application, plain.with_(gate=period), 1),
            )
        )
        gate = period if tests[-1].enters else None
    return path, tuple(tests), gate


def replace_back(values: Values) -> Values:
    """Returns the path without a filter and its rate."""
    return values.with_(back_rate=None, filter=None)


def path_without_filter(back_rate: Quantity) -> Quantity:
    """Returns the rate of a return path as not known, because its ACKs show no filter."""
    reason = "ACKs come rarely, and the capture does not show that a return path removes them"
    return unknown(back_rate.key, back_rate.unit, reason, back_rate.source, 10.0)


def _middle(path: Path, stack: Stack) -> Values:
    """Returns the values in the middle of each interval."""
    return Values(
        rate=path.rate.middle,
        base=path.base.middle,
        queue=path.queue.middle,
        loss=0.0,
        controller=stack.controllers[0],
        back_rate=path.back_rate.middle if path.back_rate.is_known else None,
    )


def _with_known(scenario: dict[str, Any], path: Path) -> dict[str, Any]:
    """Returns the scenario with the middle of each known quantity of the link."""
    for quantity in path.rows():
        if not quantity.is_known or quantity.key == LOSS:
            continue
        _, _, direction, *rest = quantity.key.split(".")
        table = scenario["link"][0][direction]
        is_queue = quantity.key in (QUEUE, BACK_QUEUE)
        value = quantity.text(max(round(quantity.middle), 1) if is_queue else quantity.middle)
        if is_queue:
            table["queue"] = {"discipline": "fifo", "limit": value}
        else:
            table[rest[0]] = value
    return scenario


def _spanned(quantity: Quantity, ensemble: Ensemble | None) -> Quantity | None:
    """Returns the quantity with the interval of the members of an ensemble, if there are any."""
    if ensemble is None or not ensemble.repeats:
        return None
    if quantity.key == LOSS:
        # Members without loss represent all losses below the minimum of the prior.
        values = [one.values.loss for one in ensemble.members]
        values += [ensemble.space.rarest_loss] if 0.0 in values else []
    else:
        values = [one.values.queue for one in ensemble.members]
    # If the interval has no upper end, the maximum of the members only shows where the prior ends.
    high = max(values) if quantity.high is not None else None
    return replace(quantity, low=min(values), high=high, source=f"{quantity.source}; members of the ensemble")


def _summary(way: Way | None) -> Summary:
    return Summary({}) if way is None else Summary.of(way)


def _simulated(observed: Observed, stack: Stack, application: Application, values: Values, seed: int) -> Way | None:
    """Returns the transfer of a simulation.

    It is captured at the same side of the bottleneck, or logged at the same end.
    """
    from acklab.errors import AcklabError
    from acklab.runner import run

    scenario = scenario_of(observed, stack, application, values, seconds_of(observed, values), seed)
    is_behind = _is_behind(observed.way)
    with tempfile.TemporaryDirectory() as folder:
        file = File(folder) / "path.pcapng"
        try:
            if observed.is_log:
                run(scenario, qlog=folder)
                file = File(folder) / f"transfer_{'server' if is_behind else 'client'}.sqlog"
            else:
                point = "receiver" if is_behind else "sender"
                run(scenario | {"capture": [{"point": point, "file": file.name}]}, captures=folder)
            ways = inspect(file).ways
        except AcklabError:
            # A transport that delivers no data over such a path cannot repeat the capture.
            return None
    return ways[0] if ways else None


def _is_behind(way: Way) -> bool:
    """Returns `True` if the capture was taken behind the bottleneck."""
    losses = way["losses"]
    return way["position"] == "receiver" or (way["position"] == "middle" and losses["lost_before"] > losses["lost_behind"])
