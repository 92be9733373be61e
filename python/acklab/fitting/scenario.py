"""Builds a scenario from the values of a path's quantities."""

from dataclasses import dataclass, replace
from typing import Any

from acklab.fitting.application import BULK, Application
from acklab.fitting.observed import Observed
from acklab.fitting.path import ACKS_WAIT, BACK, BACK_QUEUE, DELAYS, FORWARD, QUEUE
from acklab.fitting.quantity import written
from acklab.fitting.stack import Stack

_LONGEST, _SHORTEST = 30.0, 2.0
"""Maximum and minimum seconds of a simulation. Start-up has little weight in the longest
simulation, and the shortest has several round trips; *chosen*.
"""
_TRIPS = 40
"""Minimum round trips of a simulation; *chosen*."""
_PACKETS = 8e4
"""Maximum packets of a simulation, so that a search takes half a minute on two cores."""


@dataclass(frozen=True)
class Values:
    """A point of the space of scenarios. Rates are in Mbps, times in ms."""

    rate: float
    base: float
    """One-way propagation."""
    queue: float
    loss: float
    controller: str
    back_queue: float = ACKS_WAIT
    back_rate: float | None = None
    """None if the return path carried all ACKs and nothing shows its rate."""
    filter: str | None = None
    """Discipline that thins ACKs on the return path, if there is one."""
    gate: float | None = None
    """The period of a gate on the return path."""

    def with_(self, **changes: Any) -> "Values":
        """Returns the values with some changes."""
        return replace(self, **changes)

    def sets(self) -> list[str]:
        """Returns the assignments that set these values in the base scenario."""
        named = {FORWARD: ("Mbps", self.rate), QUEUE: ("packets", max(round(self.queue), 1)), DELAYS[0]: ("ms", self.base)}
        named[DELAYS[1]] = ("ms", self.base)
        if self.back_rate is not None:
            named |= {BACK: ("Mbps", self.back_rate), BACK_QUEUE: ("packets", max(round(self.back_queue), 1))}
        found = [f"{key}={written(value, unit)}" for key, (unit, value) in named.items()]
        if self.loss > 0:
            found.append(f'link.path.forward.loss={{ model = "independent", probability = {self.loss:.3g} }}')
        if self.filter is not None:
            found.insert(0, f"link.path.reverse.queue.discipline={self.filter}")
        return [*found, f"flow.transfer.transport.congestion.algorithm={self.controller}"]


def seconds_of(observed: Observed, values: Values) -> float:
    """Returns the simulated seconds: the duration of the transfer, within bounds."""
    packets = values.rate * 1e6 / 8 / observed.way["packet_octets"]
    most = min(_LONGEST, max(_PACKETS / packets, _SHORTEST))
    return min(max(observed.way["duration"], _SHORTEST, _TRIPS * 2 * values.base / 1e3), most)


def scenario_of(
    observed: Observed, stack: Stack, application: Application, values: Values | None, seconds: float, seed: int
) -> dict[str, Any]:
    """Returns the scenario as a dict, without unknown quantities."""
    forward: dict[str, Any] = {}
    reverse: dict[str, Any] = {}
    transport = dict(stack.transport)
    if values is not None:
        way = {"delay": written(values.base, "ms")}
        forward = {
            "rate": written(values.rate, "Mbps"),
            **way,
            "queue": {"discipline": "fifo", "limit": written(max(round(values.queue), 1), "packets")},
        }
        if values.loss > 0:
            forward["loss"] = {"model": "independent", "probability": float(f"{values.loss:.3g}")}
        reverse = dict(way)
        if values.back_rate is not None:
            reverse["rate"] = written(values.back_rate, "Mbps")
            reverse["queue"] = {
                "discipline": values.filter or "fifo",
                "limit": written(max(round(values.back_queue), 1), "packets"),
            }
        if values.gate is not None:
            reverse["gate"] = _gate(observed, values)
        transport["congestion"] = {"algorithm": values.controller}
    flow = {"name": "transfer", "from": "sender", "to": "receiver", "transport": transport, **application.settings}
    flows = [flow]
    if observed.beside and application.kind == BULK:
        flows.append(dict(flow) | {"name": "beside", "count": observed.beside})
    return {
        "title": "A fitted path",
        "duration": f"{seconds:.4g}s",
        "seed": seed,
        "link": [{"name": "path", "from": "sender", "to": "receiver", "forward": forward, "reverse": reverse}],
        "flow": flows,
    }


def _gate(observed: Observed, values: Values) -> dict[str, Any]:
    """Returns a gate with a quota of twice the ACKs of a period."""
    assert values.gate is not None
    acks = observed.way["acks"]
    ratio = (acks["ratio"] if acks else None) or 2.0
    waiting = values.rate * 1e3 / (observed.way["packet_octets"] * 8) / ratio * values.gate
    return {"interval": f"{values.gate:.4f}ms", "quota": 2 * int(waiting) + 2}
