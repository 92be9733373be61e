"""Measures the costs of a change.

The costs concern other flows on the path, latency, the start of transfers, the return path, and the
opposite direction.
"""

import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from acklab.advice.candidates import TODAY, Candidate
from acklab.advice.racing import Racer, gains_of
from acklab.advice.uses import (
    BACK,
    DELAY,
    FORWARD,
    PATIENCE,
    Use,
    _flow,
    _greedy,
    _others,
    download,
    goodput,
    probed,
    probes,
    upload,
    value_of,
)
from acklab.result import Result

_MEMBERS = 10
"""Number of scenarios over which each cost is measured; *chosen*."""
_NOTABLE = 0.05
"""The minimum change that is reported as harm; *chosen*."""
_NEIGHBOUR = {"protocol": "tcp", "preset": "linux", "congestion": {"algorithm": "cubic"}, "ack": {"policy": "linux"}}


@dataclass(frozen=True)
class Harm:
    """Medians of a quantity over scenarios, with the chosen change and with today's settings."""

    what: str
    unit: str
    today: float | None
    chosen: float | None
    ratio: float
    """The median gain relative to today's settings; values below 1 are worse."""
    quartile: float
    """The lower quartile of the gain: a quarter of the scenarios have at most this gain."""

    @property
    def is_harm(self) -> bool:
        """Returns `True` if the change is notably worse than today in a quarter of the scenarios.

        The quartile is used because a median may hide harm to other flows. This harm may depend on
        quantities that a capture does not show, such as the queue behind a sender with BBR.
        """
        return self.quartile < 1 - _NOTABLE

    @property
    def is_usual(self) -> bool:
        """Returns `True` if the change is notably worse than today in most scenarios."""
        return self.ratio < 1 - _NOTABLE

    def to_dict(self) -> dict[str, Any]:
        """Returns plain values."""
        return {
            "what": self.what,
            "unit": self.unit,
            "chosen": self.chosen,
            "today": self.today,
            "quartile": self.quartile,
            "harm": self.is_harm,
        }


def _beside(base: Mapping[str, Any], candidate: Candidate) -> list[dict[str, Any]]:
    neighbour = _flow(base, Candidate(TODAY), "neighbour", traffic={"model": "greedy"}) | {"transport": _NEIGHBOUR}
    return [_greedy(base, candidate), neighbour, *_others(base)]


def _short(base: Mapping[str, Any], candidate: Candidate) -> list[dict[str, Any]]:
    return [_flow(base, candidate, traffic={"model": "fixed", "size": "1MB"}), *_others(base)]


def _probed(base: Mapping[str, Any], candidate: Candidate) -> list[dict[str, Any]]:
    return [_greedy(base, candidate), *probes(base), *_others(base)]


def _of(flow: str, column: str) -> Callable[[Result], float | None]:
    return lambda result: value_of(result, flow, column)


TESTS: Sequence[Use] = (
    Use("harm-download", "goodput of a download", "", "Mbps", True, download, goodput, (FORWARD,)),
    Use("harm-upload", "goodput of an upload", "", "Mbps", True, upload, goodput, (BACK,)),
    Use(
        "harm-others",
        "goodput of a TCP CUBIC beside it",
        "",
        "Mbps",
        True,
        _beside,
        _of("neighbour", "mean_throughput_l7"),
        (FORWARD,),
    ),
    Use("harm-latency", "latency beside a download, p95", "", "ms", False, _probed, probed, DELAY),
    Use(
        "harm-start",
        "time for the first megabyte",
        "",
        "s",
        False,
        _short,
        _of("advised", "flow_completion_time_l4"),
        (FORWARD,),
        PATIENCE,
    ),
)
"""Measured costs of a change outside the use that it was chosen for."""


def harms(racer: Racer, use: Use, today: Candidate, chosen: Candidate) -> list[Harm]:
    """Returns the costs of a chosen change relative to today's settings.

    Omits costs that depend on unknown directions of the path.
    """
    count = min(_MEMBERS, len(racer.path.members))
    found = []
    tests = [*(test for test in TESTS if test.flows is not use.flows), *use.beside]
    for test in tests:
        if any(need in racer.path.unknown for need in test.needs):
            continue
        scores = racer.scores(test, [today, chosen], count, racer.duration)
        gains = sorted(gains_of(test, scores[chosen.name], scores[today.name]))
        before, after = _median(scores[today.name]), _median(scores[chosen.name])
        found.append(Harm(test.title, test.unit, before, after, statistics.median(gains), gains[(len(gains) - 1) // 4]))
    return found


def _median(scores: Sequence[float | None]) -> float | None:
    values = [score for score in scores if score is not None]
    return statistics.median(values) if len(values) == len(scores) else None
