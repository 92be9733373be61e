"""Advice for a path, from a scenario, a template or a capture."""

import math
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path as File
from tempfile import TemporaryDirectory
from typing import Any

from acklab import core
from acklab.advice.candidates import TODAY, Candidate, candidates
from acklab.advice.harm import Harm, harm
from acklab.advice.racing import EQUAL, Path, Racer, Standing, race
from acklab.advice.stacks import Stack, switches
from acklab.advice.uses import USES, Use
from acklab.errors import RunError, ScenarioError, UsageError
from acklab.fitting.link import ranges_of
from acklab.scenario import Overrides, Source, overrides
from acklab.statistics import Interval, ratio_interval
from acklab.sweeps.grid import variations

_CAPTURES = (".pcap", ".pcapng", ".cap", ".sqlog", ".qlog")
_SHORTEST, _LONGEST = 4.0, 30.0
"""Seconds of a run in full: start-up must not decide, and a first answer takes a minute."""

_FIT = 0.5
"""Of the time, for the fit of a capture at most."""
_RACE = 0.8
"""Of the time of a use, for the race; the rest is for what the winner costs."""


@dataclass(frozen=True)
class UseAdvice:
    """The answer for one use."""

    use: Use
    standings: tuple[Standing, ...]
    """All candidates, the best first."""
    gain: Interval
    """The score of the best / that of today, or for times today / the best: above 1 is better. A geometric mean over seeds, with its interval."""
    harms: tuple[Harm, ...]
    """What the winner costs."""
    switches: tuple[Stack, ...]
    """How to switch it on."""

    @property
    def winner(self) -> Candidate:
        """The candidate of today if it is as good as the best, and else the best."""
        return self._chosen.candidate

    @property
    def _chosen(self) -> Standing:
        return next((one for one in self._best if one.candidate.name == TODAY), self.standings[0])

    @property
    def _best(self) -> list[Standing]:
        """The best, and what is as good within 2 %."""
        best = self.standings[0]
        value = best.mean(self.use)
        close = [one for one in self.standings[1:] if one.round == best.round and abs(one.mean(self.use) / value - 1) <= EQUAL]
        return [best, *close]

    @property
    def equals(self) -> list[str]:
        """Other candidates that are as good, within 2 %."""
        return [one.candidate.name for one in self._best if one is not self._chosen]

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "use": self.use.name,
            "metric": self.use.title,
            "unit": self.use.unit,
            "winner": self.winner.name,
            "transport": dict(self.winner.transport),
            "queue": None if self.winner.queue is None else dict(self.winner.queue),
            "gain": {"value": self.gain.mean, "low": self.gain.low, "high": self.gain.high, "seeds": self.gain.count},
            "as_good": self.equals,
            "standings": [
                {
                    "candidate": one.candidate.name,
                    "share": one.share,
                    "mean": one.mean(self.use),
                    "scores": list(one.scores.values()),
                }
                for one in self.standings
            ],
            "harms": [one.to_dict() for one in self.harms],
            "switches": [one.to_dict() for one in self.switches],
        }


@dataclass(frozen=True)
class Advice:
    """The answer for a path."""

    link: str
    uses: Mapping[str, UseAdvice]
    vary: Mapping[str, str]
    """What was uncertain."""
    duration: float
    """Simulated seconds of a run in full."""
    took: float
    """Seconds that the answer took."""

    def to_dict(self) -> dict[str, Any]:
        """The output of `acklab advise --json`."""
        return {
            "link": self.link,
            "vary": dict(self.vary),
            "duration": self.duration,
            "took": self.took,
            "revision": core.revision(),
            "uses": [one.to_dict() for one in self.uses.values()],
        }


def advise(
    link: str | File | Mapping[str, Any],
    *,
    set: Overrides = (),
    vary: Mapping[str, str] | None = None,
    uses: Iterable[str] = tuple(USES),
    seconds: float = 60.0,
    jobs: int | None = None,
    watch: Callable[[float], None] | None = None,
) -> Advice:
    """Compares ACK policies, controllers and transports over a path, and says which serves which use best.

    `link` is a scenario, whose first flow is the one that is advised, a capture or a log in qlog, which is fitted first, or the name of a template. `set` changes the
    scenario; `vary` adds ranges of what is uncertain to those in the file. `uses` are of bulk, page, call and upload. The first answer comes within
    `seconds`, and gets better with more. Raises ScenarioError, UsageError.
    """
    began = time.monotonic()
    wanted = [_use(name) for name in uses]
    with ExitStack() as stack:
        return _advise(_source(link, stack, began + _FIT * seconds), set, vary, wanted, began, seconds, jobs, watch)


def _advise(
    link: tuple[Source, str],
    set: Overrides,
    vary: Mapping[str, str] | None,
    wanted: list[Use],
    began: float,
    seconds: float,
    jobs: int | None,
    watch: Callable[[float], None] | None,
) -> Advice:
    source, name = link
    changes = overrides(set)
    base = source.load(changes)
    if not base.get("flow"):
        raise ScenarioError(f"{name}: flow: found none, expected the flow that is advised")
    ranges = {**ranges_of(source.text), **(vary or {})}
    racer = Racer(Path(base, source.base, _kept(ranges), _duration(base)), jobs)
    all_ = candidates(base["flow"][0]["transport"])
    found: dict[str, UseAdvice] = {}
    for number, use in enumerate(wanted):
        # What one leaves of its time goes to the others.
        start = time.monotonic()
        slot = (began + seconds - start) / (len(wanted) - number)
        standings = race(racer, use, all_, start + _RACE * slot)
        found[use.name] = _advice(racer, use, standings, bool(base.get("wifi")), start + slot)
        if watch is not None:
            watch((number + 1) / len(wanted))
    return Advice(name, found, ranges, racer.path.duration, time.monotonic() - began)


def _advice(racer: Racer, use: Use, standings: list[Standing], over_wifi: bool, until: float) -> UseAdvice:
    """The answer of a race, with what it costs by the instant `until`. Raises RunError if not even the candidate of today reached the end."""
    today = next(one for one in standings if one.candidate.name == TODAY)
    best = standings[0]
    if not today.scores:
        raise RunError(
            f"use {use.name}: found no run of the flow as it is that ended in time, expected at least one; more time (--time) or a shorter duration may help"
        )
    if not math.isfinite(best.mean(use)):
        raise RunError(
            f"use {use.name}: found no candidate that reached its end, expected at least one; a longer duration may help"
        )
    common = [seed for seed in best.scores if seed in today.scores] if best.round == today.round else []
    ours, theirs = [best.scores[seed] for seed in common], [today.scores[seed] for seed in common]
    gain = ratio_interval(ours, theirs) if use.is_better_high else ratio_interval(theirs, ours)
    found = UseAdvice(use, tuple(standings), gain, (), ())
    if found.winner.name == TODAY:
        return found
    costs = tuple(harm(racer, best.candidate, today.candidate, until))
    return replace(found, harms=costs, switches=tuple(switches(best.candidate.switches, over_wifi)))


def _use(name: str) -> Use:
    if name not in USES:
        raise UsageError(f"use: found {name!r}, expected one of {', '.join(USES)}")
    return USES[name]


def _source(link: str | File | Mapping[str, Any], stack: ExitStack, until: float) -> tuple[Source, str]:
    """The scenario, and what to call it. Files that it needs last as long as the stack; a fit takes until the instant `until` at most."""
    if isinstance(link, Mapping):
        return Source.of(link), "the scenario"
    path = File(link)
    if path.suffix.lower() in _CAPTURES:
        from acklab.fitting import fit

        return Source(fit(path, until=until).toml, f"{path.name}.toml", path.parent), path.name
    if not path.exists() and path.suffix == "":
        from acklab.templates import new, templates

        if str(link) not in templates():
            raise UsageError(f"found no file and no template {str(link)!r}, expected a file or one of: {', '.join(templates())}")
        folder = File(stack.enter_context(TemporaryDirectory()))
        scenario, *_ = new(str(link), folder / f"{link}.toml")
        return Source.of(scenario), str(link)
    return Source.of(link), path.name


def _duration(base: Mapping[str, Any]) -> float:
    """Seconds of a run in full: those of the scenario, within bounds."""
    given = base["duration"]
    for unit, factor in (("ms", 1e-3), ("us", 1e-6), ("ns", 1e-9), ("min", 60.0), ("s", 1.0)):
        if given.endswith(unit):
            return min(max(float(given.removesuffix(unit)) * factor, _SHORTEST), _LONGEST)
    return _LONGEST


def _kept(ranges: Mapping[str, str]) -> tuple[Any, ...]:
    """The ranges that say something of the path: those of its flows are replaced with the flows."""
    return variations({key: text for key, text in ranges.items() if not key.startswith("flow.")})
