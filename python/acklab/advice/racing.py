"""Racing: all candidates in short runs, the better half in longer ones, until a few are left that are run in full.

This is successive halving (Jamieson and Talwalkar, AISTATS 2016). All candidates of a round have the same seeds, so that what they differ by is not
chance.
"""

import math
import os
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from acklab.advice.candidates import TODAY, Candidate
from acklab.advice.uses import Use
from acklab.errors import RunError, ScenarioError
from acklab.runner import run
from acklab.scenario import Source
from acklab.sweeps.grid import Variation

_ROUNDS = ((0.2, 1), (0.5, 2), (1.0, 3))
"""Share of the duration and number of seeds of each round."""
_CLOSE = 1.10
"""Candidates this close to the best stay, whatever their place."""
_LAST = 6
"""Candidates that are run in full at most."""
_SPREAD = "0ms..20ms"
"""Of the start of the advised flow, which meets other flows and gates at another phase with each seed."""


@dataclass(frozen=True)
class Path:
    """A path with its uncertainty."""

    base: Mapping[str, Any]
    """The scenario in full, whose first flow is the one that is advised."""
    folder: Any
    """The folder of its trace files."""
    vary: tuple[Variation, ...]
    duration: float
    """Seconds of a run in full."""

    def scenario(self, use: Use, candidate: Candidate, duration: float) -> dict[str, Any]:
        """The scenario of a run."""
        document = {key: value for key, value in self.base.items() if key not in ("capture", "measure", "title")}
        document |= {"duration": f"{duration:.3f}s", "flow": use.flows(self.base, candidate)}
        if candidate.queue is not None:
            document |= {"link": [_with_queue(link, candidate.queue) for link in document.get("link") or []]}
        return document

    def overrides(self, seed: int) -> list[str]:
        """What a seed changes: its own number, what is uncertain, and when the flow starts."""
        start = Variation.parse("flow.advised.start", _SPREAD).draw(seed)
        return [f"seed={seed}", f"flow.advised.start={start}", *(f"{one.key}={one.draw(seed)}" for one in self.vary)]


def _with_queue(link: Mapping[str, Any], queue: Mapping[str, Any]) -> dict[str, Any]:
    """The link with another discipline in the FIFOs of both directions."""

    def changed(way: Mapping[str, Any]) -> dict[str, Any]:
        old = way.get("queue") or {}
        if old.get("discipline") != "fifo" or "rate" not in way or "mark_above" in old:
            return dict(way)
        return dict(way) | {"queue": {**queue, **{key: value for key, value in old.items() if key == "limit"}}}

    return dict(link) | {"forward": changed(link["forward"]), "reverse": changed(link["reverse"])}


@dataclass(frozen=True)
class Standing:
    """The scores of a candidate in the last round that it ran in."""

    candidate: Candidate
    round: int
    scores: Mapping[int, float | None]
    """By seed; None where a run did not reach its end."""

    def mean(self, use: Use) -> float:
        """The mean score; the worst there is if a run failed."""
        values = list(self.scores.values())
        if not values or any(value is None for value in values):
            return -math.inf if use.is_better_high else math.inf
        return math.fsum(value for value in values if value is not None) / len(values)


def better_first(use: Use, standings: Sequence[Standing]) -> list[Standing]:
    """Sorted, the best first: what got further has raced longer, and comes first."""
    sign = -1 if use.is_better_high else 1
    return sorted(standings, key=lambda one: (-one.round, sign * one.mean(use)))


class Racer:
    """Runs on some threads: the core holds no lock of the interpreter while it runs."""

    def __init__(self, path: Path, jobs: int | None = None) -> None:
        self.path = path
        self.pool = ThreadPoolExecutor(jobs or os.cpu_count() or 1)

    def scores(
        self, use: Use, candidates: Sequence[Candidate], duration: float, seeds: Sequence[int]
    ) -> dict[str, dict[int, float | None]]:
        """The scores of candidates, by name and seed."""
        jobs = [(candidate, seed) for candidate in candidates for seed in seeds]
        values = self.pool.map(lambda job: self._score(use, job[0], duration, job[1]), jobs)
        scores: dict[str, dict[int, float | None]] = {candidate.name: {} for candidate in candidates}
        for (candidate, seed), value in zip(jobs, values, strict=True):
            scores[candidate.name][seed] = value
        return scores

    def _score(self, use: Use, candidate: Candidate, duration: float, seed: int) -> float | None:
        source = Source.of(self.path.scenario(use, candidate, use.seconds or duration), self.path.folder)
        try:
            return use.score(run(source, set=self.path.overrides(seed)))
        except (ScenarioError, RunError):
            if candidate.name == TODAY:
                raise
            # A transport that the path cannot carry, such as QUIC through a proxy for TCP, is no choice.
            return None


def race(
    racer: Racer,
    use: Use,
    candidates: Sequence[Candidate],
    until: float,
    watch: Callable[[], None] | None = None,
) -> list[Standing]:
    """The standings of all candidates, the best first. `until` is the instant of `time.monotonic` at which an answer is wanted.

    The last round has as many candidates and seeds as the time allows, judged by what runs have taken so far, but one candidate besides that of today.
    """
    alive = list(candidates)
    standings: dict[str, Standing] = {}
    pace: float | None = None
    for number, (share, count) in enumerate(_ROUNDS):
        left = until - time.monotonic()
        if pace is not None:
            # Runs cost as their simulated time does.
            affordable = int(left / (pace * share * count)) if pace > 0 else len(alive)
            if number > 0 and affordable < 2:
                break
            alive = alive[: max(affordable, 2)]
        start = time.monotonic()
        scores = racer.scores(use, alive, share * racer.path.duration, range(1, count + 1))
        pace = (time.monotonic() - start) / (len(alive) * count * share)
        standings |= {one.name: Standing(one, number, scores[one.name]) for one in alive}
        if watch is not None:
            watch()
        alive = _survivors(use, [standings[one.name] for one in alive], number)
    return better_first(use, list(standings.values()))


def _survivors(use: Use, standings: Sequence[Standing], number: int) -> list[Candidate]:
    """The better half, all that are close to the best, and the candidate of today, which the others are compared with."""
    order = better_first(use, standings)
    best = order[0].mean(use)
    close = [one for one in order if _ratio(best, one.mean(use), use) < _CLOSE]
    most = max(len(order) // 2, len(close))
    if number == len(_ROUNDS) - 2:
        most = min(most, _LAST)
    kept = [one.candidate for one in order[:most]]
    today = standings[0].candidate
    return [today, *(one for one in kept if one is not today)]


def _ratio(best: float, value: float, use: Use) -> float:
    if not (math.isfinite(best) and math.isfinite(value)) or best <= 0 or value <= 0:
        return math.inf
    return best / value if use.is_better_high else value / best
