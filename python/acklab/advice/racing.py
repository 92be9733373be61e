"""Races candidates over the scenarios of a path.

All candidates run over a few scenarios, the better candidates over more, and the best over all. So
candidates that cannot win cost little time.

This is successive halving (Jamieson and Talwalkar, AISTATS 2016) by scenarios. All candidates of a
round run over the same scenarios with the same seeds, so their differences are not random. The
result depends only on the path and on the effort, not on the time that runs take.
"""

import math
import os
import statistics
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from acklab import core
from acklab.advice.candidates import TODAY, Candidate
from acklab.advice.paths import MEMBERS, Path, start_of
from acklab.advice.uses import Use
from acklab.errors import Cancelled, RunError, ScenarioError
from acklab.runner import run
from acklab.scenario import Source

ROUNDS = ((3, 4), (8, 2), (MEMBERS, 2))
"""For each round: the number of scenarios, and the number of candidates for the next round in
addition to the present settings; *chosen*.
"""
EQUAL = 0.02
"""Scores are regarded as equal if they differ from the best by at most this share."""
AGAIN = 1000
"""Offset of the seeds of the runs that confirm the winner of the first runs."""


@dataclass(frozen=True)
class Standing:
    """The gains of a candidate over today in the last round that it ran in."""

    candidate: Candidate
    round: int
    scores: tuple[float | None, ...]
    """Scores by member; None if a run did not complete."""
    gains: tuple[float, ...]
    """The candidate's score relative to today's, or the inverse for times and delays: values above
    1 are better.

    Infinite or 0 if only one of the two runs completed.
    """

    @property
    def gain(self) -> float:
        """Returns the median gain."""
        return statistics.median(self.gains) if self.gains else 0.0


class Racer:
    """Runs simulations on several threads; the core releases the interpreter's lock during a run.

    No run is made twice.
    """

    def __init__(self, path: Path, duration: float, jobs: int | None = None, cancel: core.Cancel | None = None) -> None:
        self.path = path
        self.duration = duration
        self.runs = 0
        self._pool = ThreadPoolExecutor(jobs or os.cpu_count())
        self._cancel = cancel
        self._done: dict[tuple[str, str, int, float, int], float | None] = {}

    def scores(
        self, use: Use, candidates: Sequence[Candidate], count: int, seconds: float, again: int = 0
    ) -> dict[str, tuple[float | None, ...]]:
        """Returns the scores over the first `count` members, by candidate.

        `again` is added to the members' seeds.
        """
        wanted = [(candidate, member) for member in range(count) for candidate in candidates]
        keys = [(use.name, candidate.name, member, seconds, again) for candidate, member in wanted]
        new = [(key, job) for key, job in zip(keys, wanted, strict=True) if key not in self._done]
        self.runs += len(new)
        found = self._pool.map(lambda one: self.score(use, one[1][0], one[1][1], seconds, again), new)
        self._done |= {key: score for (key, _), score in zip(new, found, strict=True)}
        return {
            candidate.name: tuple(self._done[use.name, candidate.name, member, seconds, again] for member in range(count))
            for candidate in candidates
        }

    def score(self, use: Use, candidate: Candidate, member: int, seconds: float, again: int) -> float | None:
        """Returns the score of one run.

        If the use ends by itself, the run is repeated with longer durations until the use
        completes.
        """
        one = self.path.members[member]
        seed = one.seed + again
        for length in use.seconds or (max(seconds, use.min_seconds * seconds / self.duration),):
            source = Source.of(self.path.scenario(one, use, candidate, length), self.path.folder)
            flows = [flow["name"] for flow in use.flows(one.base, candidate)]
            start = [f"flow.advised.start={start_of(seed)}"] if "advised" in flows else []
            try:
                score = use.score(run(source, seed=seed, set=start, cancel=self._cancel))
            except Cancelled:
                raise
            except (ScenarioError, RunError):
                if candidate.name == TODAY:
                    raise
                # A candidate has no score if the path does not support its transport, such as QUIC
                # through a TCP proxy.
                return None
            if score is not None:
                return score
        return None


def gains_of(use: Use, values: Sequence[float | None], today: Sequence[float | None]) -> tuple[float, ...]:
    """Returns the gains of scores over today's, pair by pair."""

    def gain(value: float | None, base: float | None) -> float:
        if value is None or value <= 0:
            return 1.0 if base is None or base <= 0 else 0.0
        if base is None or base <= 0:
            return math.inf
        return value / base if use.is_better_high else base / value

    return tuple(gain(value, base) for value, base in zip(values, today, strict=True))


def race(racer: Racer, use: Use, candidates: Sequence[Candidate]) -> list[Standing]:
    """Returns the standings of all candidates except today's, the best first.

    Stops after a round in which no candidate is better than today's settings by more than 2 %.
    """
    today, *alive = candidates
    standings: dict[str, Standing] = {}
    for number, (count, kept) in enumerate(ROUNDS):
        scores = racer.scores(use, [today, *alive], min(count, len(racer.path.members)), racer.duration)
        for one in alive:
            standings[one.name] = Standing(one, number, scores[one.name], gains_of(use, scores[one.name], scores[today.name]))
        alive = sorted(alive, key=lambda one: -standings[one.name].gain)[:kept]
        if not alive or standings[alive[0].name].gain < 1 + EQUAL:
            break
    return sorted(standings.values(), key=lambda one: (-one.round, -one.gain))


def scores_by_name(scores: Mapping[str, Sequence[float | None]], name: str) -> list[float]:
    """Returns the existing scores of a candidate."""
    return [score for score in scores[name] if score is not None]
