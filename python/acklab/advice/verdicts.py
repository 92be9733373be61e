"""Finds the verdict for a use: a recommendation, or "nothing to recommend".

A recommendation includes the gain. Otherwise, the verdict gives the reason, and the measurement
that would allow a recommendation.
"""

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from acklab.advice.candidates import TODAY, Candidate
from acklab.advice.harm import Harm, harms
from acklab.advice.paths import MEMBERS
from acklab.advice.racing import AGAIN, EQUAL, ROUNDS, Racer, Standing, gains_of, race
from acklab.advice.stacks import Stack, switches
from acklab.advice.uses import BACK, Use

_LONGER = 2.0
"""Factor on the duration of the confirming runs, in which the same candidate must win again."""


@dataclass(frozen=True)
class Range:
    """The median of numbers, with their minimum and maximum."""

    median: float
    low: float
    high: float
    count: int

    @classmethod
    def of(cls, values: Sequence[float]) -> "Range | None":
        """Returns the range of these values; None if there are none."""
        return cls(statistics.median(values), min(values), max(values), len(values)) if values else None

    def to_dict(self) -> dict[str, Any]:
        """Returns plain values."""
        return {"median": self.median, "low": self.low, "high": self.high, "runs": self.count}


@dataclass(frozen=True)
class Verdict:
    """The answer for one use."""

    use: Use
    today: Range | None
    """Score of today's settings."""
    winner: Candidate | None
    """The recommended candidate; None if there is nothing to recommend."""
    gain: Range | None
    """Score of the winner relative to the present score, or the inverse for times and delays.

    Values above 1 are better.
    """
    reason: str
    """Reason for no recommendation; empty for a recommendation."""
    settle: str
    """Measurement that would allow a recommendation, in one line."""
    standings: tuple[Standing, ...]
    """The candidates, the best first."""
    equals: tuple[str, ...]
    """Other candidates whose scores differ from the winner's by at most 2 %."""
    harms: tuple[Harm, ...]
    """Measured costs of the winner."""
    switches: tuple[Stack, ...]
    """Commands that enable the winner."""

    def to_dict(self) -> dict[str, Any]:
        """Returns plain values."""
        return {
            "use": self.use.name,
            "metric": self.use.quantity,
            "unit": self.use.unit,
            "better": "high" if self.use.is_better_high else "low",
            "today": None if self.today is None else self.today.to_dict(),
            "winner": None if self.winner is None else self.winner.name,
            "reach": None if self.winner is None else self.winner.reach,
            "transport": None if self.winner is None or self.winner.transport is None else dict(self.winner.transport),
            "queues": None if self.winner is None else {name: dict(queue) for name, queue in self.winner.queues.items()},
            "gain": None if self.gain is None else self.gain.to_dict(),
            "as_good": list(self.equals),
            "nothing": self.reason or None,
            "settle": self.settle or None,
            "standings": [
                {"candidate": one.candidate.name, "reach": one.candidate.reach, "runs": len(one.gains), "gain": one.gain}
                for one in self.standings
            ],
            "harms": [one.to_dict() for one in self.harms],
            "switches": [one.to_dict() for one in self.switches],
        }


def nothing(use: Use, reason: str, settle: str = "", today: Range | None = None, standings: Sequence[Standing] = ()) -> Verdict:
    """Returns the verdict "nothing to recommend"."""
    return Verdict(use, today, None, None, reason, settle, tuple(standings), (), (), ())


def verdict(racer: Racer, use: Use, candidates: Sequence[Candidate]) -> Verdict:
    """Returns the verdict for a use whose directions are known.

    Runs the race, then confirms the winner with other seeds and twice the duration.
    """
    unknown = {need: racer.path.unknown[need] for need in use.needs if need in racer.path.unknown}
    if racer.path.blocked is not None:
        return nothing(use, racer.path.blocked, racer.path.settled_by)
    if unknown:
        need = next(iter(unknown))
        return nothing(use, unknown[need], racer.path.settles[need])
    if BACK in racer.path.unknown:
        # The return path has carried today's number of ACKs. Whether it can carry more ACKs is not
        # known.
        candidates = [one for one in candidates if not one.adds_acks and not one.queues]
    first = racer.scores(use, candidates[:1], min(ROUNDS[0][0], len(racer.path.members)), racer.duration)[TODAY]
    today = Range.of([score for score in first if score is not None])
    if use.perfect is not None and today is not None and today.low >= use.perfect:
        return nothing(use, f"{use.quantity} is {use.perfect:.4g} {use.unit} today", today=today)
    standings = race(racer, use, candidates)
    if not standings or standings[0].gain < 1 + EQUAL:
        return nothing(use, "nothing that can act on this path is better by more than 2 %", today=today, standings=standings)
    return _confirmed(racer, use, candidates[0], standings)


def _confirmed(racer: Racer, use: Use, today: Candidate, standings: Sequence[Standing]) -> Verdict:
    best = standings[0]
    rivals = [one for one in standings[:2] if one.round == best.round]
    count = len(racer.path.members)
    if count < MEMBERS:
        return nothing(use, f"{count} scenarios, of which an interval needs {MEMBERS}", standings=standings)
    short = racer.scores(use, [today, *(one.candidate for one in rivals)], count, racer.duration)
    long = racer.scores(use, [today, *(one.candidate for one in rivals)], count, _LONGER * racer.duration, AGAIN)
    scores = [score for score in (*short[TODAY], *long[TODAY]) if score is not None]
    shown = Range.of(scores)
    if not scores:
        return nothing(use, "no run of today's flow reached its end", standings=standings)

    def longer(one: Standing) -> float:
        return statistics.median(gains_of(use, long[one.candidate.name], long[TODAY]))

    again = max(rivals, key=longer)
    if again is not best and longer(again) > (1 + EQUAL) * longer(best):
        reason = (
            f"{best.candidate.name} wins in {racer.duration:.3g} s and {again.candidate.name} in {_LONGER * racer.duration:.3g} s"
        )
        return nothing(use, reason, "a longer capture, of a minute or more", shown, standings)
    gains = [
        *gains_of(use, short[best.candidate.name], short[TODAY]),
        *gains_of(use, long[best.candidate.name], long[TODAY]),
    ]
    gain = (
        Range.of([one for one in gains if math.isfinite(one)])
        if all(map(math.isfinite, gains))
        else Range(statistics.median(gains), min(gains), math.inf, len(gains))
    )
    assert gain is not None
    # Gains of at most 2 % are regarded as no change, so the interval must lie above 2 %.
    if gain.low <= 1 + EQUAL:
        reason = f"{best.candidate.name} may be {gain.median:.2f}× today's {use.quantity}, and may be no better ({gain.low:.2f} to {gain.high:.2f})"
        return nothing(use, reason, "", shown, standings)
    equals = tuple(
        one.candidate.name for one in standings[1:] if one.round == best.round and abs(one.gain / best.gain - 1) <= EQUAL
    )
    over_wifi = bool(racer.path.base.get("wifi"))
    costs = harms(racer, use, today, best.candidate)
    return Verdict(
        use,
        shown,
        best.candidate,
        gain,
        "",
        "",
        tuple(standings),
        equals,
        tuple(costs),
        tuple(switches(best.candidate, over_wifi)),
    )
