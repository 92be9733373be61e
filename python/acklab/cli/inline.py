"""`acklab inline`."""

import json
from pathlib import Path
from typing import Any

from acklab import core
from acklab.cli.emulate import watched
from acklab.cli.run import finite, show
from acklab.cli.signals import stopped_by_signals
from acklab.errors import UsageError
from acklab.inliner import inline, line
from acklab.scenario import Source
from acklab.terminal import err, notify


def inline_command(
    words: list[str],
    flags: dict[str, Any],
    sets: list[str],
    seed: int | None,
    duration: str | None,
    folder: Path | None,
    captures: list[str],
    interval: int | None,
    as_json: bool,
    page: bool,
    port: int,
    processors: str,
    method: str | None,
) -> None:
    """Runs a path between two interfaces until it is stopped, and shows its tables."""
    source, interfaces = _source(words, flags)
    if folder is not None:
        from acklab.contents import Contents, refuse_others
        from acklab.places import LocalPlace

        refuse_others(LocalPlace(folder), Contents.EMULATION)
    if duration is not None:
        sets = [*sets, f"duration={duration}"]
    if captures:
        points = [capture.partition("=") for capture in captures]
        entries = [{"point": point, "file": file or f"{point}.pcapng"} for point, _, file in points]
        sets = [*sets, f"capture={_toml(entries)}"]
    cancel = core.Cancel()

    def stands(forwarding: str, how: str, priority: str) -> None:
        notify(f"running between the interfaces: {forwarding}; frames by {how}; {priority} priority; stop with Ctrl-C")

    with stopped_by_signals(cancel), watched(source.name, page, port, as_json or interval is not None) as watch:
        lines = None if interval is None else Intervals(interval, as_json)

        def both(sample: dict[str, Any]) -> None:
            for shown in (watch, lines):
                if shown is not None:
                    shown(sample)

        result = inline(
            source,
            interfaces=interfaces,
            seed=seed,
            set=sets,
            captures=folder or Path(),
            cancel=cancel,
            stands=stands,
            watch=both if watch or lines else None,
            processors=processors,
            method=method,
        )
    if as_json:
        print(json.dumps(finite(result.to_dict()), allow_nan=False))
    else:
        show(result)
    if folder is not None:
        result.save(folder)
        err.print(f"kept in {folder}", highlight=False, soft_wrap=True)


def _source(words: list[str], flags: dict[str, Any]) -> tuple[Source, tuple[str, str] | None]:
    """Returns the scenario, and the interfaces if the command line overrides those of the file.

    The words are EAST WEST, FILE, or FILE EAST WEST.
    """
    given = {f"--{name.replace('_', '-')}" for name, value in flags.items() if value not in (None, False)}
    match words:
        case [east, west]:
            return Source.of(line((east, west), **flags)), None
        case [_] | [_, _, _] if given:
            raise UsageError(
                f"found a scenario and {', '.join(sorted(given))}, expected one of them; --set changes a value of the scenario"
            )
        case [file]:
            return Source.of(Path(file)), None
        case [file, east, west]:
            return Source.of(Path(file)), (east, west)
    raise UsageError(f"found {len(words)} words, expected two interfaces, a scenario, or a scenario and two interfaces")


def _toml(entries: list[dict[str, str]]) -> str:
    return (
        "["
        + ", ".join("{" + ", ".join(f"{key} = {json.dumps(value)}" for key, value in entry.items()) + "}" for entry in entries)
        + "]"
    )


class Intervals:
    """Function object that prints a line for each interval, as JSON or as text."""

    def __init__(self, seconds: int, as_json: bool) -> None:
        """Prints a line per `seconds` samples."""
        self._seconds, self._as_json = seconds, as_json
        self._samples: list[dict[str, Any]] = []

    def __call__(self, sample: dict[str, Any]) -> None:
        """Adds a sample, and prints a line if the interval is complete."""
        self._samples.append(sample)
        if len(self._samples) < self._seconds:
            return
        sample = _merged(self._samples)
        self._samples = []
        if self._as_json:
            print(json.dumps(sample), flush=True)
            return
        links = "; ".join(
            f"{link['link']} {link['rate']:.2f} Mbps, queue {link['queue']}, {link['drops']} dropped, {link['filtered']} filtered"
            for link in sample["links"]
        )
        print(f"{sample['time']:.0f} s  {links}", flush=True)


def _merged(samples: list[dict[str, Any]]) -> dict[str, Any]:
    """Merges the samples of an interval: mean rates, summed counts, current queues."""
    last = samples[-1]
    links = []
    for index, link in enumerate(last["links"]):
        parts = [sample["links"][index] for sample in samples]
        total = {name: sum(part[name] for part in parts) for name in ("rate", "drops", "filtered")}
        links.append({**link, **total, "rate": total["rate"] / len(parts)})
    return {"time": last["time"], "interval": len(samples), "links": links, "cells": last["cells"], "lateness": last["lateness"]}
