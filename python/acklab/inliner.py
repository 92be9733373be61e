"""The path of a scenario between two interfaces of this host."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from acklab import _core, core
from acklab.emulator import idle_processors
from acklab.errors import UsageError
from acklab.files import path_of
from acklab.provenance import Provenance
from acklab.result import Result
from acklab.scenario import Overrides, Source, overrides, with_seed

FILTERS: Mapping[str, Mapping[str, Any]] = {
    "news": {"discipline": "ack-filter", "keeps": "news"},
    "duplicates": {"discipline": "ack-filter", "keeps": "duplicates"},
    "nothing": {"discipline": "ack-filter", "keeps": "nothing"},
    "cake": {"discipline": "cake-ack-filter"},
    "cake-aggressive": {"discipline": "cake-ack-filter", "aggressive": True},
}
"""Queues with an ACK filter, by their names in `acklab inline --ack-filter`."""

THINNERS = ("scsc", "dhd", "unisoc")
"""Thinners (which remove ACKs) with the rules of a driver, by their names in scenarios."""

EAST, WEST = "east", "west"
"""The nodes at the two ends of a `line`."""


def line(
    interfaces: tuple[str, str],
    *,
    rate: str | None = None,
    delay: str | None = None,
    loss: str | None = None,
    queue: str | None = None,
    ack_filter: str | None = None,
    acks_first: bool = False,
    gate: str | None = None,
    thinner: str | None = None,
    spacer: str | None = None,
    seed: int = 1,
) -> dict[str, Any]:
    """Returns the scenario of one link, "line", between two interfaces: "east" and "west".

    Each text is a value for both directions, or two values with a slash between: from the first
    interface to the second, and back, such as "100Mbps/2Mbps". `queue` is the limit of the queue,
    such as "100packets"; `ack_filter` is one of `FILTERS`, or "none"; `gate` releases packets in
    bursts: an interval and a quota of packets, such as "5ms:10"; `thinner` is one of `THINNERS`, a
    number of ACKs and the maximum time to hold one, such as "4:10ms", or "none"; `spacer` is
    "reconstruct", a data rate such as "16Mbps", a time between ACKs such as "1ms", or "none".

    Raises UsageError for three values, for an unknown filter or thinner, and for a filter without a
    rate or a gate, because then no ACK ever waits.
    """
    directions: list[dict[str, Any]] = [{}, {}]
    for name, text in (("rate", rate), ("delay", delay), ("loss", loss)):
        for direction, value in zip(directions, _both(name, text), strict=True):
            if value is not None:
                direction[name] = {"model": "independent", "probability": _share(value)} if name == "loss" else value
    gates, limits, filters = _both("gate", gate), _both("queue", queue), _both("ack-filter", ack_filter)
    thinners, spacers = _both("thinner", thinner), _both("spacer", spacer)
    for direction, interval_and_quota, limit, chosen, held, spaced in zip(
        directions, gates, limits, filters, thinners, spacers, strict=True
    ):
        if interval_and_quota is not None:
            interval, _, quota = interval_and_quota.partition(":")
            if not quota.isdecimal():
                raise UsageError(f"--gate: found {interval_and_quota!r}, expected an interval and a quota such as 5ms:10")
            direction["gate"] = {"interval": interval, "quota": int(quota)}
        if held not in (None, "none"):
            direction["thinner"] = _thinner(held)
        if spaced not in (None, "none"):
            direction["spacer"] = _spacer(spaced)
        discipline = _discipline(chosen, acks_first)
        if discipline["discipline"] != "fifo" and not {"rate", "gate"} & direction.keys():
            what = "--acks-first" if acks_first else "--ack-filter"
            raise UsageError(f"found {what} without --rate or --gate, expected one of them: otherwise no packet waits in a queue")
        if limit is not None:
            discipline["limit"] = limit
        if discipline != {"discipline": "fifo"}:
            direction["queue"] = discipline
    forward, reverse = directions
    return {
        "seed": seed,
        "link": [{"name": "line", "from": EAST, "to": WEST, "forward": forward, "reverse": reverse}],
        "interface": [{"node": node, "device": device} for node, device in zip((EAST, WEST), interfaces, strict=True)],
    }


def _both(name: str, text: str | None) -> tuple[str | None, str | None]:
    """Returns the values of the two directions."""
    if text is None:
        return None, None
    parts = text.split("/")
    if len(parts) > 2 or not all(parts):
        raise UsageError(f"--{name}: found {text!r}, expected one value, or two with a slash between")
    return parts[0], parts[-1]


def _share(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise UsageError(f"--loss: found {text!r}, expected a share such as 0.01") from None


def _thinner(text: str) -> dict[str, Any]:
    if text in THINNERS:
        return {"rule": text}
    acks, _, hold = text.partition(":")
    if not acks.isdecimal() or not hold:
        raise UsageError(
            f"--thinner: found {text!r}, expected one of {', '.join(THINNERS)}, none, or a number of ACKs and a time such as 4:10ms"
        )
    return {"rule": "every", "acks": int(acks), "hold": hold}


def _spacer(text: str) -> dict[str, Any]:
    if text == "reconstruct":
        return {"rule": "reconstruct"}
    if text.endswith("bps"):
        return {"rule": "rate", "rate": text}
    if text.endswith("s"):
        return {"rule": "interval", "interval": text}
    raise UsageError(
        f"--spacer: found {text!r}, expected reconstruct, none, a data rate such as 16Mbps, or a time between ACKs such as 1ms"
    )


def _discipline(chosen: str | None, acks_first: bool) -> dict[str, Any]:
    if chosen in (None, "none"):
        return {"discipline": "acks-first" if acks_first else "fifo"}
    if acks_first:
        raise UsageError("found --acks-first and --ack-filter, expected one of them: a queue has one discipline")
    if chosen not in FILTERS:
        raise UsageError(f"--ack-filter: found {chosen!r}, expected one of {', '.join(FILTERS)}, none")
    return dict(FILTERS[chosen])


def inline(
    scenario: str | Path | Mapping[str, Any] | Source,
    *,
    interfaces: tuple[str, str] | None = None,
    seed: int | None = None,
    set: Overrides = (),
    base: str | Path | None = None,
    captures: str | Path | None = None,
    cancel: core.Cancel | None = None,
    stands: Callable[[str, str, str], None] | None = None,
    watch: Callable[[dict[str, Any]], None] | None = None,
    processors: str = "auto",
    method: str | None = None,
) -> Result:
    """Runs the path of a scenario between two interfaces of this host, and returns its tables.

    The run ends at the end of the scenario or by `cancel`.

    The scenario has two entries `[[interface]]`; `interfaces` replaces their devices. Requires
    root. `stands` is called once the path carries traffic, with descriptions of the forwarder, of
    the source of frames, and of the priority of the thread. `method` is the source of frames:
    "ring" (AF_PACKET with a ring in shared memory), "tap" (a TAP device), or by default the best
    that the system allows. The other arguments are those of `acklab.emulate`.

    In addition to the tables of a simulation, there are `interfaces` (packets that entered, left,
    were lost on or bypassed the path), `inline` and `timing`.

    Raises ScenarioError for a scenario that is refused or has no interfaces, RunError for a missing
    interface or permission.
    """
    processors = idle_processors(processors)
    source = Source.of(scenario, None if base is None else path_of(base, "base"))
    sets = with_seed(overrides(set), seed)
    if interfaces is not None:
        sets = [*sets, *(f"interface.{index}.device={device}" for index, device in enumerate(interfaces))]
    folder = None
    if captures is not None:
        from acklab.atomic import make_folder

        folder = make_folder(path_of(captures, "captures"))
    done = _core.inline(
        source.text,
        source.name,
        sets,
        source.base,
        captures=folder,
        cancel=cancel,
        stands=stands,
        watch=core.parsed(watch),
        processors=processors,
        method=method,
    )
    command = source.command(overrides(set), done.seed, "inline")
    provenance = Provenance(json.loads(done.scenario), done.seed, core.revision(), core.version(), command)
    return Result(core.arrow(done.tables), provenance)
