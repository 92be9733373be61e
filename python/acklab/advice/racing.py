"""Racing: all candidates with one seed, the better half with two, and so on, until the time is over or the best are told apart.

This is successive halving (Jamieson and Talwalkar, AISTATS 2016), by seeds: a run that is cut short tells the start of a flow, which ranks candidates otherwise than the rest. All candidates of a
round have the same seeds, so that what they differ by is not chance.
"""

import math
import os
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass, replace
from typing import Any

from acklab import core
from acklab.advice.candidates import TODAY, Candidate
from acklab.advice.uses import Use
from acklab.errors import Cancelled, RunError, ScenarioError
from acklab.runner import run
from acklab.scenario import Source
from acklab.statistics import ratio_interval
from acklab.sweeps.grid import Variation

_SEEDS = (1, 2, 3, 6, 12, 24, 48)
"""Seeds of each round."""
_HALVINGS = 2
"""Rounds after which candidates are left out by their rank; later ones leave out those that are certainly worse."""
_CLOSE = 1.10
"""Candidates this close to the best stay, whatever their place."""
_LAST = 6
"""Candidates that are run with three seeds at most."""
EQUAL = 0.02
"""What is this close to the best is as good."""
_FIRST = 0.4
"""Of the time for the first round, in which runs are cut short if all of them would take longer, ..."""
_SHORTEST = 0.2
"""... but not below this share of their duration."""
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
    share: float
    """Of the duration of its runs."""
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
    """Runs on some threads: the core holds no lock of the interpreter while it runs. No run is made twice.

    What is not over in time is stopped. Instants are those of `time.monotonic`.
    """

    def __init__(self, path: Path, jobs: int | None = None) -> None:
        self.path = path
        self.jobs = jobs or os.cpu_count() or 1
        self.pool = ThreadPoolExecutor(self.jobs)
        self._done: dict[tuple[str, str, float, int], float | None] = {}

    def with_base(self, base: Mapping[str, Any]) -> "Racer":
        """One for another scenario, on the same threads."""
        other = copy(self)
        other.path, other._done = replace(self.path, base=base), {}
        return other

    def scores(
        self, use: Use, candidates: Sequence[Candidate], duration: float, seeds: Sequence[int], until: float = math.inf
    ) -> dict[str, dict[int, float | None]]:
        """The scores of candidates, by name and seed, of the runs that are over by the instant `until`. The first seed of all candidates comes first."""
        jobs = [(candidate, seed) for seed in seeds for candidate in candidates]
        scores: dict[str, dict[int, float | None]] = {candidate.name: {} for candidate in candidates}
        with _cancelled_at(until) as cancel:
            for (candidate, seed), run in zip(
                jobs, self.pool.map(lambda job: self._once(use, job[0], duration, job[1], cancel), jobs), strict=True
            ):
                if run is not None:
                    scores[candidate.name][seed] = run.score
        return scores

    def missing(self, use: Use, candidate: Candidate, duration: float, seeds: Sequence[int]) -> int:
        """Runs of a candidate that are still to be made."""
        return sum((use.name, candidate.name, duration, seed) not in self._done for seed in seeds)

    def _once(self, use: Use, candidate: Candidate, duration: float, seed: int, cancel: core.Cancel) -> "_Run | None":
        """Returns `None` if the time ended it."""
        key = (use.name, candidate.name, duration, seed)
        if key not in self._done:
            if cancel.cancelled:
                return None
            try:
                self._done[key] = self._score(use, candidate, duration, seed, cancel)
            except Cancelled:
                return None
        return _Run(self._done[key])

    def _score(self, use: Use, candidate: Candidate, duration: float, seed: int, cancel: core.Cancel) -> float | None:
        for seconds in use.seconds or (duration,):
            source = Source.of(self.path.scenario(use, candidate, seconds), self.path.folder)
            try:
                score = use.score(run(source, set=self.path.overrides(seed), cancel=cancel))
            except (ScenarioError, RunError):
                if candidate.name == TODAY:
                    raise
                # A transport that the path cannot carry, such as QUIC through a proxy for TCP, is no choice.
                return None
            if score is not None:
                return score
        return None


@dataclass(frozen=True)
class _Run:
    """A run that was not stopped."""

    score: float | None


@contextmanager
def _cancelled_at(instant: float) -> Iterator[core.Cancel]:
    """A token that is cancelled at an instant."""
    cancel = core.Cancel()
    if math.isinf(instant):
        yield cancel
        return
    timer = threading.Timer(max(instant - time.monotonic(), 0.0), cancel.cancel)
    timer.daemon = True
    timer.start()
    try:
        yield cancel
    finally:
        timer.cancel()


def race(
    racer: Racer,
    use: Use,
    candidates: Sequence[Candidate],
    until: float,
    watch: Callable[[], None] | None = None,
) -> list[Standing]:
    """The standings of all candidates, the best first. `until` is the instant of `time.monotonic` at which an answer is wanted.

    A round has as many candidates as the time allows, judged by what runs have taken so far, but one besides that of today. There are rounds until it is known which
    candidates are as good as the best. A round that the time ends counts with the seeds that all of its candidates ran with.
    """
    alive = list(candidates)
    standings = {one.name: Standing(one, 0, 1.0, {}) for one in alive}
    first = _first_share(racer, use, alive, until)
    pace: float | None = None
    for number, count in enumerate(_SEEDS):
        share = first if number == 0 else 1.0
        duration, seeds = share * racer.path.duration, range(1, count + 1)
        if pace is not None:
            wanted = max(racer.missing(use, one, duration, seeds) for one in alive)
            affordable = int((until - time.monotonic()) / (pace * wanted)) if pace * wanted > 0 else len(alive)
            if affordable < 2:
                break
            alive = alive[:affordable]
        start, runs = time.monotonic(), sum(racer.missing(use, one, duration, seeds) for one in alive)
        scores = racer.scores(use, alive, duration, seeds, until)
        if number == 0:
            # There is no round before it whose standings would do.
            alive = [one for one in alive if scores[one.name]]
        common = [seed for seed in seeds if all(seed in scores[one.name] for one in alive)]
        is_over = len(common) < count
        if (number == 0 and candidates[0] not in alive) or (is_over and len(common) <= _SEEDS[number - 1]):
            break
        # Runs cost as their simulated time does.
        pace = (time.monotonic() - start) / (max(runs, 1) * share)
        standings |= {one.name: Standing(one, number, share, {seed: scores[one.name][seed] for seed in common}) for one in alive}
        if watch is not None:
            watch()
        if is_over:
            break
        ranked = [standings[one.name] for one in alive]
        alive = _better_half(use, ranked, number) if number < _HALVINGS else _undecided(use, ranked)
        if len(alive) < 2:
            break
    return better_first(use, list(standings.values()))


def _first_share(racer: Racer, use: Use, candidates: Sequence[Candidate], until: float) -> float:
    """The share of the duration that all candidates can run in the first round, by the time that a run of the first takes."""
    if use.seconds:
        return 1.0
    start = time.monotonic()
    time_of_round = _FIRST * (until - start)
    # One that takes as long as all of them may is stopped.
    racer.scores(use, candidates[:1], racer.path.duration, [1], start + time_of_round)
    took = time.monotonic() - start
    whole = took * (len(candidates) - 1) / racer.jobs
    share = time_of_round / whole if whole > 0 else 1.0
    return 1.0 if share >= 1.0 else max(share, _SHORTEST)


def _better_half(use: Use, standings: Sequence[Standing], number: int) -> list[Candidate]:
    """The better half, all that are close to the best, and the candidate of today, which the others are compared with."""
    order = better_first(use, standings)
    best = order[0].mean(use)
    close = [one for one in order if _ratio(best, one.mean(use), use) < _CLOSE]
    most = max(len(order) // 2, len(close))
    if number == _HALVINGS - 1:
        most = min(most, _LAST)
    return _with_today(standings, order[:most])


def _undecided(use: Use, standings: Sequence[Standing]) -> list[Candidate]:
    """Those that may be as good as the best, and the candidate of today; none if it is certain which are."""
    order = better_first(use, standings)
    if not math.isfinite(order[0].mean(use)):
        return []
    seeds = list(order[0].scores)
    intervals = {one.candidate.name: _behind(use, order[0], one, seeds) for one in order[1:]}
    most = 1 + EQUAL
    if not any(low <= most < high for low, high in intervals.values()):
        return []
    kept = [one for one in order if one is order[0] or intervals[one.candidate.name][0] <= most]
    return _with_today(standings, kept)


def _behind(use: Use, best: Standing, other: Standing, seeds: Sequence[int]) -> tuple[float, float]:
    """The interval of the best score / that of another, or the inverse for times; endless if the other did not always reach its end."""
    if not math.isfinite(other.mean(use)):
        return math.inf, math.inf
    ours, theirs = ([one.scores[seed] for seed in seeds] for one in (best, other))
    found = ratio_interval(ours, theirs) if use.is_better_high else ratio_interval(theirs, ours)
    return found.low, found.high


def _with_today(standings: Sequence[Standing], kept: Sequence[Standing]) -> list[Candidate]:
    today = standings[0].candidate
    return [today, *(one.candidate for one in kept if one.candidate is not today)]


def _ratio(best: float, value: float, use: Use) -> float:
    if not (math.isfinite(best) and math.isfinite(value)) or best <= 0 or value <= 0:
        return math.inf
    return best / value if use.is_better_high else value / best
