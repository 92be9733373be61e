"""Advice for a path, from a scenario, a template or a capture."""

import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path as File
from tempfile import TemporaryDirectory
from typing import Any

from acklab import core
from acklab.advice.candidates import candidates
from acklab.advice.paths import Path, members_of, unlimited
from acklab.advice.racing import Racer
from acklab.advice.settle import known_of_fit
from acklab.advice.uses import USES, Use
from acklab.advice.verdicts import Verdict, verdict
from acklab.durations import seconds_of
from acklab.errors import ScenarioError, UsageError
from acklab.fitting.path import DELAYS
from acklab.links import directions
from acklab.scenario import Overrides, Source, overrides
from acklab.sweeps.grid import variations

_CAPTURES = (".pcap", ".pcapng", ".cap", ".sqlog", ".qlog")
_COMPRESSED = (".gz", ".zst")
_SHORTEST, _LONGEST = 2.0, 30.0
"""Minimum and maximum duration of a run in seconds.

The minimum covers several round trips; in the maximum, start-up has little weight. *Chosen*.
"""
_EFFORT = 60.0
"""The default of `seconds`."""
_PACE = 1.5e6
"""Data packets per second that two cores simulate while other processes run; measured (270 runs in
14.8 s).

This constant converts the effort in seconds to a number of packets, so the result does not depend
on the machine.
"""
_RUNS = 90
"""Average number of runs per use, measured on the path of docs/guide/advice.md.

Most uses need only the first round. The winners of the other uses are confirmed in runs of twice
the duration.
"""
_FULL = 1500
"""IP bytes of a full packet."""
_NOMINAL = 3e8
"""Assumed bit/s of a path whose links have no rate, such as that of a Wi-Fi cell. The effort of a
run depends on it; *chosen*.
"""


@dataclass(frozen=True)
class Advice:
    """The answer for a path."""

    link: str
    uses: Mapping[str, Verdict]
    members: int
    """Scenarios over which candidates were compared."""
    duration: float
    """Simulated seconds of a run."""
    runs: int
    """Number of runs for the answer."""
    notes: tuple[str, ...]
    """Remarks of the fit about the capture."""
    took: float
    """Time to compute the answer, in seconds."""

    def to_dict(self) -> dict[str, Any]:
        """Returns the output of `acklab advise --json`."""
        return {
            "link": self.link,
            "scenarios": self.members,
            "duration": self.duration,
            "runs": self.runs,
            "notes": list(self.notes),
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
    seconds: float = _EFFORT,
    jobs: int | None = None,
    watch: Callable[[float], None] | None = None,
) -> Advice:
    """Compares settings and transports over the possible scenarios of a path.

    Recommends a change only if its gain is statistically certain. Compares settings of the
    receiver, the sender and the router.

    `link` is a scenario, a capture, a log in qlog, or the name of a template. The first flow of a
    scenario is the user's. Captures and logs are fitted first. `set` changes the scenario; `vary`
    adds ranges of uncertain values. `uses` are names of `USES`. `seconds` is the effort: the
    approximate time of the calculation on two cores. The answer depends only on the arguments, not
    on the duration of the calculation. Raises ScenarioError, UsageError.
    """
    began = time.monotonic()
    wanted = [_use(name) for name in uses]
    with ExitStack() as stack:
        path, notes = _path(link, stack, overrides(set), vary or {})
        racer = Racer(path, _duration(path.base, seconds / max(len(wanted), 1)), jobs)
        compared = candidates(path.base, path.controllers)
        found: dict[str, Verdict] = {}
        for number, use in enumerate(wanted):
            found[use.name] = verdict(racer, use, compared)
            if watch is not None:
                watch((number + 1) / len(wanted))
    return Advice(path.name, found, len(path.members), racer.duration, racer.runs, notes, time.monotonic() - began)


def _path(
    link: str | File | Mapping[str, Any], stack: ExitStack, changes: list[str], vary: Mapping[str, str]
) -> tuple[Path, tuple[str, ...]]:
    """Returns the path to advise on, and the remarks of the fit about the capture."""
    source, name, notes = _source(link, stack, changes)
    table = _fit_of(source)
    known = known_of_fit(table, changes) if table is not None else None
    # A run with unknown quantities of a fit is refused later.
    changes = changes if table is None else ["fit=", *changes]
    if known is not None and known.blocked is not None:
        # This scenario is not simulated. It has a delay only because a scenario with neither rate
        # nor delay is refused.
        changes = [f"{DELAYS[0]}=1ms", *changes]
    base = source.load(changes)
    if not base.get("flow"):
        raise ScenarioError(f"{name}: flow: found none, expected the flow that is advised")
    given = table.get("member", []) if table is not None else []
    ranges = {} if table is None or given else _ranges(table, changes)
    draws = variations({key: text for key, text in {**ranges, **vary}.items() if not key.startswith("flow.")})
    members = members_of(source, changes, draws, given)
    if known is None:
        return Path(
            members, source.base, name, unlimited(base), dict.fromkeys(unlimited(base), "give the link a rate (--set)"), None, ""
        ), notes
    return Path(members, source.base, name, known.unknown, known.settles, known.blocked, known.settled_by), notes


def _fit_of(source: Source) -> Mapping[str, Any] | None:
    """Returns the table `fit` of a scenario, if it has one."""
    document = source.document()
    table = document.get("fit")
    return table if isinstance(table, Mapping) else None


def _ranges(table: Mapping[str, Any], changes: list[str]) -> dict[str, str]:
    """Returns the intervals of measured quantities, except those that the user sets."""
    given = {change.partition("=")[0].strip() for change in changes}
    found = {}
    for one in table.get("parameter", []):
        low, high = one.get("low"), one.get("high")
        if one["status"] == "measured" and low and high and low != high and one["key"] not in given and "loss" not in one["key"]:
            found[one["key"]] = f"{low}..{high}"
    return found


def _use(name: str) -> Use:
    if name not in USES:
        raise UsageError(f"use: found {name!r}, expected one of {', '.join(USES)}")
    return USES[name]


def _source(link: str | File | Mapping[str, Any], stack: ExitStack, changes: list[str]) -> tuple[Source, str, tuple[str, ...]]:
    """Returns the scenario, its name, and the remarks of the fit about the capture.

    The fit uses the quantities of the path that the changes set. Temporary files of the scenario
    are removed when `stack` closes.
    """
    if isinstance(link, Mapping):
        return Source.of(link), "the scenario", ()
    path = File(link)
    suffixes = [suffix.lower() for suffix in path.suffixes if suffix.lower() not in _COMPRESSED]
    if suffixes and suffixes[-1] in _CAPTURES:
        from acklab.fitting import fit

        fitted = fit(path, set=changes)
        return Source(fitted.toml, f"{path.name}.toml", path.parent), path.name, tuple(fitted.notes[1:])
    if not path.exists() and path.suffix == "":
        from acklab.templates import new, templates

        if str(link) not in templates():
            raise UsageError(f"found no file and no template {str(link)!r}, expected a file or one of: {', '.join(templates())}")
        folder = File(stack.enter_context(TemporaryDirectory()))
        scenario, *_ = new(str(link), folder / f"{link}.toml")
        return Source.of(scenario), str(link), ()
    return Source.of(link), path.name, ()


def _duration(base: Mapping[str, Any], seconds: float) -> float:
    """Returns the seconds of a run.

    This is the duration of the scenario, within bounds, unless the effort per use requires a
    shorter one.
    """
    whole = seconds_of(base["duration"])
    rates = [one.capacity for one in directions(base) if one.is_narrow]
    packets = (sum(rates) if rates else _NOMINAL) / (8 * _FULL)
    affordable = seconds * _PACE / packets / _RUNS
    return round(min(max(min(whole, affordable), _SHORTEST), _LONGEST), 3)
