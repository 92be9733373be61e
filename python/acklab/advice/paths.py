"""The advised path: its possible scenarios, and its known directions."""

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from pathlib import Path as File
from typing import Any

from acklab.advice.candidates import Candidate
from acklab.advice.uses import BACK, FORWARD, Use
from acklab.durations import seconds_of
from acklab.links import bits, link_path
from acklab.scenario import Source
from acklab.sweeps.grid import Variation

MEMBERS = 20
"""Number of scenarios of a path. Each scenario has a different seed.

The gain over one more path of the same kind is below 20 gains with a probability of 1/21 (Wilks,
Annals of Mathematical Statistics 12, 1941), so the lowest of the 20 is the lower end of an interval
of 95 %.
"""
_SPREAD = "0ms..20ms"
"""Range of the start time of the advised flow.

With each seed, the flow meets other flows and gates (which release packets in bursts) at another
phase. *Chosen*.
"""


@dataclass(frozen=True)
class Member:
    """A possible scenario of the path."""

    base: Mapping[str, Any]
    """The complete scenario; its first flow is the user's."""
    seed: int


@dataclass(frozen=True)
class Path:
    """The possible scenarios of a path."""

    members: tuple[Member, ...]
    folder: File
    """The folder of trace files."""
    name: str
    unknown: Mapping[str, str]
    """Reasons for unknown rates, by direction."""
    settles: Mapping[str, str]
    """The captures that would show the unknown rates, by direction."""
    blocked: str | None
    """Reason why no advice is possible; None if advice is possible."""
    settled_by: str
    """The capture that would make advice possible."""

    @property
    def base(self) -> Mapping[str, Any]:
        """Returns the scenario of the first member."""
        return self.members[0].base

    @property
    def controllers(self) -> Set[str]:
        """Returns the controllers that the sender may have."""
        found = ((one.base["flow"][0]["transport"].get("congestion") or {}).get("algorithm") for one in self.members)
        return {name for name in found if name is not None}

    def scenario(self, member: Member, use: Use, candidate: Candidate, seconds: float) -> dict[str, Any]:
        """Returns the scenario of a run."""
        left_out = ("capture", "measure", "title", "fit")
        document = {key: value for key, value in member.base.items() if key not in left_out}
        flows = use.flows(member.base, candidate)
        # Flows that start after the end of the run are removed.
        document |= {
            "duration": f"{seconds:.3f}s",
            "flow": [one for one in flows if seconds_of(one.get("start", "0s")) < seconds],
        }
        if candidate.queues:
            document["link"] = [_with_queues(link, candidate.queues) for link in document.get("link") or []]
        return document


def _with_queues(link: Mapping[str, Any], queues: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    changed = dict(link)
    for direction in ("forward", "reverse"):
        queue = queues.get(f"{link['name']}_{direction}")
        if queue is not None:
            changed[direction] = dict(link[direction]) | {"queue": dict(queue)}
    return changed


def start_of(seed: int) -> str:
    """Returns the start of the advised flow for a seed."""
    return Variation.parse("flow.advised.start", _SPREAD).draw(seed)


def members_of(
    source: Source, changes: Sequence[str], vary: Sequence[Variation], given: Sequence[Mapping[str, Any]]
) -> tuple[Member, ...]:
    """Returns the members of an ensemble.

    Either the members of a fit, or copies of a scenario with uncertain values drawn for each seed.
    """
    if given:
        return tuple(Member(source.load([*one["set"], *changes]), int(one["seed"])) for one in given[:MEMBERS])
    if not vary:
        base = source.load(changes)
        return tuple(Member(base, seed) for seed in range(1, MEMBERS + 1))
    return tuple(
        Member(source.load([*changes, *(f"{one.key}={one.draw(seed)}" for one in vary)]), seed) for seed in range(1, MEMBERS + 1)
    )


def unlimited(base: Mapping[str, Any]) -> dict[str, str]:
    """Returns the directions without a rate limit, because none of their hops has a rate."""
    flow = base["flow"][0]
    found = {}
    for name, start, end in ((FORWARD, flow["from"], flow["to"]), (BACK, flow["to"], flow["from"])):
        hops = link_path(base, start, end)
        limits = ("rate", "steps", "trace")
        has_rate = any(one.settings.get(limit) is not None for one in hops for limit in limits)
        shaped = any(bits(one.queue["rate"]) > 0 for one in hops if "rate" in one.queue)
        if not (has_rate or shaped or base.get("wifi")):
            found[name] = f"no link from {start} to {end} has a rate"
    return found
