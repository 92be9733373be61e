"""What a choice costs: others on the path, the start of transfers, the return path, and behavior under loss."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from acklab.advice.candidates import Candidate
from acklab.advice.racing import Racer
from acklab.advice.uses import PATIENCE, Use, _bulk, _flow, _of, _others
from acklab.result import Result

_SEEDS = (1, 2)
_SHARE = 0.5
"""Of the duration of a run in full."""
_NEIGHBOUR = {"protocol": "tcp", "preset": "linux", "congestion": {"algorithm": "cubic"}, "ack": {"policy": "linux"}}
_LOSS = 0.01
"""Probability of the test under loss."""
_NOTABLE = 0.05
"""A change by so much is told as harm."""


@dataclass(frozen=True)
class Harm:
    """A quantity with a choice and as it is today, as a mean over seeds."""

    what: str
    unit: str
    chosen: float | None
    today: float | None
    is_better_high: bool

    @property
    def is_harm(self) -> bool:
        """Whether the choice is notably worse than today."""
        if self.chosen is None:
            return self.today is not None
        if self.today is None or self.today <= 0 or self.chosen <= 0:
            return False
        ratio = self.chosen / self.today
        return ratio < 1 - _NOTABLE if self.is_better_high else ratio > 1 + _NOTABLE

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return {"what": self.what, "unit": self.unit, "chosen": self.chosen, "today": self.today, "harm": self.is_harm}


def _beside(base: Mapping[str, Any], candidate: Candidate) -> list[dict[str, Any]]:
    flow = base["flow"][0]
    neighbour = {
        "name": "neighbour",
        "from": flow["from"],
        "to": flow["to"],
        "transport": _NEIGHBOUR,
        "traffic": {"model": "greedy"},
    }
    return [_flow(base, candidate, traffic={"model": "greedy"}), neighbour, *_others(base)]


def _short(base: Mapping[str, Any], candidate: Candidate) -> list[dict[str, Any]]:
    return [_flow(base, candidate, traffic={"model": "fixed", "size": "1MB"}), *_others(base)]


def _ack_rate(result: Result) -> float | None:
    octets, share = _of(result, "advised", "total_ack_bytes_l3"), _of(result, "advised", "mean_throughput_l7")
    data = _of(result, "advised", "total_delivered_bytes_l7")
    # Octets of ACKs to a kilobyte of data, so that a faster transfer is not worse for its ACKs.
    return None if octets is None or not data or share is None else 1e3 * octets / data


_TESTS: Sequence[tuple[Use, bool]] = (
    (
        Use("download", "goodput of a download", "Mbps", True, _bulk, lambda result: _of(result, "advised", "mean_throughput_l7")),
        False,
    ),
    (Use("fairness", "goodput of a TCP CUBIC beside it", "Mbps", True, _beside, lambda result: _of(result, "neighbour", "mean_throughput_l7")), False),
    (Use("start", "time for the first megabyte", "s", False, _short, lambda result: _of(result, "advised", "flow_completion_time_l4"), seconds=PATIENCE), False),
    (Use("return", "octets of ACKs to a kB of data", "B", False, _bulk, _ack_rate), False),
    (Use("loss", "goodput with 1 % random loss", "Mbps", True, _bulk, lambda result: _of(result, "advised", "mean_throughput_l7")), True),
)  # fmt: skip


def harm(racer: Racer, chosen: Candidate, today: Candidate, until: float) -> list[Harm]:
    """The costs of a choice beside what is there today, of the tests that are over by the instant `until`: all with one seed, and then with another."""
    lossy = racer.with_base(_lossy(racer.path.base))
    seconds = _SHARE * racer.path.duration
    found: dict[str, Harm] = {}
    for count in range(1, len(_SEEDS) + 1):
        for test, is_lossy in _TESTS:
            scores = (lossy if is_lossy else racer).scores(test, [chosen, today], seconds, _SEEDS[:count], until)
            if all(len(of) == count for of in scores.values()):
                found[test.title] = Harm(
                    test.title, test.unit, _mean(scores[chosen.name]), _mean(scores[today.name]), test.is_better_high
                )
    return [found[test.title] for test, _ in _TESTS if test.title in found]


def _lossy(base: Mapping[str, Any]) -> dict[str, Any]:
    """The scenario with random loss on the first link of those that have none."""
    links = [dict(link) for link in base.get("link") or []]
    for link in links[:1]:
        link["forward"] = dict(link["forward"]) | {"loss": {"model": "independent", "probability": _LOSS}}
    return dict(base) | {"link": links}


def _mean(scores: Mapping[int, float | None]) -> float | None:
    values = [value for value in scores.values() if value is not None]
    return sum(values) / len(values) if len(values) == len(scores) else None


TESTS = tuple(test.title for test, _ in _TESTS)
"""What is tested, if the time allows."""
